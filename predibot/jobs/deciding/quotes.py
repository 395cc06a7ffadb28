"""Quotes for booking: taken anew where the venue is live, at most a minute old."""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from predibot.contracts import Venue
from predibot.domain.event import Event
from predibot.domain.price import Quote
from predibot.errors import MarketClosed

MAX_AGE = timedelta(seconds=60)
_Asked = tuple[str, ...]
"""An event's id, and those of its markets."""


class QuoteBoard:
    """The quotes of a run's events, shared by its bots; a replay's never change."""

    def __init__(self, venue: Venue, clock: Callable[[], datetime], *, past_books: bool = False) -> None:
        """Take quotes from a venue, and the time from a clock; of a past the order books too, where they are wanted."""
        self._venue = venue
        self._past_books = past_books
        self._clock = clock
        self._lock = threading.Lock()
        self._event_locks: dict[_Asked, threading.Lock] = {}
        self._taken: dict[_Asked, tuple[datetime, Mapping[str, Quote]]] = {}

    def quoted(self, event: Event) -> Event:
        """Return the event with the quotes of now; outside a live venue, as it is.

        Raises:
            MarketClosed: If a market of it trades no more or is not quoted any more.
            VenueError: If the quotes could not be had.
        """
        if not self._venue.live:
            return event
        fresh = self.still_quoted(event)
        gone = [market.id for market in fresh.markets if not market.quotes]
        if gone:
            raise MarketClosed(
                f"event {event.id} cannot be decided any more: market {', '.join(gone)} closed meanwhile"
            )
        return fresh

    def still_quoted(self, event: Event, *, anew: bool = False) -> Event:
        """Return the event with the quotes of now, and without one where a market trades no more; for accounts.

        A past's quotes are those of the event, unless its order books are wanted, which no list holds.

        Args:
            event: That is asked about.
            anew: Whether a live venue is asked again, however lately it was.

        Raises:
            VenueError: If the quotes could not be had.
        """
        if not (self._venue.live or self._past_books):
            return event
        quotes = self._fresh(event, anew=anew)
        return replace(event, markets=tuple(market.quoted_by(quotes) for market in event.markets))

    def _fresh(self, event: Event, *, anew: bool = False) -> Mapping[str, Quote]:
        # An account may hold other markets of an event than a run plays.
        asked = (event.id, *(market.id for market in event.markets))
        with self._lock:
            event_lock = self._event_locks.setdefault(asked, threading.Lock())
        # One request for all bots that ask about the event at once.
        with event_lock:
            taken = self._taken.get(asked)
            if taken is None or (self._venue.live and (anew or self._clock() - taken[0] > MAX_AGE)):
                taken = (self._clock(), self._venue.quotes(event))
                self._taken[asked] = taken
            return taken[1]


def quotes_of(events: Iterable[Event]) -> Mapping[str, Quote]:
    """Return the quotes of YES that events carry, by market id; the close of a share is in what a run froze."""
    markets = (market for event in events for market in event.markets if not market.is_share)
    return {market.id: market.quote for market in markets if market.quote is not None}
