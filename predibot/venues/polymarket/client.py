"""The Polymarket venue: events and settlements from Gamma, prices and books from the CLOB; reading only, as of now."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypeVar

from predibot.contracts import ResolutionPage
from predibot.domain.event import Event, EventPage, Market, MarketRef, Skip
from predibot.domain.price import Depth, Instrument, PricePath, PricePoint, Quote
from predibot.domain.resolution import Resolution
from predibot.errors import UsageError, VenueChanged, VenueError, VenueUnavailable
from predibot.venues import fields
from predibot.venues.http import NO_SUCH_OBJECT, LiveVenue, RequestRefusal, is_local, order_notes
from predibot.venues.polymarket.pagination import PAGE_SIZE, pages
from predibot.venues.polymarket.parse import (
    UNKNOWN_ID,
    event_ids_of,
    parse_book,
    parse_event,
    parse_resolution,
    payload_id,
    tokens_of,
)
from predibot.venues.polymarket.price_history import read_history

ORDER = "volume1wk"
MARKETS_PER_REQUEST = 100
MARKET_LISTS = ("/markets/keyset", "/markets")
"""The second is past its announced end since May 2026, and still answered then."""
BOOKS_PER_REQUEST = 500
GAMMA_REQUESTS_PER_10_SECONDS = {"": 4_000, "/events": 500, "/markets": 300, "/comments": 200}
CLOB_REQUESTS_PER_10_SECONDS = {
    "/book": 1_500,
    "/books": 500,
    "/price": 1_500,
    "/midpoint": 1_500,
    "/prices-history": 1_000,
}
_GONE = (404, 410)
_REFUSES_AN_ID = (400, 413, 414, 422, 431)
"""An unknown id, or more ids than fit."""
FEW_IDS = 5
"""So many ids may be refused, or half of them; more are not the ids' fault."""
_T = TypeVar("_T")

_log = logging.getLogger(__name__)


class Polymarket(LiveVenue):
    """The live venue; thread-safe. Errors are those of `contracts.Venue`."""

    name = "polymarket"

    def __init__(self, *, gamma_url: str, clob_url: str, **options: Any) -> None:
        """Open a client for a pair of hosts, with the options of `LiveVenue`.

        The list's deadline is for all pages, and each page adds two seconds. `requests_per_10_seconds` defaults to the
        venue's limits, and to none on this machine.
        """
        self._gamma_url = gamma_url.rstrip("/")
        self._clob_url = clob_url.rstrip("/")
        self._market_lists = MARKET_LISTS
        rates = default_rates(self._gamma_url, self._clob_url)
        super().__init__(**{"requests_per_10_seconds": rates, **options})

    def events(self, as_of: datetime, *, enough: Callable[[Sequence[Event]], bool] | None = None) -> EventPage:
        """Return the open events, about in the order of the week's volume, highest first. The venue answers for now,
        whatever `as_of` says; each quote has the instant its page was read.
        """
        events: list[Event] = []
        skipped: list[Skip] = []
        complete = False
        for number, (payloads, complete) in enumerate(self._read_pages("events", ORDER)):
            self._check_end(number, payloads, complete=complete)
            quoted_at = self._clock()
            parsed = [parse_event(payload, quoted_at=quoted_at) for payload in payloads]
            versions: dict[str, set[tuple[str, ...]]] = {}
            for event, _ in parsed:
                if event is not None:
                    version = (event.title, *sorted(market.id for market in event.markets))
                    versions.setdefault(event.id, set()).add(version)
            for event, skips in parsed:
                if event is not None and len(versions[event.id]) > 1:
                    skips = (Skip("event", event.id, "its id is that of another event on the page too"),)
                    event = None
                skipped.extend(skips)
                events.extend([event] if event else [])
            if not complete and enough is not None and enough(events):
                break
        return EventPage(
            tuple(events), tuple(skipped), complete, order_notes([event.volume_1wk_usd for event in events])
        )

    def events_by_market(
        self, as_of: datetime, *, enough: Callable[[Sequence[Event]], bool] | None = None
    ) -> EventPage:
        """Return the open events whose markets have the highest volumes of all time; otherwise as `events`. Pages of
        markets name these events, so that few of all open events are read.
        """
        events: list[Event] = []
        skipped: list[Skip] = []
        seen: set[str] = set()
        nameless, complete = 0, False
        for number, (payloads, complete) in enumerate(self._read_pages("markets", "volumeNum")):
            self._check_end(number, payloads, complete=complete)
            named = [event_ids_of(payload) for payload in payloads if payload_id(payload) != UNKNOWN_ID]
            skipped += [Skip("market", UNKNOWN_ID, "it has no readable id")] * (len(payloads) - len(named))
            nameless += named.count(())
            if named and nameless == len(named) and not seen:
                raise VenueChanged(f"{self.name}: no market of a whole page names its event; update predibot")
            fresh = [each for each in dict.fromkeys(each for ids in named for each in ids) if each not in seen]
            seen |= {*fresh}
            quoted_at = self._clock()
            for payload in self._read_raw_events(fresh):
                if isinstance(payload, Skip):
                    skipped.append(payload)
                    continue
                event, skips = parse_event(payload, quoted_at=quoted_at)
                skipped.extend(skips)
                events.extend([event] if event else [])
            if not complete and enough is not None and enough(events):
                break
        notes = (f"{nameless} markets listed name no event, and are left out",) if nameless else ()
        return EventPage(tuple(events), tuple(skipped), complete, notes)

    def _raw_pages(self) -> Iterator[list[object]]:
        return (payloads for payloads, _ in self._read_pages("events", ORDER))

    def event(self, event_id: str, as_of: datetime) -> Event:
        """Return an event, open or closed, as of now."""
        event, skips = parse_event(self._read_raw_event(event_id), quoted_at=self._clock())
        if event is None:
            raise VenueChanged(f"{self.name}: event {event_id} cannot be read: {skips[0].reason}; update predibot")
        if skips and not event.markets:
            raise VenueChanged(
                f"{self.name}: none of the {len(skips)} markets of event {event_id} can be read: "
                f"{skips[0].reason}; try again later, or update predibot"
            )
        for skip in skips:
            _log.warning("market %s of event %s is left out: %s", skip.id, event_id, skip.reason)
        return event

    def price_path(self, instrument: Instrument, *, start: datetime, until: datetime) -> PricePath:
        """Return the recorded prices of a token with start < at <= until, oldest first.

        The last minute before now is left out; see `price_history.NOW_MARGIN`. An instrument without a token, such as
        that of a new market, has no prices.
        """
        if not fields.TOKEN_ID.fullmatch(instrument.id):
            return PricePath(instrument)
        points = self.raw_history(instrument.id, start, until)
        return PricePath(
            instrument,
            tuple(PricePoint(fields.unix_instant(point["t"]), fields.require_price(point["p"])) for point in points),
        )

    def raw_history(self, token_id: str, start: datetime, until: datetime) -> list[dict[str, object]]:
        """Return the venue's `{"t", "p"}` points of a token with start < t <= until."""
        if not fields.TOKEN_ID.fullmatch(token_id):
            raise UsageError(f"{token_id[:100]!r} is not a token id; only digits name a price history")
        url = f"{self._clob_url}/prices-history"
        return read_history(self._client, url, token_id, start=start, until=until, now=self._clock())

    def quotes(self, event: Event) -> Mapping[str, Quote]:
        """Return a fresh quote for each of the event's markets that is open, takes orders and is quoted.

        Displayed and last price come from Gamma, bid and ask from the order book of YES; an empty side is None. Markets
        without a token keep Gamma's bid and ask. With more than two outcomes, each has a quote from its own book, by
        its instrument's id.
        """
        fresh = self.event(event.id, self._clock())
        wanted = {market.id: market.ref for market in event.markets}
        markets = [market for market in fresh.markets if market.id in wanted and market.is_tradable]
        if fresh.closed or not markets:
            return {}
        tokens = [market.ref.token_ids[: None if market.is_named else 1] for market in markets]
        books = self._read_books([token for of_market in tokens for token in of_market])
        at = self._clock()
        quotes = {
            market.id: _fresh_quote(market, market.quote, 0, books, at) for market in markets if not market.is_named
        }
        quotes |= {
            # The market may be known from before it had tokens.
            (market.ref if wanted[market.id].token_ids else wanted[market.id])
            .outcome(self.name, number)
            .id: _fresh_quote(market, quote, number, books, at)
            for market in markets
            if market.is_named
            for number, quote in enumerate(market.outcome_quotes)
        }
        turned = {market.id for market in markets if _is_reversed(wanted[market.id], market.ref.token_ids)}
        return {
            market_id: quote.for_no if market_id in turned else quote
            for market_id, quote in quotes.items()
            if quote is not None
        }

    def resolutions(self, markets: Sequence[MarketRef], *, as_of: datetime) -> ResolutionPage:
        """Return what these markets paid, if they are settled by the instant.

        A settlement counts from the venue's instant, else from our first sight of it: `as_of` if that is less than 15
        minutes ago, because the work is done as of then.
        """
        found: dict[str, tuple[Resolution, ...]] = {}
        skipped: list[Skip] = []
        asked = {ref.id: ref for ref in markets}
        ids = list(asked)
        for begin in range(0, len(ids), MARKETS_PER_REQUEST):
            for payload in self._read_settlements(ids[begin : begin + MARKETS_PER_REQUEST], skipped):
                resolution = parse_resolution(payload, first_seen_at=self._first_seen_at(as_of))
                if isinstance(resolution, Skip):
                    skipped.append(resolution)
                elif resolution is not None and max(resolution.effective_at, resolution.settled_at) <= as_of:
                    ref = asked[payload_id(payload)]
                    count, listed = len(resolution.payouts) or 2, tokens_of(payload)
                    if ref.token_ids and len(ref.token_ids) != count:
                        reason = f"it pays {count} outcomes, and it is known with {len(ref.token_ids)}"
                        skipped.append(Skip("resolution", ref.id, reason))
                        continue
                    if ref.token_ids and listed and sorted(ref.token_ids) != sorted(listed):
                        skipped.append(Skip("resolution", ref.id, "its tokens are others than those it is known by"))
                        continue
                    if ref.token_ids != listed and sorted(ref.token_ids) == sorted(listed):
                        resolution = resolution.in_order([listed.index(token) for token in ref.token_ids])
                    found[ref.id] = (resolution,)
        return ResolutionPage(found, tuple(skipped))

    def _read_pages(self, what: Literal["events", "markets"], order: str) -> Iterator[tuple[list[object], bool]]:
        url, seconds = f"{self._gamma_url}/{what}/keyset", self._list_deadline_seconds
        return pages(self._client, url, field=what, order=order, deadline_seconds=seconds)

    def _check_end(self, number: int, payloads: Sequence[object], *, complete: bool) -> None:
        if self.live and complete and number == 0 and len(payloads) == PAGE_SIZE:
            raise VenueChanged(
                f"the list ends after one full page of {PAGE_SIZE}, and a venue has more than that: "
                "next_cursor is missing; try again later, or update predibot"
            )

    def _read_raw_event(self, event_id: str) -> object:
        unknown = f"{self.name} knows no event {event_id[:100]!r}; `predibot select` shows the ids"
        try:
            fields.venue_id(event_id)
            payload = self._client.get(f"{self._gamma_url}/events/{event_id}")
        except ValueError:
            raise UsageError(unknown) from None
        except RequestRefusal as refusal:
            if refusal.status in NO_SUCH_OBJECT:
                raise UsageError(unknown) from refusal
            raise
        if payload_id(payload) != event_id:
            raise VenueChanged(f"asked for event {event_id}, got {fields.short_repr(payload)}; update predibot")
        return payload

    def _read_raw_events(self, ids: Sequence[str]) -> Iterator[object]:
        """Yield the open events with these ids, or a skip; an id that a list leaves out is requested alone.

        Raises `VenueUnavailable` without an answer about more than `FEW_IDS` of them, or about half.
        """
        silences = 0
        for begin in range(0, len(ids), PAGE_SIZE):
            asked = ids[begin : begin + PAGE_SIZE]
            # An id refused here is requested alone below.
            answers = (answer for _, answer in _ask_in_parts(asked, self._list_open_events) if answer)
            found = {payload_id(each): each for answer in answers for each in answer}
            for event_id in asked:
                if event_id in found:
                    yield found[event_id]
                    continue
                try:
                    yield self._read_raw_event(event_id)
                except UsageError:
                    yield Skip("event", event_id, "a market names it, and the venue has no such event")
                except VenueError as error:
                    silences += isinstance(error, VenueUnavailable)
                    if silences > min(FEW_IDS, len(ids) // 2):
                        raise
                    yield Skip("event", event_id, str(error))

    def _list_open_events(self, ids: Sequence[str]) -> list[object]:
        params = [*(("id", event_id) for event_id in ids), ("closed", "false"), ("limit", str(PAGE_SIZE))]
        page = self._client.get(f"{self._gamma_url}/events/keyset", params)
        listed = page.get("events") if isinstance(page, dict) else None
        return listed if isinstance(listed, list) else []

    def _read_settlements(self, ids: Sequence[str], skipped: list[Skip]) -> Iterator[object]:
        """Yield the closed markets of these ids, and of the others those listed as open. A page may leave ids out: they
        are requested again until none comes. An id that the venue refuses is skipped.
        """
        left = ids
        for closed in ("true", "false"):
            before = None
            while left and left != before:
                done = set[str]()
                for part, payloads in _ask_in_parts(left, partial(self._read_markets, closed=closed)):
                    if payloads is None:
                        skipped.append(Skip("resolution", part[0], "the venue refuses to be asked about its id"))
                        done.update(part)
                        continue
                    yield from payloads
                    done.update(payload_id(payload) for payload in payloads)
                before, left = left, [market_id for market_id in left if market_id not in done]

    def _read_markets(self, ids: Sequence[str], *, closed: str) -> list[object]:
        """Return the listed markets of these ids, from the second list where the first is gone."""
        params = [*(("id", market_id) for market_id in ids), ("closed", closed), ("limit", str(len(ids)))]
        path, other = self._market_lists
        try:
            answer = self._client.get(f"{self._gamma_url}{path}", params)
        except RequestRefusal as refusal:
            if refusal.status not in _GONE:
                raise
            path, other = other, path
            answer = self._client.get(f"{self._gamma_url}{path}", params)
            self._market_lists = (path, other)
        url, payloads = f"{self._gamma_url}{path}", answer
        if path == MARKET_LISTS[0]:
            payloads = answer.get("markets") if isinstance(answer, dict) else None
        if not isinstance(payloads, list):
            raise VenueChanged(f"{url} answered no list of markets but {fields.short_repr(answer)}; update predibot")
        known = {*ids, UNKNOWN_ID}
        foreign = next((payload for payload in payloads if payload_id(payload) not in known), None)
        if foreign is not None:
            raise VenueChanged(f"{url} answered market {payload_id(foreign)}, which was not asked for; update predibot")
        return payloads

    def _read_books(self, token_ids: Sequence[str]) -> Mapping[str, Depth]:
        url = f"{self._clob_url}/books"
        books: dict[str, Depth] = {}
        for begin in range(0, len(token_ids), BOOKS_PER_REQUEST):
            asked = token_ids[begin : begin + BOOKS_PER_REQUEST]
            broken: VenueChanged | None = None
            for part, payloads in _ask_in_parts(
                asked, lambda part: self._client.post(url, [{"token_id": t} for t in part])
            ):
                if not isinstance(payloads, list | None):
                    raise VenueChanged(
                        f"{url} answered no list of books but {fields.short_repr(payloads)}; update predibot"
                    )
                if payloads is None:
                    broken = VenueChanged(f"{url} refuses to be asked about token {part[0]}; update predibot")
                    _log.warning("a book is left out: %s", broken)
                for payload in payloads or ():
                    try:
                        token, book = parse_book(payload)
                    except VenueChanged as error:
                        broken = error
                        _log.warning("a book is left out: %s", error)
                    else:
                        books[token] = book
            if broken is not None and not books:
                raise broken
        return books


def _ask_in_parts(ids: Sequence[str], ask: Callable[[Sequence[str]], _T]) -> Iterator[tuple[Sequence[str], _T | None]]:
    """Yield the answers about ids, in halves where they are refused together, and None about an id refused alone.

    Raises `RequestRefusal` if the reason is no id, or most ids are refused.
    """
    parts, alone = [ids], 0
    while parts:
        part = parts.pop()
        try:
            answer = ask(part)
        except RequestRefusal as refusal:
            alone += len(part) == 1
            if refusal.status not in _REFUSES_AN_ID or alone > max(FEW_IDS, len(ids) // 2):
                raise
            if len(part) == 1:
                yield part, None
            else:
                parts += [part[len(part) // 2 :], part[: len(part) // 2]]
        else:
            yield part, answer


def default_rates(gamma_url: str, clob_url: str) -> dict[str, float]:
    """Return the venue's requests per 10 seconds by address prefix; none on this machine."""
    table = ((gamma_url, GAMMA_REQUESTS_PER_10_SECONDS), (clob_url, CLOB_REQUESTS_PER_10_SECONDS))
    return {f"{url}{path}": count for url, counts in table if not is_local(url) for path, count in counts.items()}


def _is_reversed(known: MarketRef, listed: Sequence[str]) -> bool:
    """Return whether a market is known with the venue's second outcome first, as an import may have it."""
    return bool(known.token_ids) and known.token_ids != tuple(listed) and known.token_ids == tuple(reversed(listed))


def _fresh_quote(
    market: Market, known: Quote | None, number: int, books: Mapping[str, Depth], at: datetime
) -> Quote | None:
    """Return the fresh quote of an outcome by its number; None where nothing is quoted."""
    listed = known or Quote(at=at)
    if not market.ref.token_ids:
        return replace(known, at=at) if known else None
    book = books.get(market.ref.token_ids[number])
    bid, ask = (levels[0].price if levels else None for levels in ((book.bids, book.asks) if book else ((), ())))
    quote = replace(listed, at=at, bid=bid, ask=ask, depth=book)
    return None if replace(quote, depth=None) == Quote(at=at) else quote
