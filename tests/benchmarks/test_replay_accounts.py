"""Replays of accounts: 27 recorded weeks measured; days of portfolios and weeks of cohorts killed and twice at once."""

import json
import os
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import pytest

from predibot.jobs.verify import verify
from predibot.ledger.read.export import export_rows
from predibot.ledger.store import Store
from tests.benchmarks.memory import used_by
from tests.benchmarks.random_kills import killed_at_random
from tests.jobs.games import Game, Played, cohorts, portfolios, stocks
from tests.jobs.replay.simulated_stocks import beside_the_index
from tests.jobs.tiny import canonical, canonical_at
from tests.ledger.databases import Postgres, postgres

__all__ = ["postgres"]

pytestmark = pytest.mark.benchmark

DAYS, WEEKS, RACED_WEEKS, KILLS = 120, 20, 4, 10
STOCK_DAYS = 252
WEEKLY = """
venue = "archive:{folder}"
every = "7d"
[game]
name = "portfolio_weights"
[selection]
min_volume_24h_usd = 0
[[bots]]
strategy = "all_cash"
[[bots]]
strategy = "equal_weights"
[[bots]]
strategy = "buy_and_hold"
[[bots]]
strategy = "market_favourite"
[[bots]]
strategy = "random_weights"
"""
SPAN = ("--from", "2025-09-01T12:00Z", "--to", "2026-03-02T12:00Z", "--every", "7d")


def test_recorded_weeks_are_replayed(tmp_path: Path, shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "weekly.toml").write_text(WEEKLY.format(folder=shared_data / "polymarket-daily"))
    address = f"sqlite:///{tmp_path}/weekly.db"
    asked = ("replay", "weekly.toml", *SPAN, "--ledger", address, "--json")
    first = used_by(*asked, folder=tmp_path, said=tmp_path / "said.json")
    document = json.loads((tmp_path / "said.json").read_text())
    before = canonical_at(address)
    again = used_by(*asked, folder=tmp_path)
    with Store.open_to_read(address) as store:
        assert canonical(store) == before
        assert verify(store).broken == ()
        with store.read() as connection:
            kinds = Counter(row["kind"] for row in export_rows(connection, "journal"))
            states = Counter(row["state"] for row in export_rows(connection, "marks"))
            orders = Counter(row["status"] for row in export_rows(connection, "orders"))
    with capsys.disabled():
        print(f"\n27 weeks of polymarket-daily, 5 bots: {first}; again: {again}; load {os.getloadavg()[0]:.1f}")
        print(f"  {document['replay']['totals']}; journal {dict(kinds)}; marks {dict(states)}; orders {dict(orders)}")
        for each in document["accounts"]:
            print(f"  {json.dumps(each)[:300]}")


@pytest.mark.soak
def test_soak_120_days_of_accounts_are_killed_and_played_twice_on_both_databases(
    tmp_path: Path, postgres: Postgres, capsys: pytest.CaptureFixture[str]
) -> None:
    _disturb(f"{DAYS} days of accounts", portfolios(DAYS), tmp_path, postgres, capsys)


@pytest.mark.soak
def test_soak_a_year_of_stocks_is_killed_and_played_twice_on_both_databases(
    tmp_path: Path, postgres: Postgres, capsys: pytest.CaptureFixture[str]
) -> None:
    _disturb(f"{STOCK_DAYS} trading days of stocks", stocks(STOCK_DAYS), tmp_path, postgres, capsys)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 7])
def test_soak_a_year_in_which_who_reads_the_news_beats_the_index_and_noise_does_not(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = beside_the_index(tmp_path / "year", seed=seed, days=STOCK_DAYS)
    with capsys.disabled():
        print(f"\n{STOCK_DAYS} trading days of simulated stocks, seed {seed}, beside SPY: {found}")
    assert found["script_sharp"].low > 0.0
    for noise in ("random_weights", "script_noisy"):
        assert found[noise].low < 0.0 < found[noise].high


@pytest.mark.soak
@pytest.mark.parametrize("where", ["sandbox", "polymarket-daily"])
def test_soak_20_weeks_of_cohorts_are_killed_and_played_twice_on_both_databases(
    where: str, tmp_path: Path, postgres: Postgres, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = cohorts(WEEKS, first=datetime(2025, 12, 7, 0, 5, tzinfo=UTC))
    if where == "polymarket-daily":
        first = datetime(2025, 9, 7, 0, 5, tzinfo=UTC)
        game = cohorts(WEEKS, venue=f"archive:{shared_data / where}", first=first)
    _disturb(f"{WEEKS} weeks of cohorts over {where}", game, tmp_path, postgres, capsys)


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_soak_eight_processes_race_for_cohorts(kind: str, tmp_path: Path, postgres: Postgres) -> None:
    alone = Played(cohorts(RACED_WEEKS), tmp_path / "alone")
    alone.whole()
    raced = Played(alone.game, tmp_path / "raced", postgres.empty() if kind == "postgresql" else "")
    for process in [raced.start() for _ in range(8)]:
        out, err = process.communicate()
        assert process.returncode == 0, out + err
    raced.program.close()
    with Store.open_to_read(raced.ledger) as store:
        assert canonical(store) == canonical_at(alone.ledger)
        assert verify(store).broken == ()


def _disturb(what: str, game: Game, folder: Path, postgres: Postgres, capsys: pytest.CaptureFixture[str]) -> None:
    """Hold that a replay that is killed, and two at once, leave the ledger of an undisturbed one."""
    alone = Played(game, folder / "alone")
    began = monotonic()
    alone.whole()
    undisturbed = monotonic() - began
    expected = canonical_at(alone.ledger)
    for kind in ("sqlite", "postgresql"):
        killed, twice = (
            Played(game, folder / f"{kind} {how}", postgres.empty() if kind == "postgresql" else "")
            for how in ("killed", "twice")
        )
        began = monotonic()
        kills = killed_at_random(killed, 1, KILLS)
        seconds = monotonic() - began
        for process in [twice.start(), twice.start()]:
            process.communicate()
        twice.whole()
        for each in (killed, twice):
            with Store.open_to_read(each.ledger) as store:
                assert canonical(store) == expected
                assert verify(store).broken == ()
        with capsys.disabled():
            print(
                f"\n{what} on {kind}: {kills} kills in {seconds:.0f} s, twice at once in "
                f"{monotonic() - began - seconds:.0f} s, alone {undisturbed:.0f} s; every export the same"
            )
