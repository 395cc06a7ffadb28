"""What a venue says of markets while a run is decided: asked once for all its bots."""

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from predibot.contracts import Venue
from predibot.domain.clock import format_instant
from predibot.domain.event import Event, Market, MarketRef, prices_of
from predibot.domain.price import Instrument, PricePoint, Quote, adjusted_points
from predibot.domain.resolution import Resolution
from predibot.errors import MarketClosed, UsageError, VenueChanged, VenueError, VenueUnavailable
from predibot.ledger.write.turns import KnownMarket

MAX_AGE = timedelta(seconds=60)
"""Of what a live venue said; after that it is asked again."""
LOOKS_BACK = timedelta(days=21)
"""Over so many days prices are shown in prompts."""
MAX_PRICE_AGE = timedelta(hours=24)
"""Of the last price of a market that its event has no more; an older one is shown, and trades nothing."""
FEW_EVENTS = 5
"""So many may have no quotes, or half of those asked about; more are the venue's fault."""

_log = logging.getLogger(__name__)


class VenueBoard:
    """Asks a venue once for all bots of a run; where it is live, again after a minute."""

    def __init__(self, venue: Venue, clock: Callable[[], datetime], *, past_books: bool = False) -> None:
        """Ask this venue, and the time of a clock; of a past the order books too, where they are wanted."""
        self._venue, self._clock, self._past_books = venue, clock, past_books
        self._lock = threading.Lock()
        self._places: dict[tuple[str, ...], tuple[threading.Lock, list[tuple[datetime, Any]]]] = {}

    def open_event(self, event: Event) -> Event:
        """Return an event with the quotes of now; outside a live venue, as it is.

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
        # An account may hold other markets of an event than a run plays.
        asked = ("quotes", event.id, *(market.id for market in event.markets))
        quotes = self._once(asked, partial(self._venue.quotes, event), anew=anew)
        return replace(event, markets=tuple(market.quoted_by(quotes) for market in event.markets))

    def daily_prices(self, market: Market, now: datetime) -> tuple[PricePoint, ...]:
        """Return the last price of each of the last days, oldest first, closes in shares of now; none is later.

        Raises:
            VenueError: If they could not be had.
        """
        points = self._once(("history", market.id), partial(self._history, market, now))
        return tuple({point.at.date(): point for point in points if point.at <= now}.values())

    def quoted(self, events: Sequence[Event], now: datetime) -> tuple[Event, ...]:
        """Return events with the quotes of now; a market that is closed has none, whatever is still shown of it.

        Nor has one of a few events, at most `FEW_EVENTS` or half of them, that a live venue does not answer about.

        Raises:
            VenueError: If the quotes could not be had, or are of a later instant in a past.
            UsageError: If the venue knows none of more events than these.
        """
        return self._each(events, partial(self._quoted, now=now))

    def requoted(
        self, events: Sequence[Event], ordered: Collection[Instrument], held: Collection[Instrument], now: datetime
    ) -> tuple[Event, ...]:
        """Return events with the quotes of now where something of them is ordered or held, the others as they are.

        One is asked for a second time, and not a third, where what is ordered has no price at first.
        """
        return self._each(events, partial(self._requoted, ordered=frozenset(ordered), held=frozenset(held), now=now))

    def _each(self, events: Sequence[Event], quote: Callable[[Event], Event]) -> tuple[Event, ...]:
        found, lost = list[Event](), 0
        for event in events:
            try:
                found.append(quote(event))
            except (UsageError, VenueError) as error:
                lost += 1
                if not self._venue.live or lost > min(FEW_EVENTS, len(events) // 2):
                    raise
                _log.warning("event %s has no quote now: %s", event.id, error)
                found.append(replace(event, markets=tuple(market.quoted_by({}) for market in event.markets)))
        return tuple(found)

    def _requoted(
        self, event: Event, ordered: frozenset[Instrument], held: frozenset[Instrument], now: datetime
    ) -> Event:
        there = {each for market in event.markets for each in market.instruments(self._venue.name)}
        if there.isdisjoint(ordered | held):
            return event
        fresh = self._quoted(event, now)
        if (there & ordered).issubset(prices_of(fresh, self._venue.name)):
            return fresh
        return self._quoted(event, now, anew=True)

    def _quoted(self, event: Event, now: datetime, *, anew: bool = False) -> Event:
        fresh = self.still_quoted(event, anew=anew)
        late = [quote.at for market in fresh.markets for quote in market.quotes if quote.at > now]
        if late and not self._venue.live:
            # It shows what nobody knew then.
            raise VenueUnavailable(
                f"{self._venue.name} stands at {format_instant(late[0])}, later than the run; "
                f"decide it with --as-of {format_instant(now)}"
            )
        return replace(
            fresh, markets=tuple(market.quoted_by({}) if market.closed else market for market in fresh.markets)
        )

    def unlisted(self, markets: Sequence[KnownMarket], now: datetime) -> tuple[Event, ...]:
        """Return the events of markets that a run does not play, with these markets alone, as they are now.

        A market that its event has no more is as the ledger knows it, with its last price where that is at most a
        day old. One whose event the venue does not know either has no quote: its price may still be on record, but
        nobody offers it. Nor has one of a few events that it does not answer about; see `quoted`.

        Raises:
            VenueError: If the venue did not answer.
        """
        by_event: dict[str, list[KnownMarket]] = {}
        for market in markets:
            by_event.setdefault(market.event_id, []).append(market)

        def look(event: Event) -> Event:
            listed = self._once(("event", event.id), partial(self._event, event.id, now))
            there = {market.id: market for market in listed.markets} if listed is not None else {}
            asked = by_event[event.id]
            known = tuple(there[each.ref.id] for each in asked if each.ref.id in there)
            gone = tuple(
                self._gone(each, now, is_listed=listed is not None) for each in asked if each.ref.id not in there
            )
            quoted = self._quoted(replace(listed or event, markets=known), now).markets if known else ()
            return replace(listed or event, markets=(*quoted, *gone))

        unquoted = (
            Event(event_id, asked[0].title, tuple(self._gone(each, now, is_listed=False) for each in asked))
            for event_id, asked in by_event.items()
        )
        return self._each([*unquoted], look)

    def resolutions(self, refs: Sequence[MarketRef], now: datetime) -> Mapping[str, tuple[Resolution, ...]]:
        """Return the revisions that are known of markets, by market id; of one that cannot be read there are none.

        Raises:
            VenueError: If they could not be had.
        """
        asked = []
        for ref in refs:
            with self._lock:
                held = self._places.get(("resolution", ref.id), (None, []))[1]
            if not held or self._is_old(held[0][0]):
                asked.append(ref)
        if asked:
            page = self._venue.resolutions(tuple(asked), as_of=now)
            with self._lock:
                for ref in asked:
                    place = (threading.Lock(), [(self._clock(), page.found.get(ref.id, ()))])
                    self._places["resolution", ref.id] = place
        with self._lock:
            return {ref.id: self._places["resolution", ref.id][1][0][1] for ref in refs}

    def _history(self, market: Market, now: datetime) -> Sequence[PricePoint]:
        instrument = market.ref.instrument(self._venue.name, "YES")
        points = self._venue.price_path(instrument, start=now - LOOKS_BACK, until=now).points
        done = self._venue.actions(instrument, start=now - LOOKS_BACK, until=now)
        return adjusted_points(points, done, until=now)

    def _event(self, event_id: str, now: datetime) -> Event | None:
        try:
            return self._venue.event(event_id, now)
        except (UsageError, VenueChanged):
            return None

    def _gone(self, market: KnownMarket, now: datetime, *, is_listed: bool) -> Market:
        gone = Market(market.ref, market.question, market.outcomes, closed=None)
        if not is_listed:
            return gone.quoted_by({})
        # Of two outcomes NO costs what YES lacks.
        asked = gone.instruments(self._venue.name)[: None if gone.is_named else 1]
        names = [each.id for each in asked] if gone.is_named else [gone.id]
        last = [self._once(("price", each.id), partial(self._last_price, each, now)) for each in asked]
        return gone.quoted_by({name: quote for name, quote in zip(names, last, strict=True) if quote is not None})

    def _last_price(self, instrument: Instrument, now: datetime) -> Quote | None:
        try:
            points = self._venue.price_path(instrument, start=now - MAX_PRICE_AGE, until=now).points
        except VenueError:
            # Of a market that is gone the rest may be gone too; no price is not one of zero.
            return None
        return Quote(points[-1].at, history=points[-1].price) if points else None

    def _once(self, what: tuple[str, ...], ask: Callable[[], Any], *, anew: bool = False) -> Any:
        """Return what was answered before, or ask; one request for all bots that want the same at once."""
        with self._lock:
            lock, held = self._places.setdefault(what, (threading.Lock(), []))
        with lock:
            if not held or self._is_old(held[0][0]) or (anew and self._venue.live):
                held[:] = [(self._clock(), ask())]
            return held[0][1]

    def _is_old(self, taken_at: datetime) -> bool:
        return self._venue.live and self._clock() - taken_at > MAX_AGE


def quotes_of(events: Iterable[Event]) -> Mapping[str, Quote]:
    """Return the quotes of YES that events carry, by market id; the close of a share is in what a run froze."""
    markets = (market for event in events for market in event.markets if not market.is_share)
    return {market.id: market.quote for market in markets if market.quote is not None}
