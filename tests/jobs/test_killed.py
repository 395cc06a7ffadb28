"""Killing: whatever happens to a process, the ledger ends up as if nothing had happened."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sqlalchemy import text

from predibot.ledger.store import Store
from tests.jobs.program import SLOW, Program, document_of, wait_until
from tests.jobs.tiny import canonical_at
from tests.ledger.databases import Postgres

MOMENTS = 8
BOTS = ("--bots", "slow,random_bet,market_price,always_half")
DECISIONS = 12


def a_program(folder: Path) -> Program:
    """Return the program in a folder of its own."""
    folder.mkdir()
    made = Program(folder, {"PREDIBOT_WORKERS": "2"})
    made.strategy("slow", SLOW)
    return made


def killed_after(program: Program, seconds: float) -> tuple[str, float]:
    """Kill a call some seconds after it began its ledger, call again; return the ledger and how long that took."""
    process = program.decide(*BOTS)
    wait_until(lambda: begun(program))
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    began = time.monotonic()
    document = document_of(program.decide(*BOTS))
    assert len(document["decisions"]) == DECISIONS
    return canonical_at(program.ledger), time.monotonic() - began


def begun(program: Program) -> bool:
    """Return whether there is a ledger; before, there is nothing that could be lost."""
    return (program.folder / "ledger.db").exists()


def test_killing_at_any_moment_and_running_again_gives_the_ledger_of_an_undisturbed_run(tmp_path: Path) -> None:
    undisturbed = a_program(tmp_path / "undisturbed")
    process = undisturbed.decide(*BOTS)
    wait_until(lambda: begun(undisturbed))
    began = time.monotonic()
    document_of(process)
    whole = time.monotonic() - began
    expected = canonical_at(undisturbed.ledger)
    moments = [whole * number / MOMENTS for number in range(MOMENTS)]
    programs = [a_program(tmp_path / f"killed-{number}") for number in range(MOMENTS)]
    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(killed_after, programs, moments))
    assert [number for number, (ledger, _) in enumerate(ended) if ledger != expected] == []
    # Leases are of ten minutes here: nobody waited for one of the dead.
    assert max(seconds for _, seconds in ended) < 60


def test_killing_between_claim_and_result_loses_nothing_and_is_on_record(program: Program) -> None:
    program.strategy("slow", SLOW.replace("0.04", "600.0"))
    process = program.decide("--bots", "slow")
    wait_until(lambda: claimed(program) == 2)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    program.strategy("slow", SLOW)
    document = document_of(program.decide("--bots", "slow"))
    assert document["totals"]["recorded"] == 3
    assert outcomes(program.ledger) == ["lost", "lost", "recorded", "recorded", "recorded"]


def claimed(program: Program) -> int:
    """Return how many claims are held in a program's ledger, as far as there is one."""
    if not begun(program):
        return 0
    with Store.open(program.ledger) as store, store.read() as connection:
        statement = text("SELECT count(*) FROM tasks WHERE status = 'claimed'")
        return int(connection.execute(statement).scalar_one())


def outcomes(address: str) -> list[str]:
    """Return how all attempts in a ledger ended, sorted."""
    with Store.open(address) as store, store.read() as connection:
        return sorted(connection.execute(text("SELECT outcome FROM attempts")).scalars())


def test_two_processes_at_once_decide_everything_exactly_once(tmp_path: Path) -> None:
    alone, both = a_program(tmp_path / "alone"), a_program(tmp_path / "both")
    processes = [both.decide(*BOTS), both.decide(*BOTS), alone.decide(*BOTS)]
    first, second, _ = (document_of(process) for process in processes)
    assert outcomes(both.ledger) == ["recorded"] * DECISIONS
    assert first["totals"]["recorded"] + second["totals"]["recorded"] == DECISIONS
    assert first["totals"]["skipped"] + second["totals"]["skipped"] == DECISIONS
    assert canonical_at(both.ledger) == canonical_at(alone.ledger)


def test_three_processes_at_once_on_a_server_decide_everything_exactly_once(
    program: Program, postgres: Postgres
) -> None:
    address = postgres.empty()
    processes = [program.decide(*BOTS, ledger=address) for _ in range(3)]
    documents = [document_of(process) for process in processes]
    assert outcomes(address) == ["recorded"] * DECISIONS
    assert sum(document["totals"]["recorded"] for document in documents) == DECISIONS
    document_of(program.decide(*BOTS))
    assert canonical_at(address) == canonical_at(program.ledger)
