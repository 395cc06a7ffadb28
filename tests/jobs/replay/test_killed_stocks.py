"""Portfolios of stocks in a replay that is killed ten times, or runs twice at once: the ledger is that of one alone."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from predibot.jobs.verify import verify
from predibot.ledger.store import Store
from tests.jobs.replay.killed_accounts import BOTS, KilledStocks
from tests.jobs.tiny import canonical, canonical_at
from tests.ledger.databases import Postgres

DAYS = 26
"""A tenth of a year of trading days."""
KILLS = 5
KILLS_ON_A_SERVER = 2


def test_kills_and_two_at_once_leave_the_accounts_of_an_undisturbed_replay(tmp_path: Path, postgres: Postgres) -> None:
    alone, twice = KilledStocks(tmp_path / "alone", DAYS), KilledStocks(tmp_path / "twice", DAYS)
    killed = KilledStocks(tmp_path / "killed", DAYS)
    on_server = KilledStocks(tmp_path / "server", DAYS, postgres.empty())
    with ThreadPoolExecutor(2) as pool:
        disturbed = [pool.submit(killed.run, 1, KILLS), pool.submit(on_server.run, 2, KILLS_ON_A_SERVER)]
        for each in disturbed:
            each.result()
        both = [twice.start(), twice.start()]
        for process in both:
            process.communicate()
        alone.whole(alone.start())
    twice.program.close()
    assert (killed.kills, on_server.kills) == (KILLS, KILLS_ON_A_SERVER)
    assert alone.decisions == BOTS * DAYS
    expected = canonical_at(alone.ledger)
    assert '"dividend"' in expected
    for each in (killed, on_server, twice):
        with Store.open_to_read(each.ledger) as store:
            assert canonical(store) == expected
            assert verify(store).broken == ()
