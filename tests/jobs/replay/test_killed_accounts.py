"""Accounts in a replay that is killed ten times, or runs twice at once: the ledger is that of an undisturbed one."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from predibot.jobs.verify import verify
from predibot.ledger.store import Store
from tests.jobs.replay.killed_accounts import KilledReplay
from tests.jobs.test_killed import outcomes
from tests.jobs.tiny import canonical, canonical_at
from tests.ledger.databases import Postgres

DAYS = 8
KILLS = 5
KILLS_ON_A_SERVER = 2


def test_kills_and_two_at_once_leave_the_accounts_of_an_undisturbed_replay(tmp_path: Path, postgres: Postgres) -> None:
    alone, twice = KilledReplay(tmp_path / "alone", DAYS), KilledReplay(tmp_path / "twice", DAYS)
    killed = KilledReplay(tmp_path / "killed", DAYS)
    on_server = KilledReplay(tmp_path / "server", DAYS, postgres.empty())
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
    expected = canonical_at(alone.ledger)
    assert expected.count('["fills"') > DAYS
    assert "lost" in outcomes(killed.ledger)
    assert outcomes(twice.ledger) == ["recorded"] * alone.decisions
    for each in (killed, on_server, twice):
        with Store.open_to_read(each.ledger) as store:
            assert canonical(store) == expected
            assert verify(store).broken == ()
