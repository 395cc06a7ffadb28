"""The Manifold venue: markets, their bets and their resolutions; reading only, as of now."""

import math
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from predibot.contracts import ResolutionPage
from predibot.domain.event import Event, EventPage, MarketRef, Skip
from predibot.domain.price import SIDES, Instrument, PricePath, PricePoint, Quote
from predibot.domain.resolution import Resolution
from predibot.errors import UsageError, VenueChanged, VenueError, VenueUnavailable
from predibot.venues import fields
from predibot.venues.http import NO_SUCH_OBJECT, LiveVenue, RequestRefusal, is_local, order_notes
from predibot.venues.manifold.bets import manifold_price
from predibot.venues.manifold.parse import contract_of, parse_event, parse_resolutions, payload_id, skip_reason

PAGE_SIZE = 100
LARGEST_OFFSET = 1_000
"""The list cannot be read beyond it; it begins with the day's highest volumes."""
BETS_A_PAGE = 1_000
MAX_BET_PAGES = 500
REQUESTS_PER_10_SECONDS = {"": 500 / 6}
MAX_KEPT_CONTRACTS = 256
MAX_KEPT_POINTS = 500_000
FEW_MARKETS = 5
"""So many markets of a page may be unreadable, or half of it; more are the venue's fault."""
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class _Bets:
    since: datetime
    """The window's start, excluded."""
    until: datetime
    """The window's end, included."""
    points: Mapping[str | None, tuple[PricePoint, ...]]
    """By answer, None for a binary market; oldest first."""

    @property
    def size(self) -> int:
        return sum(map(len, self.points.values()))


class Manifold(LiveVenue):
    """The live venue; thread-safe. Errors are those of `contracts.Venue`."""

    name = "manifold"

    def __init__(self, *, url: str, **options: Any) -> None:
        """Open a client for a host, without `/v0`, with the options of `LiveVenue`. The list's deadline is for each
        page with its markets. `requests_per_10_seconds` defaults to the venue's limits, and to none on this machine.
        """
        self._url = f"{url.rstrip('/')}/v0"
        own = {} if is_local(url) else {f"{self._url}{path}": count for path, count in REQUESTS_PER_10_SECONDS.items()}
        super().__init__(**{"requests_per_10_seconds": own, **options})
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _Bets] = OrderedDict()
        self._reading: dict[str, threading.Lock] = {}

    def events(self, as_of: datetime, *, enough: Callable[[Sequence[Event]], bool] | None = None) -> EventPage:
        """Return the open markets with the day's highest volumes, as events. The venue answers for now, whatever
        `as_of` says. Markets that are not played, such as polls, are counted by kind in a note.
        """
        events: list[Event] = []
        skipped: list[Skip] = []
        unplayed_counts: dict[str, int] = {}
        complete = False
        for payloads, reasons, failed, complete in self._read_pages():
            quoted_at = self._clock()
            skipped += [Skip("event", contract, str(error)) for contract, error in failed.items()]
            for reason in reasons:
                unplayed_counts[reason] = unplayed_counts.get(reason, 0) + 1
            for payload in payloads:
                event, skips = parse_event(payload, quoted_at=quoted_at)
                skipped.extend(skips)
                # It may have closed since it was listed.
                events.extend([event] if event is not None and not event.closed else [])
            if not complete and enough is not None and enough(events):
                break
        notes = tuple(f"{count} listed are not played: {reason}" for reason, count in unplayed_counts.items())
        odd = order_notes([event.volume_24h_usd for event in events])
        return EventPage(tuple(events), tuple(skipped), complete, (*notes, *odd))

    def _raw_pages(self) -> Iterator[list[object]]:
        for payloads, _, failed, _ in self._read_pages():
            for error in failed.values():
                raise error
            yield payloads

    def event(self, event_id: str, as_of: datetime) -> Event:
        """Return a market, open or closed, as an event as of now."""
        payload = self._read_market(event_id)
        if payload is None:
            raise UsageError(f"{self.name} knows no event {event_id[:100]!r}; `predibot select` shows the ids")
        if (reason := skip_reason(payload)) is not None:
            raise UsageError(f"event {event_id} cannot be played: {reason}; `predibot select` shows others")
        event, skips = parse_event(payload, quoted_at=self._clock())
        if event is None:
            raise VenueChanged(f"{self.name}: event {event_id} cannot be read: {skips[0].reason}; update predibot")
        return event

    def price_path(self, instrument: Instrument, *, start: datetime, until: datetime) -> PricePath:
        """Return the price after each bet with start < at <= until, oldest first; NO is 1 less YES. A limit order has
        the price of its placing, and a bet on one of several answers that add up to one moves the others. Bets that
        were cancelled, not filled, or are redemptions move nothing.
        """
        try:
            return PricePath(instrument, self._price_points(instrument.id, start, until))
        except UsageError:
            return PricePath(instrument)

    def raw_history(self, token_id: str, start: datetime, until: datetime) -> list[dict[str, object]]:
        """Return `{"t", "p"}` points of a token with start < t <= until, made from bets."""
        return [{"t": point.at.timestamp(), "p": point.price} for point in self._price_points(token_id, start, until)]

    def quotes(self, event: Event) -> Mapping[str, Quote]:
        """Return the displayed chance of each of the event's markets that is still open."""
        fresh = self.event(event.id, self._clock())
        wanted = {market.id for market in event.markets}
        return {
            market.id: market.quote
            for market in fresh.markets
            if market.id in wanted and not market.closed and not fresh.closed and market.quote is not None
        }

    def resolutions(self, markets: Sequence[MarketRef], *, as_of: datetime) -> ResolutionPage:
        """Return what these markets paid, if they are settled by the instant. A settlement counts from the venue's
        instant, else from our first sight of it: `as_of` if that is less than 15 minutes ago.
        """
        found: dict[str, tuple[Resolution, ...]] = {}
        skipped: list[Skip] = []
        by_contract: dict[str, list[str]] = {}
        for ref in markets:
            try:
                by_contract.setdefault(contract_of(ref.id)[0], []).append(ref.id)
            except ValueError as error:
                skipped.append(Skip("resolution", ref.id, str(error)))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            payloads, failed = self._read_markets(pool, [*by_contract])
        for contract, failure in failed.items():
            skipped += [Skip("resolution", name, str(failure)) for name in by_contract[contract]]
        for contract, payload in payloads.items():
            asked = by_contract[contract]
            if payload is None:
                skipped += [Skip("resolution", name, "the venue has no such market any more") for name in asked]
                continue
            settled, unread = parse_resolutions(payload, first_seen_at=self._first_seen_at(as_of))
            whole = unread.get(contract)
            for name in asked:
                resolution, reason = settled.get(name), unread.get(name, whole)
                if reason is not None:
                    skipped.append(Skip("resolution", name, reason))
                elif resolution is not None and max(resolution.effective_at, resolution.settled_at) <= as_of:
                    found[name] = (resolution,)
        return ResolutionPage(found, tuple(skipped))

    def _read_pages(self) -> Iterator[tuple[list[object], list[str], Mapping[str, VenueError], bool]]:
        """Yield each page of open markets: the markets, why others are not played, errors by id, and whether it ends.
        The list shows neither answers nor descriptions, so each market is requested.
        """
        url = f"{self._url}/search-markets"
        fixed = [("term", ""), ("filter", "open"), ("sort", "24-hour-vol"), ("limit", str(PAGE_SIZE))]
        offset, seen = 0, set[str]()
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            while offset <= LARGEST_OFFSET:
                # A deadline for each page: at the venue's rate limit, all take minutes.
                until = self._client.until(self._list_deadline_seconds)
                listed = self._client.get(url, [*fixed, ("offset", str(offset))], until=until)
                rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
                if not isinstance(listed, list) or (not rows and any(row is not None for row in listed)):
                    raise VenueChanged(
                        f"{url} answered no list of markets but {fields.short_repr(listed)}; update predibot"
                    )
                if rows and (first := payload_id(rows[0])) in seen and all(payload_id(row) in seen for row in rows):
                    raise VenueChanged(f"a page of the list is of {first} again: the venue ignores offset")
                fresh = [row for row in rows if payload_id(row) not in seen]
                seen |= {payload_id(row) for row in rows}
                reasons = [skip_reason(row) for row in fresh]
                played = [payload_id(row) for row, reason in zip(fresh, reasons, strict=True) if reason is None]
                reasons += ["a row is no object"] * (len(listed) - len(rows))
                whole, failed = self._read_markets(pool, played, until=until)
                # A market may be taken down after it was listed.
                payloads = [payload for payload in whole.values() if payload is not None]
                reasons += ["it was taken down since"] * (len(whole) - len(payloads))
                yield payloads, [reason for reason in reasons if reason is not None], failed, not listed
                if not listed:
                    return
                # A page may be short; only an empty one is the end.
                offset += len(listed)

    def _read_markets(
        self, pool: ThreadPoolExecutor, contracts: Sequence[str], *, until: float = math.inf
    ) -> tuple[dict[str, object | None], dict[str, VenueError]]:
        """Return the markets of a page, and why some cannot be read.

        Raises `VenueError` for half, or more than `FEW_MARKETS`.
        """

        def ask(contract: str) -> object | None:
            try:
                return self._read_market(contract, until=until)
            except VenueError as error:
                return error

        answers = dict(zip(contracts, pool.map(ask, contracts), strict=True))
        failed = {contract: answer for contract, answer in answers.items() if isinstance(answer, VenueError)}
        if len(failed) > min(FEW_MARKETS, len(contracts) // 2):
            raise next(iter(failed.values()))
        return {contract: answer for contract, answer in answers.items() if contract not in failed}, failed

    def _read_market(self, contract: str, *, until: float = math.inf) -> object | None:
        try:
            contract_of(contract)
            url = f"{self._url}/market/{contract}"
            payload = self._client.get(url, until=until)
        except ValueError:
            return None
        except RequestRefusal as refusal:
            if refusal.status in NO_SUCH_OBJECT:
                return None
            raise
        if payload_id(payload) != contract:
            raise VenueChanged(f"asked for market {contract}, got {fields.short_repr(payload)}; update predibot")
        return payload

    def _price_points(self, token_id: str, start: datetime, until: datetime) -> tuple[PricePoint, ...]:
        name, _, side = token_id.rpartition("-")
        try:
            contract, answer = contract_of(name)
        except ValueError:
            side = ""
        if side not in SIDES:
            raise UsageError(f"{token_id[:100]!r} is not a token of {self.name}; one ends in -YES or -NO")
        points = self._bets_in_window(contract, start, until).points.get(answer, ())
        first = bisect_right(points, start, key=lambda point: point.at)
        last = bisect_right(points, until, key=lambda point: point.at)
        asked = points[first:last]
        return asked if side == "YES" else tuple(PricePoint(point.at, 1.0 - point.price) for point in asked)

    def _bets_in_window(self, contract: str, start: datetime, until: datetime) -> _Bets:
        """Return a contract's prices that cover a window; its sides and answers share one reading."""
        with self._lock:
            reading = self._reading.setdefault(contract, threading.Lock())
        with reading:
            kept = self._kept.get(contract)
            if kept is None or kept.since > start or kept.until < until:
                kept = self._read_bets(contract, start)
                with self._lock:
                    self._kept[contract] = kept
                    while len(self._kept) > 1 and (
                        len(self._kept) > MAX_KEPT_CONTRACTS
                        or sum(each.size for each in self._kept.values()) > MAX_KEPT_POINTS
                    ):
                        self._kept.popitem(last=False)
            return kept

    def _read_bets(self, contract: str, start: datetime) -> _Bets:
        """Read a contract's bets, latest first, back to an instant. An older order that was filled later may be missed:
        the bet that filled it has that price.
        """
        url, read_at = f"{self._url}/bets", self._clock()
        priced: list[tuple[datetime, str | None, float]] = []
        before, seen = "", set[str]()
        for _ in range(MAX_BET_PAGES):
            query = [("contractId", contract), ("limit", str(BETS_A_PAGE)), *([("before", before)] if before else [])]
            # These bets move the other answers, and the venue leaves them out by default.
            query.append(("includeZeroShareRedemptions", "true"))
            try:
                rows = self._client.get(url, query)
            except RequestRefusal as refusal:
                if refusal.status in NO_SUCH_OBJECT:
                    raise VenueUnavailable(f"{refusal}; the market may be gone") from refusal
                raise
            if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                raise VenueChanged(f"{url} answered no list of bets but {fields.short_repr(rows)}; update predibot")
            if not rows:
                return _make_bets(priced, datetime.min.replace(tzinfo=UTC), read_at)
            before = str(rows[-1].get("id"))
            if before in seen:
                raise VenueChanged(f"{url} answered bet {before[:40]!r} twice: it ignores before; update predibot")
            seen.add(before)
            priced += [row for each in rows if (row := _parse_bet(each, contract)) is not None]
            if _bet_instant(rows[-1]) <= start:
                return _make_bets(priced, start, read_at)
        raise VenueUnavailable(f"{url}: {MAX_BET_PAGES} pages of bets of {contract} and no end; ask for fewer days")


def _parse_bet(bet: Mapping[str, Any], contract: str) -> tuple[datetime, str | None, float] | None:
    """Return when a bet moved which answer to what price; None where it moved nothing.

    Raises `VenueChanged` if it cannot be read, because a path without it would be wrong.
    """
    if bet.get("contractId") != contract:
        raise VenueChanged(f"asked for bets of {contract}, got one of {fields.short_repr(bet.get('contractId'))}")
    try:
        moved, stated = manifold_price(bet), bet.get("answerId")
        return None if moved is None else (moved[0], None if stated is None else contract_of(stated)[0], moved[1])
    except (ValueError, AttributeError) as error:
        raise VenueChanged(f"bet {fields.short_repr(bet.get('id'))} of {contract} cannot be read: {error}") from error


def _bet_instant(bet: Mapping[str, Any]) -> datetime:
    try:
        return fields.unix_instant(fields.require_number(bet.get("createdTime")) / 1000)
    except ValueError as error:
        raise VenueChanged(
            f"bet {fields.short_repr(bet.get('id'))} has no createdTime: {error}; update predibot"
        ) from error


def _make_bets(priced: Sequence[tuple[datetime, str | None, float]], since: datetime, until: datetime) -> _Bets:
    """Return the points by answer, oldest first; of two at one instant the last made counts."""
    points: dict[str | None, dict[datetime, float]] = {}
    # They came latest first.
    for at, answer, price in sorted(reversed(priced), key=lambda row: row[0]):
        points.setdefault(answer, {})[at] = price
    paths = {answer: tuple(PricePoint(at, price) for at, price in path.items()) for answer, path in points.items()}
    return _Bets(since, until, paths)
