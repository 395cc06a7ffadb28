"""Wears a ledger out: a server that restarts, and backups under load, at the size that tests have a tenth of."""

from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot
from tests.jobs.test_ledger_copies import Place, backed_up_under_load, place, predibot
from tests.jobs.test_server_restart import decided_while_restarting
from tests.ledger.databases import Postgres, postgres

__all__ = ["place", "postgres", "predibot"]

pytestmark = pytest.mark.benchmark
BOTS, EVENTS = 60, 16


def test_soak_five_restarts_of_the_server(
    tmp_path: Path, postgres: Postgres, capsys: pytest.CaptureFixture[str]
) -> None:
    found = decided_while_restarting(postgres, tmp_path, bots=BOTS, events=EVENTS, times=5)
    n = BOTS * EVENTS
    with capsys.disabled():
        print(f"\n{n} decisions on 32 threads, PostgreSQL restarted five times: {found.recorded} recorded")
        print(f"  {found.asked} calls by the provider's count, {found.booked} by the ledger's")
    found.require_whole(n, times=5)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_soak_backups_under_full_write_load(
    predibot: Predibot, place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    counts = backed_up_under_load(predibot, place, tmp_path, kind, drawing=60, agents=6, events=12)
    with capsys.disabled():
        print(f"\n{kind}: decisions and runs in each of {len(counts)} backups under load: {counts}")
