"""Price histories for prompts: the last price of each day, read once for all bots that ask about a market."""

import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from predibot.contracts import Venue
from predibot.domain.event import Market
from predibot.domain.price import PricePoint, adjusted_points

LOOKS_BACK = timedelta(days=21)
MAX_AGE = timedelta(seconds=60)


@dataclass(slots=True)
class _Place:
    """What is known of one market, and whose turn it is to ask."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    until: datetime | None = None
    points: tuple[PricePoint, ...] = ()


class HistoryBoard:
    """The daily prices of a run's markets, closes in shares of now; where the venue is live, at most a minute old."""

    def __init__(self, venue: Venue) -> None:
        """Take prices from a venue."""
        self._venue = venue
        self._lock = threading.Lock()
        self._places: dict[str, _Place] = {}

    def daily(self, market: Market, now: datetime) -> tuple[PricePoint, ...]:
        """Return the last price of each of the last days, oldest first, and none that is later than now.

        Raises:
            VenueError: If they could not be had.
        """
        with self._lock:
            place = self._places.setdefault(market.id, _Place())
        # One request for all bots that ask about the market at once.
        with place.lock:
            if place.until is None or not timedelta(0) <= now - place.until <= MAX_AGE:
                instrument = market.ref.instrument(self._venue.name, "YES")
                points = self._venue.price_path(instrument, start=now - LOOKS_BACK, until=now).points
                done = self._venue.actions(instrument, start=now - LOOKS_BACK, until=now)
                points = adjusted_points(points, done, until=now)
                place.points = tuple({point.at.date(): point for point in points}.values())
                place.until = now
            return place.points
