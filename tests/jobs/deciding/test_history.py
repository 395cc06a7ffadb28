"""Price histories for prompts: one price a day, and one request for all bots."""

import threading
import time
from datetime import datetime, timedelta

import pytest

from predibot.contracts import Venue
from predibot.domain.event import Market, MarketRef
from predibot.domain.price import Instrument, PricePath, PricePoint
from predibot.errors import VenueUnavailable
from predibot.jobs.deciding.venue_board import LOOKS_BACK, MAX_AGE, VenueBoard
from tests.venues.payloads import NOW

HOUR = timedelta(hours=1)
MARKET = Market(MarketRef("m", None, ("yes", "no")), "Will it?", ("Yes", "No"))
OTHER = Market(MarketRef("o"), "Will it not?", ("Yes", "No"))


class Prices(Venue):
    """A venue with a price every six hours, that counts who asks and fails as often as told."""

    name, live = "tiny", True

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


def board_of(prices: Prices) -> VenueBoard:
    return VenueBoard(prices, lambda: NOW)


def test_of_each_day_the_last_price_is_told() -> None:
    noon = NOW.replace(hour=12, minute=0, second=0, microsecond=0)
    points = board_of(Prices()).daily_prices(MARKET, noon)
    # 21 days back at noon, then 18:00 is the first day's last; whole days end at 18:00; today ends now.
    assert [point.at.hour for point in points] == [18] * 21 + [12]
    assert points[0].at == noon - LOOKS_BACK + 6 * HOUR
    assert points[-1].at == noon


def test_many_bots_that_ask_at_once_cost_one_request() -> None:
    prices = Prices()
    board = board_of(prices)
    asking = [threading.Thread(target=board.daily_prices, args=(MARKET, NOW)) for _ in range(8)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    board.daily_prices(OTHER, NOW)
    assert prices.asked == [("yes", NOW), ("o:YES", NOW)]


@pytest.mark.parametrize(("later", "requests"), [(MAX_AGE, 1), (MAX_AGE + timedelta(seconds=1), 2)])
def test_prices_are_at_most_a_minute_old(later: timedelta, requests: int) -> None:
    prices = Prices()
    at = [NOW]
    board = VenueBoard(prices, lambda: at[0])
    board.daily_prices(MARKET, NOW)
    at[0] += later
    board.daily_prices(MARKET, at[0])
    assert len(prices.asked) == requests


def test_nobody_is_told_a_price_of_his_future() -> None:
    board = board_of(Prices())
    board.daily_prices(MARKET, NOW)
    earlier = NOW - timedelta(seconds=1)
    assert board.daily_prices(MARKET, earlier)[-1].at <= earlier


def test_a_failure_is_told_and_not_remembered() -> None:
    board = board_of(Prices(failures=1))
    with pytest.raises(VenueUnavailable):
        board.daily_prices(MARKET, NOW)
    assert board.daily_prices(MARKET, NOW)
