"""Soaks: 200 processes and workers killed over many runs, and 16 programs at once; `make soak` runs it for an hour."""

import random
from pathlib import Path

import pytest

from tests.jobs.soak import BOTS, EVENTS, Soak, provider, undisturbed
from tests.jobs.test_killed import outcomes
from tests.ledger.databases import Postgres, postgres

__all__ = ["postgres"]

pytestmark = [pytest.mark.benchmark, pytest.mark.soak]
pytest.importorskip("distributed")

KILLS = 200
A_RUN = 6
EXECUTORS = ("threads:8", "processes:2", "dask:local:2")


def test_two_hundred_kills_on_both_databases(tmp_path: Path, postgres: Postgres) -> None:
    killed = {"main": 0, "worker": 0}
    booked = unknown = runs = 0
    rng = random.Random(20260301)
    with provider() as server:
        expected = undisturbed(tmp_path / "undisturbed", server)
        while sum(killed.values()) < KILLS:
            ledger = postgres.empty() if runs % 2 else ""
            soak = Soak(tmp_path / str(runs), server, EXECUTORS[runs // 2 % len(EXECUTORS)], ledger)
            before = server.calls()
            soak.run(rng.getrandbits(32), min(A_RUN, KILLS - sum(killed.values())))
            known, other = soak.check(expected, before)
            booked, unknown, runs = booked + known, unknown + other, runs + 1
            for each in soak.kills:
                killed[each] += 1
    print(
        f"\n{sum(killed.values())} kills ({killed['main']} of programs, {killed['worker']} of workers) in {runs} runs "
        f"of {BOTS} bots x {EVENTS} events: every export as undisturbed; {booked} calls booked and {unknown} of "
        "decisions stored with unknown cost are all that the provider saw"
    )


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_sixteen_programs_at_once_decide_exactly_once(tmp_path: Path, database: str, postgres: Postgres) -> None:
    with provider() as server:
        ledger = postgres.empty() if database == "postgresql" else ""
        expected = undisturbed(tmp_path / "undisturbed", server)
        before = server.calls()
        soak = Soak(tmp_path / "at-once", server, "threads:4", ledger)
        processes = [soak.decide() for _ in range(16)]
        for process in processes:
            _, err = process.communicate(timeout=600)
            assert process.returncode == 0, err
        booked, unknown = soak.check(expected, before)
        assert (booked, unknown) == (BOTS * EVENTS, 0)
        assert outcomes(soak.ledger) == ["recorded"] * BOTS * EVENTS
        print(f"\n16 programs at once on {database}: {booked} decisions, each asked for, paid and recorded once")
