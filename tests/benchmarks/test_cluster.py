"""Measures a Dask cluster: what a second worker brings for work that waits; prints and never judges speed."""

from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from predibot.ledger.store import Store
from tests.jobs.program import SLOW, Program, document_of
from tests.jobs.test_killed import outcomes
from tests.jobs.workers.test_dask import EVENTS, Cluster, wait_until

pytestmark = pytest.mark.benchmark
pytest.importorskip("distributed")

BOTS = 334
WAITING_SECONDS = 0.25
THREADS = 4


def a_program(folder: Path) -> Program:
    """Return the program in a folder of its own, with a strategy that waits."""
    folder.mkdir()
    program = Program(folder)
    program.strategy("slow", SLOW.replace("0.04", str(WAITING_SECONDS)))
    return program


def deciding_seconds(ledger: str) -> float:
    """Return how long a run took from its first claim to its last decision."""
    with Store.open_to_read(ledger) as store, store.read() as connection:
        return (
            float(connection.execute(text("SELECT max(ended_at) - min(started_at) FROM attempts")).scalar_one()) / 1e6
        )


def decided(folder: Path, *, workers: int, kills: int = 0) -> float:
    """Decide a thousand times on so many workers, some of which are killed, and return how long that took."""
    program = a_program(folder)
    with closing(program):
        cluster = Cluster(program)
        for _ in range(workers):
            cluster.worker(threads=THREADS)
        recipe = program.many_bots(BOTS)
        process = program.decide(recipe, *cluster.executor)
        for number in range(kills):
            wait_until(lambda: program.count("decisions") >= 300)
            cluster.workers[number].kill()
        document_of(process)
        assert outcomes(program.ledger).count("recorded") == BOTS * EVENTS
        assert program.count("decisions") == BOTS * EVENTS
        return deciding_seconds(program.ledger)


def test_what_a_second_worker_brings_and_that_one_may_be_killed(tmp_path: Path) -> None:
    one = decided(tmp_path / "one", workers=1)
    two = decided(tmp_path / "two", workers=2)
    killed = decided(tmp_path / "killed", workers=2, kills=1)
    print(
        f"\n{BOTS * EVENTS} decisions that wait {WAITING_SECONDS:g} s each, {THREADS} at once a worker: "
        f"{one:.1f} s with one worker, {two:.1f} s with two ({one / two:.2f} times as fast, aim 1.8), "
        f"{killed:.1f} s where one of two was killed, each decided once"
    )
