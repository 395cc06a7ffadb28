"""The venue board: a venue's answers during a run, read once for all bots."""

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
from predibot.domain.price import Instrument, PricePoint, Quote, adjust_points
from predibot.domain.resolution import Resolution
from predibot.errors import MarketClosed, UsageError, VenueChanged, VenueError, VenueUnavailable
from predibot.ledger.write.turns import KnownMarket
from predibot.rows import grouped

MAX_AGE = timedelta(seconds=60)
"""Age of a live venue's answer from which on it is requested again."""
LOOKS_BACK = timedelta(days=21)
"""The days of prices in prompts."""
MAX_PRICE_AGE = timedelta(hours=24)
"""The oldest price at which a market can trade that its event lost; older ones are only shown."""
FEW_EVENTS = 5
"""So many events, or half of them, may lack quotes; more are the venue's fault."""

_log = logging.getLogger(__name__)


class VenueBoard:
    """Asks a venue once for all bots of a run; a live one again after a minute.

    `after`: an earlier answer of a live venue counts only if it was asked for after this instant.
    """

    def __init__(self, venue: Venue, clock: Callable[[], datetime], *, past_books: bool = False) -> None:
        """Take a venue and a clock; `past_books` reads order books of a past too."""
        self._venue, self._clock, self._past_books = venue, clock, past_books
        self._lock = threading.Lock()
        self._places: dict[tuple[str, ...], tuple[threading.Lock, list[tuple[datetime, Any]]]] = {}

    def open_event(self, event: Event, *, after: datetime | None = None) -> Event:
        """Return an event with the quotes of now, asked for after `after`; unchanged if the venue is not live.

        Raises:
            MarketClosed: If one of its markets is closed or not quoted any more.
            VenueError: If the venue does not answer.
        """
        if not self._venue.live:
            return event
        fresh = self.quote_event(event, after=after)
        gone = [market.id for market in fresh.markets if not market.quotes]
        if gone:
            raise MarketClosed(
                f"event {event.id} cannot be decided any more: market {', '.join(gone)} closed meanwhile"
            )
        return fresh

    def open_events(self, events: Iterable[Event], after: datetime | None) -> tuple[tuple[Event, ...], tuple[str, ...]]:
        """Return events as `open_event` does, with notes on those whose quotes are of the last minute instead.

        VenueError is raised only if the venue did not answer within that minute either.
        """
        found, notes = list[Event](), list[str]()
        for event in events:
            try:
                found.append(self.open_event(event, after=after))
            except VenueError as error:
                if after is None:
                    raise
                # An answer that was paid for is not lost where there is a quote of the last seconds.
                found.append(self.open_event(event))
                notes.append(f"the venue did not answer again; quotes of the last {MAX_AGE.seconds} s stand: {error}")
        return tuple(found), tuple(notes)

    def quote_event(self, event: Event, *, after: datetime | None = None) -> Event:
        """Return an event with the quotes of now, none for markets that trade no more; for accounts.

        A live venue is asked again if the last request began by `after`. A past has the event's own quotes, unless its
        order books are wanted, which no list holds. A market keeps its quote where a live venue answers with an older
        one.
        """
        if not (self._venue.live or self._past_books):
            return event
        # Keyed by markets too: an account may hold other markets of an event than a run plays.
        key = ("quotes", event.id, *(market.id for market in event.markets))
        quotes = self._once(key, partial(self._newest_quotes, key, event), after=after)
        return replace(event, markets=tuple(market.with_quotes(quotes) for market in event.markets))

    def _newest_quotes(self, key: tuple[str, ...], event: Event) -> Mapping[str, Quote]:
        """Ask for quotes; called by `_once`, which holds the lock of the key."""
        found = self._venue.quotes(event)
        for _, held in self._places[key][1]:
            found = {name: max(quote, held.get(name, quote), key=lambda each: each.at) for name, quote in found.items()}
        return found

    def daily_prices(self, market: Market, now: datetime) -> tuple[PricePoint, ...]:
        """Return the last price of each recent day up to now, oldest first; closes are per share of now."""
        points = self._once(("history", market.id), partial(self._read_history, market, now))
        return tuple({point.at.date(): point for point in points if point.at <= now}.values())

    def quote_events(self, events: Sequence[Event], now: datetime) -> tuple[Event, ...]:
        """Return events with the quotes of now; a closed market has none, even if the venue still shows one.

        If a live venue does not answer for a few events, at most `FEW_EVENTS` or half of them, their markets have none.

        Raises:
            VenueError: If more could not be read, or quotes of a past are of a later instant.
            UsageError: If the venue does not know more events than these few.
        """
        return self._for_each(events, partial(self._quote, now=now))

    def requote_events(
        self, events: Sequence[Event], ordered: Collection[Instrument], held: Collection[Instrument], now: datetime
    ) -> tuple[Event, ...]:
        """Return events with fresh quotes where something is ordered or held, the others as they are.

        An ordered instrument without a price is read a second time, and not a third.
        """

        def requote(event: Event) -> Event:
            there = {each for market in event.markets for each in market.instruments(self._venue.name)}
            if there.isdisjoint({*ordered, *held}):
                return event
            fresh = self._quote(event, now)
            if there.intersection(ordered).issubset(prices_of(fresh, self._venue.name)):
                return fresh
            return self._quote(event, now, after=self._clock())

        return self._for_each(events, requote)

    def _for_each(self, events: Sequence[Event], quote: Callable[[Event], Event]) -> tuple[Event, ...]:
        found, lost = list[Event](), 0
        for event in events:
            try:
                found.append(quote(event))
            except (UsageError, VenueError) as error:
                lost += 1
                if not self._venue.live or lost > min(FEW_EVENTS, len(events) // 2):
                    raise
                _log.warning("event %s has no quote now: %s", event.id, error)
                found.append(replace(event, markets=tuple(market.with_quotes({}) for market in event.markets)))
        return tuple(found)

    def _quote(self, event: Event, now: datetime, *, after: datetime | None = None) -> Event:
        fresh = self.quote_event(event, after=after)
        late = [quote.at for market in fresh.markets for quote in market.quotes if quote.at > now]
        if late and not self._venue.live:
            # A later quote would show the future.
            raise VenueUnavailable(
                f"{self._venue.name} stands at {format_instant(late[0])}, later than the run; "
                f"decide it with --as-of {format_instant(now)}"
            )
        return replace(
            fresh, markets=tuple(market.with_quotes({}) if market.closed else market for market in fresh.markets)
        )

    def find_unlisted(self, markets: Sequence[KnownMarket], now: datetime) -> tuple[Event, ...]:
        """Return the events of markets that a run does not play, with these markets alone, as they are now.

        A market that its event lost keeps its last price, if that is at most a day old. A market whose event the venue
        does not know has no quote: its price may be on record, but nobody offers it. For unanswered events see
        `quote_events`.
        """
        by_event = grouped((market.event_id, market) for market in markets)

        def look(event: Event) -> Event:
            listed = self._once(("event", event.id), partial(self._read_event, event.id, now))
            there = {market.id: market for market in listed.markets} if listed is not None else {}
            own = by_event[event.id]
            known = tuple(there[each.ref.id] for each in own if each.ref.id in there)
            gone = tuple(
                self._lost_market(each, now, is_listed=listed is not None) for each in own if each.ref.id not in there
            )
            quoted = self._quote(replace(listed or event, markets=known), now).markets if known else ()
            return replace(listed or event, markets=(*quoted, *gone))

        unquoted = [
            Event(event_id, own[0].title, tuple(self._lost_market(each, now, is_listed=False) for each in own))
            for event_id, own in by_event.items()
        ]
        return self._for_each(unquoted, look)

    def resolutions(self, refs: Sequence[MarketRef], now: datetime) -> Mapping[str, tuple[Resolution, ...]]:
        """Return the known revisions of markets by id; none for a market that cannot be read."""
        with self._lock:
            known = {ref.id: self._places.get(("resolution", ref.id), (None, []))[1] for ref in refs}
        missing = [ref for ref in refs if not known[ref.id] or self._is_old(known[ref.id][0][0])]
        if missing:
            page = self._venue.resolutions(tuple(missing), as_of=now)
            for ref in missing:
                known[ref.id] = [(self._clock(), page.found.get(ref.id, ()))]
                with self._lock:
                    self._places["resolution", ref.id] = (threading.Lock(), known[ref.id])
        return {market_id: answers[0][1] for market_id, answers in known.items()}

    def _read_history(self, market: Market, now: datetime) -> Sequence[PricePoint]:
        instrument = market.ref.instrument(self._venue.name, "YES")
        points = self._venue.price_path(instrument, start=now - LOOKS_BACK, until=now).points
        done = self._venue.actions(instrument, start=now - LOOKS_BACK, until=now)
        return adjust_points(points, done, until=now)

    def _read_event(self, event_id: str, now: datetime) -> Event | None:
        try:
            return self._venue.event(event_id, now)
        except (UsageError, VenueChanged):
            return None

    def _lost_market(self, market: KnownMarket, now: datetime, *, is_listed: bool) -> Market:
        gone = Market(market.ref, market.question, market.outcomes, closed=None)
        if not is_listed:
            return gone.with_quotes({})
        # With two outcomes the price of NO follows from that of YES.
        instruments = gone.instruments(self._venue.name)[: None if gone.is_named else 1]
        names = [each.id for each in instruments] if gone.is_named else [gone.id]
        last = [self._once(("price", each.id), partial(self._last_price, each, now)) for each in instruments]
        return gone.with_quotes({name: quote for name, quote in zip(names, last, strict=True) if quote is not None})

    def _last_price(self, instrument: Instrument, now: datetime) -> Quote | None:
        try:
            points = self._venue.price_path(instrument, start=now - MAX_PRICE_AGE, until=now).points
        except VenueError:
            # Prices of a lost market may be lost too; no price is not zero.
            return None
        return Quote(points[-1].at, history=points[-1].price) if points else None

    def _once(self, what: tuple[str, ...], ask: Callable[[], Any], *, after: datetime | None = None) -> Any:
        """Return an earlier answer or ask; bots that want the same at once share one request, begun after `after`."""
        with self._lock:
            lock, answers = self._places.setdefault(what, (threading.Lock(), []))
        with lock:
            is_early = self._venue.live and bool(answers) and after is not None and answers[0][0] <= after
            if not answers or is_early or self._is_old(answers[0][0]):
                answers[:] = [(self._clock(), ask())]
            return answers[0][1]

    def _is_old(self, taken_at: datetime) -> bool:
        return self._venue.live and self._clock() - taken_at > MAX_AGE


def quotes_of(events: Iterable[Event]) -> Mapping[str, Quote]:
    """Return the quotes of YES in events, by market id; closes of shares are in the run's own rows."""
    markets = (market for event in events for market in event.markets if not market.is_share)
    return {market.id: market.quote for market in markets if market.quote is not None}
