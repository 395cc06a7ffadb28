"""The service as a user runs it: processes that are ended, killed and taken over, and what their rows say."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import chdir
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from predibot.jobs.schedule.scheduled_recipe import ServiceLock
from predibot.jobs.schedule.service import STOPPED, Child
from predibot.ledger.schema.tables import SlotRow
from predibot.ledger.store import Store
from predibot.ledger.write.slots import add_schedule, change_schedule, read_service, read_slots
from tests.acceptance.conftest import Said, said_here
from tests.jobs.program import PATIENCE_SECONDS, SLOW, Program, wait_until
from tests.ledger.statements import found
from tests.plain_words import private_words

RECIPE = """
venue = "sandbox:events=20"
[schedule]
cron = "*/30 * * * *"
[selection]
events = 5
[[bots]]
strategy = "{strategy}"
"""
BETWEEN = timedelta(minutes=30)
"""Two slots, so that however busy the machine is none is too old."""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    # What hosts say matters to nothing here.
    nowhere = {"PREDIBOT_GAMMA_URL": "http://127.0.0.1:9", "PREDIBOT_CLOB_URL": "http://127.0.0.1:9"}
    program = Program(tmp_path, nowhere)
    program.strategy("slow", SLOW)
    (tmp_path / "runs").mkdir()
    write(program, "quick")
    yield program
    program.close()


def write(program: Program, name: str, strategy: str = "market_price", **bot: object) -> None:
    """Write a recipe that is played every half an hour."""
    lines = [f"{key} = {value}" for key, value in bot.items()]
    recipe = RECIPE.format(strategy=strategy) + "\n".join(lines)
    (program.folder / "runs" / f"{name}.toml").write_text(recipe, encoding="utf-8")


def slots_due(program: Program, name: str, count: int = 1) -> None:
    """Make the ledger know the schedule of a recipe for so long that so many of its slots are due."""
    now = datetime.now(UTC)
    with Store.open(program.ledger) as store:
        store.run_write(partial(add_schedule, recipe=name, argument=name, now=now))
        store.run_write(partial(change_schedule, recipe=name, since=now - count * BETWEEN))


def rows(program: Program, name: str) -> tuple[SlotRow, ...]:
    with Store.open_to_read(program.ledger) as store:
        return store.run_read(partial(read_slots, recipe=name))


def is_at(program: Program, name: str, status: str) -> Callable[[], bool]:
    """Return whether a slot has a status by now; one that is played has begun to decide."""

    def is_so() -> bool:
        has_begun = status != "running" or program.count("tasks WHERE status = 'claimed'")
        return bool(has_begun) and any(row.status == status for row in rows(program, name))

    return is_so


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    return process.returncode, out + err


def schedule(program: Program, *arguments: str) -> "subprocess.Popen[str]":
    return program.start("schedule", *arguments, "--ledger", program.ledger)


def test_once_plays_what_is_due_and_says_what_came_of_it(program: Program) -> None:
    slots_due(program, "quick", 2)
    code, said = ended(schedule(program, "quick", "--once"))
    assert code == 0, said
    assert {row.status for row in rows(program, "quick")} == {"done"}
    played = [f"{row.run_key}" for row in rows(program, "quick")]
    assert played == ["quick@2026-01-05T00:00Z", "quick@2026-01-06T00:00Z", "quick@2026-01-07T00:00Z"][: len(played)]
    assert len(played) >= 2 and "quick: it is 2026-01-06T12:00Z in the simulated world" in said
    assert private_words(said) == []
    assert "quick: the run of " in said
    (found,) = said_here("status", "--json", "--ledger", program.ledger).document["schedules"]
    assert found["slots"]["done"] == len(rows(program, "quick"))
    assert found["evaluated_at"] is not None


def test_the_end_waits_for_what_is_under_way(program: Program) -> None:
    write(program, "slow", "slow", seconds=0.5)
    slots_due(program, "slow")
    service = schedule(program, "slow")
    wait_until(is_at(program, "slow", "running"))
    service.send_signal(signal.SIGTERM)
    code, said = ended(service)
    assert (code, rows(program, "slow")[0].status) == (0, "done"), said
    with Store.open_to_read(program.ledger) as store:
        assert store.run_read(read_service) is None


def test_what_does_not_end_within_the_grace_is_given_back_and_goes_on_with_the_next_start(program: Program) -> None:
    write(program, "slow", "slow", seconds=30)
    slots_due(program, "slow")
    service = schedule(program, "slow", "--grace", "0")
    wait_until(is_at(program, "slow", "running"))
    service.send_signal(signal.SIGTERM)
    code, said = ended(service)
    (row,) = rows(program, "slow")
    assert (code, row.status, row.reason) == (0, "failed", "stopped while it was played"), said
    assert program.count("tasks WHERE status = 'claimed'") == 0
    # It is quicker now, and the same bot.
    program.strategy("slow", SLOW.replace("time.sleep(self.seconds)", ""))
    code, said = ended(schedule(program, "run-now", "slow", "--slot", row.slot_at.isoformat()))
    assert (code, rows(program, "slow")[0].status) == (0, "done"), said
    assert found(program.ledger, "SELECT count(*), count(DISTINCT task_id) FROM decisions") == [(5, 5)]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody can tell that an owner is gone")
def test_the_next_service_takes_over_from_a_dead_one_and_says_so(program: Program) -> None:
    write(program, "slow", "slow", seconds=1)
    slots_due(program, "slow")
    first = schedule(program, "slow")
    wait_until(is_at(program, "slow", "running"))
    first.kill()
    first.wait()
    code, said = ended(schedule(program, "slow", "--once"))
    assert "took over the schedule from" in said
    assert (code, rows(program, "slow")[0].status) == (0, "done"), said
    made = 5 * len(rows(program, "slow"))
    assert found(program.ledger, "SELECT count(*), count(DISTINCT task_id) FROM decisions") == [(made, made)]


def test_one_service_runs_a_ledger_and_cron_leaves_it_alone(program: Program) -> None:
    service = schedule(program, "quick", "--monitor", "0")
    assert service.stderr is not None
    said = [service.stderr.readline() for _ in range(2)]
    address = next(line for line in said if "monitoring" in line).split()[1]
    wait_until(lambda: Path(program.folder / "ledger.db").exists())
    wait_until(lambda: any("next:" in line for line in iter(service.stderr.readline, "")))
    assert ended(schedule(program, "quick", "--once"))[0] == 0
    code, said_of_other = ended(schedule(program, "quick"))
    assert (code, "already. Stop that process first" in said_of_other) == (1, True)
    with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as reply:
        found = json.loads(reply.read())
    assert (found["service"]["alive"], found["problems"]) == (True, [])
    with urllib.request.urlopen(address.replace("/health", "/metrics"), timeout=PATIENCE_SECONDS) as reply:
        assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert "predibot_service_alive 1.0\n" in reply.read().decode()
    service.send_signal(signal.SIGTERM)
    assert ended(service)[0] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody can tell that an owner is gone")
def test_a_living_service_keeps_its_ledger_whatever_the_clock_says(program: Program) -> None:
    service = schedule(program, "quick")
    assert service.stderr is not None
    wait_until(lambda: any("next:" in line for line in iter(service.stderr.readline, "")))
    with Store.open(program.ledger) as store:
        # The machine slept, and no sign of life was given meanwhile.
        later = ServiceLock(store, lambda: datetime.now(UTC) + timedelta(hours=1))
        assert "/" + str(service.pid) + "/" in str(later.acquire())
    service.send_signal(signal.SIGTERM)
    assert ended(service)[0] == 0


def played_now(program: Program, *more: str) -> Said:
    with chdir(program.folder):
        return said_here("schedule", "run-now", "quick", "--json", *more, "--ledger", program.ledger)


@pytest.mark.parametrize(
    ("slot", "why"),
    [
        ("2126-01-01T00:00Z", "--slot names a minute that has begun"),
        ("2026-01-01T00:00:30Z", "--slot names a minute that has begun"),
        ("0001-01-01", "a ledger holds the years 1970 to 2999, and 0001-01-01T00:00Z is outside; name another."),
    ],
)
def test_a_slot_that_has_not_begun_or_is_none_is_refused(program: Program, slot: str, why: str) -> None:
    said = played_now(program, "--slot", slot)
    assert (said.code, why in said.document["error"]["message"], rows(program, "quick")) == (1, True, ())


def test_a_slot_is_played_now_by_hand_and_then_no_more(program: Program) -> None:
    now = datetime.now(UTC)
    said = played_now(program)
    assert (said.code, said.document["status"], said.document["tries"]) == (0, "done", 1), said.err
    (row,) = rows(program, "quick")
    assert now - BETWEEN <= row.slot_at <= datetime.now(UTC)
    assert played_now(program, "--slot", said.document["slot"]).document["tries"] == 1


@pytest.mark.parametrize(("number", "how"), [(signal.SIGINT, ""), (signal.SIGTERM, STOPPED)])
def test_a_signal_finds_a_process_prepared_though_it_still_loads(
    tmp_path: Path, number: signal.Signals, how: str
) -> None:
    child = Child(int, os.mkdir, str(tmp_path / "made"))
    os.kill(child._process.pid or 0, number)
    wait_until(lambda: child.exit_reason() is not None)
    assert (child.exit_reason(), (tmp_path / "made").exists()) == (how, number is signal.SIGINT)
