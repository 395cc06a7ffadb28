"""Limits in dollars while many decide at once: never passed, never held up by what nobody spends."""

import json
import re
import signal
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import chain, cycle, repeat
from pathlib import Path
from signal import SIGINT, SIGTERM
from types import MappingProxyType

import pytest

from tests.acceptance.conftest import Predibot, bot_of, forecasts_on
from tests.agents.chat_server import Asked, ChatServer, Said, completion, hang, hang_up, serving
from tests.cli.alone import Ended, predibot_alone
from tests.jobs.program import PATIENCE_SECONDS, Program, passes_over, wait_until
from tests.ledger.statements import found
from tests.soaks import few, one_in

EVENTS, BOTS = 8, 4
DECISIONS = EVENTS * BOTS
WORLD = ("--venue", "sandbox:events=20")
PRICE = "{input = 1.0, output = 8.0}"
TRUE_USD = 0.006
"""What a call costs: 2,000 tokens in, 500 out; its worst case is about $0.045."""


class _Forecaster(ChatServer):
    """Answers every prompt about its own markets, or hangs up, or hangs, as it is told to."""

    faults: Iterator[Said | None] = repeat(None)
    usage: Mapping[str, object] = MappingProxyType({"prompt_tokens": 2_000, "completion_tokens": 500})

    def next(self, asked: Asked) -> Said:
        super().next(asked)
        with self.lock:
            fault = next(self.faults)
        if fault is not None:
            return fault
        return completion(forecasts_on(asked, 0.6), usage=dict(self.usage))


@contextmanager
def forecaster(faults: Iterable[Said | None] = ()) -> Iterator[_Forecaster]:
    with serving(_Forecaster()) as server:
        server.faults = chain(faults, repeat(None))
        yield server


def recipe(folder: Path, server: ChatServer, limits: str, *, bots: int = BOTS, more: str = "") -> str:
    """Write a recipe of bots that ask once, and return its name."""
    texts = [bot_of(server.base_url, more, name=f"bot{number}", price=PRICE) for number in range(bots)]
    (folder / "r.toml").write_text(f"{limits}\n" + "".join(texts), encoding="utf-8")
    return "r.toml"


def decide(folder: Path, name: str, executor: str) -> Ended:
    return predibot_alone(folder, "decide", name, *WORLD, "--events", str(EVENTS), "--executor", executor, "--json")


def ledger_in(folder: Path) -> str:
    return f"sqlite:///{next(folder.rglob('*.db'))}"


def booked_usd(folder: Path) -> float:
    """Return what the run's account holds, settled and set aside."""
    sums = [f"SELECT sum(usd) FROM {table} WHERE account LIKE 'run/%'" for table in ("spending", "reservations")]
    return sum(found(ledger_in(folder), each)[0] or 0 for each in sums) / 1e12


@pytest.mark.parametrize("executor", few(["threads:1", "threads:8", "processes:2"], "threads:8"))
def test_as_many_are_recorded_at_once_as_one_after_the_other(predibot: Predibot, tmp_path: Path, executor: str) -> None:
    with forecaster() as server:
        ended = decide(tmp_path, recipe(tmp_path, server, "[limits.run]\nusd = 0.25"), executor)
        assert len(server.asked) == DECISIONS
    assert ended.document["totals"]["recorded"] == DECISIONS, ended.err
    assert booked_usd(tmp_path) == pytest.approx(DECISIONS * TRUE_USD)


@pytest.mark.parametrize("executor", few(["threads:8", "processes:2"], "threads:8"))
def test_lost_answers_and_their_retries_never_book_more_than_the_limit(
    predibot: Predibot, tmp_path: Path, executor: str
) -> None:
    lost = Said(act=hang_up)
    # Seven of ten, and never so many in a row that nobody asks any more.
    with forecaster(cycle([lost, lost, None, lost, lost, lost, None, lost, lost, None])) as server:
        ended = decide(tmp_path, recipe(tmp_path, server, "[limits.run]\nusd = 0.30"), executor)
    assert booked_usd(tmp_path) <= 0.30
    said = {each["message"] for each in ended.document["decisions"] if each["status"] == "abstained"}
    assert said
    assert all("the run's limit of $0.3 is reached" in each for each in said)
    again = predibot("decide", "--rerun-traces", ended.document["run"]["key"], "--json")
    assert [row for row in again.document["decisions"] if not row["equal"]] == []


def test_lost_answers_are_shown_as_estimates(predibot: Predibot, tmp_path: Path) -> None:
    with forecaster([Said(act=hang_up)]) as server:
        ended = predibot("decide", recipe(tmp_path, server, "", bots=1), *WORLD, "--events", "1", "--json")
    assert ended.document["totals"]["recorded"] == 1
    used = {row["kind"]: row for row in predibot("trace", "--cost", "--json").document["used"]}
    assert (used["all"]["cost_usd"], used["all"]["cost_known_usd"]) == (None, pytest.approx(TRUE_USD))
    assert 0.03 < used["all"]["cost_estimated_usd"] < 0.06
    assert re.search(r"unknown, \$0\.006 of it known, \$0\.0\d\d estimated", predibot("trace", "--cost").out)


@pytest.mark.parametrize("executor", few(["threads:8", "processes:2"], "processes:2"))
def test_what_a_killed_process_had_set_aside_is_free_for_the_next(
    predibot: Predibot, tmp_path: Path, executor: str
) -> None:
    # As many as there are decisions, all of which fit at once: none is answered, and so none is asked a second time.
    with forecaster(repeat(Said(act=hang), EVENTS)) as server, closing(Program(tmp_path)) as program:
        name = recipe(tmp_path, server, "[limits.run]\nusd = 0.33\n[limits.day]\nusd = 0.33", bots=1)
        command = ("decide", name, *WORLD, "--events", str(EVENTS), "--executor", executor, "--json")
        process = program.start(*command)
        wait_until(lambda: len(server.asked) >= EVENTS)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert booked_usd(tmp_path) > 0.2
        ended = decide(tmp_path, name, "threads:8")
    assert ended.document["totals"]["recorded"] == EVENTS, ended.err
    assert booked_usd(tmp_path) == pytest.approx(EVENTS * TRUE_USD)
    assert "a process had set aside is free again" in ended.err


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells which signals a process ignores")
@pytest.mark.parametrize(
    ("executor", "first", "second", "code"),
    one_in(
        3,
        [
            ("threads:8", SIGINT, SIGINT, 130),
            ("threads:8", SIGTERM, SIGTERM, 143),
            ("threads:8", SIGTERM, SIGINT, 143),
            ("processes:2", SIGINT, SIGTERM, 130),
        ],
    ),
)
def test_a_second_signal_while_books_are_made_loses_nothing(
    tmp_path: Path, executor: str, first: signal.Signals, second: signal.Signals, code: int
) -> None:
    with forecaster(repeat(Said(act=hang))) as server, closing(Program(tmp_path)) as program:
        name = recipe(tmp_path, server, "[limits.run]\nusd = 0.30", bots=1)
        process = program.start("decide", name, *WORLD, "--events", "2", "--executor", executor, "--json")
        wait_until(lambda: len(server.asked) >= 2)
        with closing(sqlite3.connect(next(tmp_path.rglob("*.db")), isolation_level=None)) as other:
            # Books are made as soon as nobody else writes to the ledger.
            other.execute("BEGIN IMMEDIATE")
            process.send_signal(first)
            wait_until(lambda: passes_over(process, SIGINT, SIGTERM))
            process.send_signal(second)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, json.loads(out)["exit_code"]) == (code, code), err
    assert "Traceback" not in err
    # The worst case of both calls, settled, and nothing set aside any more.
    assert booked_usd(tmp_path) == pytest.approx(0.077, abs=0.007)
    counts = ("reservations", "tasks WHERE status = 'claimed'", "attempts WHERE outcome = 'interrupted'")
    assert [found(ledger_in(tmp_path), f"SELECT count(*) FROM {each}") for each in counts] == [[0], [0], [2]]


def test_a_model_that_read_more_than_it_was_sent_is_booked_at_what_it_counts_and_not_asked_again(
    predibot: Predibot, tmp_path: Path
) -> None:
    with forecaster() as server:
        # It searches by itself, and its name does not tell.
        server.usage = {"prompt_tokens": 400_000, "completion_tokens": 500}
        ended = decide(tmp_path, recipe(tmp_path, server, "[limits.run]\nusd = 0.30", bots=1), "threads:1")
        assert len(server.asked) == 1
    assert [each["status"] for each in ended.document["decisions"]] == ["recorded"] + ["abstained"] * (EVENTS - 1)
    assert booked_usd(tmp_path) == pytest.approx(0.4 + 0.004)
    used = {row["kind"]: row for row in predibot("trace", "--cost", "--json").document["used"]}
    assert (used["all"]["cost_usd"], used["all"]["cost_estimated_usd"]) == (None, pytest.approx(0.404))


HOSTILE = ({"prompt_tokens": 10**400, "completion_tokens": 2**63}, {"prompt_tokens": 5, "cost": 1e308})


@pytest.mark.parametrize("usage", HOSTILE, ids=["tokens", "dollars"])
@pytest.mark.parametrize("client", few(["light", "litellm"], "light"))
def test_a_hostile_usage_is_booked_at_what_was_set_aside(
    predibot: Predibot, tmp_path: Path, client: str, usage: dict[str, object]
) -> None:
    with forecaster() as server:
        server.usage = {**usage, "details": _nested(500)}
        name = recipe(tmp_path, server, "[limits.run]\nusd = 0.30", bots=1, more=f'client = "{client}"\n')
        ended = predibot("decide", name, *WORLD, "--events", "2", "--json")
    assert {each["status"] for each in ended.document["decisions"]} <= {"recorded", "failed"}
    assert 2 * 0.03 < booked_usd(tmp_path) <= 0.30
    used = {row["kind"]: row for row in predibot("trace", "--cost", "--json").document["used"]}
    assert (used["all"]["cost_usd"], used["all"]["cost_estimated_usd"]) == (None, pytest.approx(booked_usd(tmp_path)))


def _nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = {"a": value}
    return value
