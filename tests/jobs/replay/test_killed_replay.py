"""Killing a replay: whatever happens to a process, the ledger ends up as if nothing had happened."""

import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.jobs.program import SLOW, Program, document_of
from tests.jobs.test_killed import outcomes
from tests.jobs.tiny import canonical_at
from tests.venues.payloads import NOW

MOMENTS = 2
DECISIONS = 3 * 3 * 3


def a_program(folder: Path) -> Program:
    """Return the program in a folder of its own."""
    folder.mkdir()
    made = Program(folder, {"PREDIBOT_WORKERS": "2"})
    made.strategy("slow", SLOW)
    return made


def replaying(program: Program) -> "subprocess.Popen[str]":
    """Start to replay three days."""
    bots = ("--bots", "slow,random_bet,market_price")
    instants = ("--from", NOW.isoformat(), "--to", "2026-02-15T19:30Z", "--every", "1d")
    return program.start("replay", *instants, "--venue", "archive:archive", *bots, "--ledger", program.ledger, "--json")


def killed_after(program: Program, seconds: float) -> str:
    """Kill a replay after some seconds, start it again, and return the ledger."""
    process = replaying(program)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert document_of(replaying(program))["replay"]["totals"]["recorded"] == DECISIONS
    return canonical_at(program.ledger)


def test_killing_at_any_moment_and_running_again_gives_the_ledger_of_an_undisturbed_replay(tmp_path: Path) -> None:
    undisturbed, twice = a_program(tmp_path / "undisturbed"), a_program(tmp_path / "twice")
    began = time.monotonic()
    document_of(replaying(undisturbed))
    whole = time.monotonic() - began
    expected = canonical_at(undisturbed.ledger)
    programs = [a_program(tmp_path / f"killed-{number}") for number in range(MOMENTS)]
    moments = [whole * (number + 1.0) / (MOMENTS + 1) for number in range(MOMENTS)]
    with ThreadPoolExecutor(2) as pool:
        assert [ledger == expected for ledger in pool.map(killed_after, programs, moments)] == [True] * MOMENTS
    both = [replaying(twice), replaying(twice)]
    documents = [document_of(process)["replay"] for process in both]
    assert sum(instant["made_here"] for each in documents for instant in each["instants"]) == DECISIONS
    assert canonical_at(twice.ledger) == expected
    assert outcomes(twice.ledger) == ["recorded"] * DECISIONS
