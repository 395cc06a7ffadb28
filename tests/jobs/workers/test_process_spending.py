"""What was under way in a process that is gone: booked at its worst case by the process that started it."""

import signal
import subprocess
from typing import Any

import pytest

from tests.agents.chat_server import ChatServer, Said, chat_server, completion, error, hang
from tests.jobs.deciding.test_needs import BY_PROPERTY, GIVEN_UP, HEAD, JUDGED, recipe, served
from tests.jobs.program import PATIENCE_SECONDS, SLOW, Program, document_of, wait_until, workers_of
from tests.jobs.test_killed import claimed
from tests.jobs.workers.test_processes import NO_DASK
from tests.ledger.statements import found

LIMIT = "[limits.run]\nusd = 9"
KNOWN_USD = 0.025
"""What an answer costs: 25 tokens at a tenth of a cent."""
WORST_USD = 0.1 + 0.091
"""What one may cost that is under way: 100 tokens out and a request of 91 bytes."""
ONE_PROCESS = ("--executor", "processes:1")


@pytest.fixture
def endless(program: Program) -> Program:
    """Return the program with a strategy that asks again and again, and one that asks once."""
    program.strategy("endless", HEAD.replace("{name}", "Endless") + GIVEN_UP.replace("{needs}", BY_PROPERTY))
    program.strategy("judged", HEAD.replace("{name}", "Judged") + JUDGED.replace("{needs}", BY_PROPERTY))
    return program


def asks(program: Program, server: ChatServer, strategy: str = "endless", more: str = "") -> str:
    return recipe(program, strategy, served(server, f"price_usd_per_million_tokens = 1000\n{more}"), limits=LIMIT)


def booked(program: Program) -> tuple[float, int, list[tuple[Any, ...]]]:
    """Return what the run has spent in dollars, how much is still set aside, and how each decision ended."""
    (spent,) = found(program.ledger, "SELECT usd FROM spending WHERE account LIKE 'run/%'")
    rows = found(program.ledger, "SELECT status, cost_usd, cost_known_usd FROM decisions")
    return spent / 1e12, program.count("reservations"), rows


@pytest.mark.parametrize("executor", ["processes:1", pytest.param("dask:local:1", marks=NO_DASK)])
def test_a_process_that_is_killed_by_somebody_else_is_booked_for_and_its_decision_costs_nobody_knows_what(
    endless: Program, executor: str
) -> None:
    with chat_server(completion(), Said(act=hang), error(401)) as server:
        process = endless.decide(asks(endless, server), "--events", "1", "--executor", executor)
        wait_until(lambda: len(server.asked) == 2)
        for worker in workers_of(process.pid):
            worker.kill()
        document_of(process, code=4)
        assert len(server.asked) == 3
    spent_usd, reserved, rows = booked(endless)
    assert (spent_usd, reserved) == (pytest.approx(KNOWN_USD + WORST_USD), 0)
    # The second try was refused and cost nothing; of the first one nobody knows.
    assert rows == [("failed", None, 0.0)]


def said(process: "subprocess.Popen[str]", words: str) -> str:
    """Wait until a process says something on its error output, and return that line."""
    assert process.stderr is not None
    heard: list[str] = []
    for line in process.stderr:
        heard.append(line)
        if words in line:
            return line
    raise AssertionError(f"it ended and never said {words!r}, but {''.join(heard)!r}")


def test_what_cannot_be_booked_when_a_process_dies_is_booked_at_the_end_and_the_others_go_on(endless: Program) -> None:
    ledger = endless.folder / "ledger.db"
    with chat_server(completion(), Said(act=hang), error(401)) as server:
        process = endless.decide(asks(endless, server), "--events", "1", *ONE_PROCESS)
        wait_until(lambda: len(server.asked) == 2)
        ledger.rename(endless.folder / "away.db")
        for worker in workers_of(process.pid):
            worker.kill()
        said(process, "could not book what a process that ended had under way")
        (endless.folder / "away.db").rename(ledger)
        document_of(process, code=4)
    assert booked(endless)[:2] == (pytest.approx(KNOWN_USD + WORST_USD), 0)


def test_a_process_that_does_not_find_the_ledger_is_replaced_like_one_that_dies(program: Program) -> None:
    # A write while the ledger is away ends the run, so both threads have claimed, and none is done before it is back.
    waits = "while not Path('back').exists():\n            time.sleep(0.05)"
    program.strategy(
        "slow", "from pathlib import Path\n" + SLOW.partition("\n")[2].replace("time.sleep(self.seconds)", waits)
    )
    ledger = program.folder / "ledger.db"
    process = program.decide("--bots", "slow", *ONE_PROCESS)
    wait_until(lambda: claimed(program) > 1)
    ledger.rename(program.folder / "away.db")
    for worker in workers_of(process.pid):
        worker.kill()
    said(process, "a process ended: there is no ledger at")
    (program.folder / "away.db").rename(ledger)
    (program.folder / "back").touch()
    assert document_of(process)["totals"]["recorded"] == 3


def test_a_process_that_hangs_as_a_whole_is_booked_for_when_it_is_killed(endless: Program) -> None:
    endless.settings = {"PREDIBOT_DECISION_DEADLINE_SECONDS": "6"}
    with chat_server(completion(), Said(act=hang)) as server:
        process = endless.decide(asks(endless, server), "--events", "1", *ONE_PROCESS)
        wait_until(lambda: len(server.asked) == 2)
        for worker in workers_of(process.pid):
            worker.suspend()
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 4, err
        assert len(server.asked) == 2
    assert "gave no answer within 6 s" in out
    spent_usd, reserved, rows = booked(endless)
    assert (spent_usd, reserved) == (pytest.approx(KNOWN_USD + WORST_USD), 0)
    assert rows == [("failed", None, 0.0)]
    assert "$0.191000 booked for them, their worst case" in err


@pytest.mark.parametrize(
    ("executor", "number"),
    [(("--executor", "threads:2"), signal.SIGINT), (("--executor", "processes:2"), signal.SIGTERM)],
)
def test_who_is_interrupted_books_what_was_under_way(
    endless: Program, executor: tuple[str, ...], number: signal.Signals
) -> None:
    with chat_server(completion(), Said(act=hang), completion()) as server:
        path = asks(endless, server)
        process = endless.decide(path, "--events", "1", *executor)
        wait_until(lambda: len(server.asked) == 2)
        process.send_signal(number)
        process.communicate(timeout=PATIENCE_SECONDS)
        assert booked(endless) == (pytest.approx(KNOWN_USD + WORST_USD), 0, [])


def test_who_is_interrupted_books_what_was_under_way_however_much_it_is(endless: Program) -> None:
    levels = "".join(f"[limits.{level}]\nusd = 90\n" for level in ("bot", "run", "day"))
    with chat_server(Said(act=hang)) as server:
        bot = served(server, "price_usd_per_million_tokens = 1000")
        bots = "".join(f'[[bots]]\nname = "b{number}"\nstrategy = "judged"\n{bot}\n' for number in range(16))
        (endless.folder / "r.toml").write_text(levels + bots, encoding="utf-8")
        process = endless.decide("r.toml", "--events", "3", "--executor", "threads:48")
        wait_until(lambda: len(server.asked) == 48)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_SECONDS)
    assert booked(endless) == (pytest.approx(48 * WORST_USD), 0, [])
    for level in ("bot", "day"):
        (usd,) = found(endless.ledger, "SELECT sum(usd) FROM spending WHERE account LIKE :level", level=f"{level}/%")
        assert usd / 1e12 == pytest.approx(48 * WORST_USD)


def test_the_cost_of_a_decision_is_the_sum_over_its_tries(endless: Program) -> None:
    with chat_server(completion(), error(401), completion()) as server:
        path = asks(endless, server, "judged", 'writer = "acme/writer"')
        (before,) = document_of(endless.decide(path, "--events", "1"), code=4)["decisions"]
        (after,) = document_of(endless.decide(path, "--events", "1", "--retry", "failed"))["decisions"]
    assert (before["status"], before["cost_usd"]) == ("failed", pytest.approx(KNOWN_USD))
    assert (after["status"], after["cost_usd"]) == ("recorded", pytest.approx(3 * KNOWN_USD))
    assert booked(endless)[0] == pytest.approx(3 * KNOWN_USD)


def test_a_decision_whose_earlier_try_was_broken_off_costs_nobody_knows_what(endless: Program) -> None:
    with chat_server(Said(act=hang), completion()) as server:
        path = asks(endless, server, "judged")
        process = endless.decide(path, "--events", "1")
        wait_until(lambda: bool(server.asked))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_SECONDS)
        document = document_of(endless.decide(path, "--events", "1"))
    assert document["decisions"][0]["cost_usd"] is None
    assert document["totals"]["cost_known_usd"] == pytest.approx(KNOWN_USD)
