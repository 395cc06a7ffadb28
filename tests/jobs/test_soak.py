"""A tenth of the soak: whatever is killed, the ledger is that of an undisturbed run, and no call is forgotten."""

from pathlib import Path

import pytest

from tests.jobs.soak import Soak, provider, undisturbed
from tests.ledger.databases import Postgres

pytest.importorskip("distributed")

KILLS = 3


def test_kills_leave_the_ledger_of_an_undisturbed_run_and_every_call_in_the_books(
    tmp_path: Path, postgres: Postgres
) -> None:
    with provider() as server:
        expected = undisturbed(tmp_path / "undisturbed", server)
        for seed, (executor, ledger) in enumerate(
            [
                ("threads:8", ""),
                ("processes:2", postgres.empty()),
                ("dask:local:2", ""),
                ("dask:local:2", postgres.empty()),
            ]
        ):
            soak, before = Soak(tmp_path / str(seed), server, executor, ledger), server.calls()
            soak.run(seed, KILLS)
            assert soak.kills
            booked, unknown = soak.check(expected, before)
            assert booked > 0 and booked + unknown >= 100
