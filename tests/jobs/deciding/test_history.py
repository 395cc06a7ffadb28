"""Price histories for prompts: one price a day, and one request for all bots."""

import threading
import time
from datetime import datetime, timedelta

import pytest

from predibot.contracts import Venue
from predibot.domain.event import Market, MarketRef
from predibot.domain.price import Instrument, PricePath, PricePoint
from predibot.errors import VenueUnavailable
from predibot.jobs.deciding.history import LOOKS_BACK, MAX_AGE, HistoryBoard
from tests.venues.payloads import NOW

HOUR = timedelta(hours=1)
MARKET = Market(MarketRef("m", None, ("yes", "no")), "Will it?", ("Yes", "No"))
OTHER = Market(MarketRef("o"), "Will it not?", ("Yes", "No"))


class Prices(Venue):
    """A venue with a price every six hours, that counts who asks and fails as often as told."""

    name = "tiny"

    def __init__(self, failures: int = 0) -> None:
        self.asked: list[tuple[str, datetime]] = []
        self.failures = failures

    def price_path(self, instrument: Instrument, *, start: datetime, until: datetime) -> PricePath:
        self.asked.append((instrument.id, until))
        time.sleep(0.02)
        if len(self.asked) <= self.failures:
            raise VenueUnavailable("not now")
        steps = int((until - start) / (6 * HOUR))
        return PricePath(instrument, tuple(PricePoint(start + 6 * HOUR * n, n / 1000) for n in range(steps + 1)))


def test_of_each_day_the_last_price_is_told() -> None:
    noon = NOW.replace(hour=12, minute=0, second=0, microsecond=0)
    points = HistoryBoard(Prices()).daily(MARKET, noon)
    # 21 days back at noon, then 18:00 is the first day's last; whole days end at 18:00; today ends now.
    assert [point.at.hour for point in points] == [18] * 21 + [12]
    assert points[0].at == noon - LOOKS_BACK + 6 * HOUR
    assert points[-1].at == noon


def test_many_bots_that_ask_at_once_cost_one_request() -> None:
    prices = Prices()
    board = HistoryBoard(prices)
    asking = [threading.Thread(target=board.daily, args=(MARKET, NOW)) for _ in range(8)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    board.daily(OTHER, NOW)
    assert prices.asked == [("yes", NOW), ("o:YES", NOW)]


@pytest.mark.parametrize(("later", "requests"), [(MAX_AGE, 1), (MAX_AGE + timedelta(seconds=1), 2)])
def test_prices_are_at_most_a_minute_old(later: timedelta, requests: int) -> None:
    prices = Prices()
    board = HistoryBoard(prices)
    board.daily(MARKET, NOW)
    board.daily(MARKET, NOW + later)
    assert len(prices.asked) == requests


def test_nobody_is_told_a_price_of_his_future() -> None:
    board = HistoryBoard(Prices())
    board.daily(MARKET, NOW)
    earlier = NOW - timedelta(seconds=1)
    assert board.daily(MARKET, earlier)[-1].at <= earlier


def test_a_failure_is_told_and_not_remembered() -> None:
    board = HistoryBoard(Prices(failures=1))
    with pytest.raises(VenueUnavailable):
        board.daily(MARKET, NOW)
    assert board.daily(MARKET, NOW)
