"""Measures what receipts of a large ledger cost, and changes every column of ledgers of all games; run by hand."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from predibot.domain.price import PricePoint
from predibot.jobs.receipts import receipt_of_ledger
from predibot.ledger.care.verification import verify_ledger
from predibot.ledger.store import Store
from predibot.ledger.write.events import instruments
from predibot.ledger.write.ledger_receipts import ledger_receipts
from predibot.ledger.write.prices_and_resolutions import add_observations
from tests.acceptance.conftest import done_here
from tests.benchmarks.same_for_users import COMMENTS
from tests.jobs.test_ledger_receipts import missed
from tests.studies.stakebench.readers import data_set
from tests.worlds import Worlds, three_games, week_of_stocks

pytestmark = pytest.mark.benchmark

EVENTS, BEGAN = 650, datetime(2026, 1, 5, tzinfo=UTC)
POINTS, LATER, CALLS = 37, 2, 40
"""Prices of each market at first, then at each further call of `track`, and how many of those."""


def comments() -> None:
    """Have baselines label comments, in `ledger.db`."""
    data_set(Path("comments"))
    Path("comments.toml").write_text(COMMENTS, encoding="utf-8")
    done_here("decide", "comments.toml", "--ledger", "sqlite:///ledger.db")


@pytest.mark.parametrize("world", [three_games, week_of_stocks, comments])
def test_every_column_that_was_changed_is_found_or_listed(
    worlds: Worlds, tmp_path: Path, world: Callable[[], None]
) -> None:
    assert missed(worlds.copy(world, tmp_path) / "ledger.db", 1) == []


def test_what_a_receipt_of_a_large_ledger_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.toml").write_text(
        f'venue = "sandbox:events={EVENTS}"\n[selection]\nevents = {EVENTS}\n[[bots]]\nstrategy = "market_price"\n'
    )
    done_here("decide", "r.toml", "--ledger", "sqlite:///large.db")
    with Store.open("sqlite:///large.db") as store:
        with store.read() as connection:
            rows = connection.execute(select(instruments.c.id).where(instruments.c.side == "YES")).scalars().all()
        print(f"\n{len(rows)} markets, {len(rows) * POINTS} prices; CPU:")
        _track(store, rows, BEGAN, POINTS)
        print(f"the first receipt over them: {_ms(lambda: receipt_of_ledger(store, BEGAN)):.0f} ms")
        print(f"nothing new: {_ms(lambda: receipt_of_ledger(store, BEGAN)):.0f} ms")
        taken, tracked = [], []
        for call in range(1, CALLS + 1):
            at = BEGAN + timedelta(days=call)
            tracked.append(_ms(lambda at=at: _track(store, rows, at, LATER)))  # type: ignore[misc]
            taken.append(_ms(lambda at=at: receipt_of_ledger(store, at)))  # type: ignore[misc]
        print(f"{LATER} prices each more: {taken[0]:.0f} ms, the {CALLS}th time {taken[-1]:.0f} ms")
        print(f"of storing them, without any venue: {tracked[0]:.0f} ms, {tracked[-1]:.0f} ms")
        print(f"all of it verified: {_ms(lambda: store.run_read(verify_ledger)):.0f} ms")
        with store.read() as connection:
            packed, n = connection.execute(
                select(func.sum(func.length(ledger_receipts.c.rows_packed)), func.count())
            ).one()
            numbers, points = connection.execute(
                text("SELECT sum(length(receipts)), sum(length(points)) FROM price_paths")
            ).one()
        assert store.run_read(verify_ledger).holds
    print(f"{n} receipts take {packed / n:.0f} bytes each, and {numbers:,} bytes beside {points:,} of prices")


def _track(store: Store, rows: list[int], at: datetime, count: int) -> None:
    points = [PricePoint(at + timedelta(minutes=10 * each), 0.5) for each in range(count)]
    with store.write() as connection:
        add_observations(connection, dict.fromkeys(rows, points), "history")


def _ms(act: Callable[[], object]) -> float:
    began = time.process_time()
    act()
    return 1000.0 * (time.process_time() - began)
