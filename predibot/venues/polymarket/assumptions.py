"""Assumptions on Polymarket's hosts, each tested with a request; see `predibot doctor --live`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from predibot.contracts import Assumption
from predibot.net.json_client import JsonClient
from predibot.venues import fields
from predibot.venues.assumptions import Hosts, Mismatch, require_objects, try_assumptions
from predibot.venues.http import order_notes
from predibot.venues.polymarket.pagination import PAGE_SIZE
from predibot.venues.polymarket.parse import (
    KNOWN_STATUSES,
    event_ids_of,
    parse_book,
    parse_event,
    payload_id,
    status_of,
    tokens_of,
)
from predibot.venues.polymarket.price_history import FINE_MINUTES

_NEVER = datetime.min.replace(tzinfo=UTC)
_OPEN_PARAMS = (("closed", "false"), ("ascending", "false"))
_DAYS = timedelta(days=2)


@dataclass(slots=True, kw_only=True)
class _PolymarketHosts(Hosts):
    gamma_url: str
    clob_url: str
    events: list[dict[str, Any]] = field(default_factory=list)
    next_cursor: object = None
    points: list[dict[str, Any]] = field(default_factory=list)

    def list_page(self, what: str, *params: tuple[str, str]) -> list[dict[str, Any]]:
        """Return a page of a keyset list, and remember its cursor."""
        page = self.answer("GET", f"{self.gamma_url}/{what}/keyset", [*params, ("limit", "500")])
        rows = require_objects(page.get(what) if isinstance(page, dict) else None, what)
        self.next_cursor = page.get("next_cursor")
        return rows

    def first_page(self) -> list[dict[str, Any]]:
        if not self.events:
            raise Mismatch("not tried: no event was listed before")
        return self.events

    def markets(self) -> list[Mapping[str, Any]]:
        inner = (market for event in self.events for market in event.get("markets") or ())
        found: list[Mapping[str, Any]] = [
            each for each in inner if isinstance(each, dict) and not each.get("closed") and tokens_of(each)
        ]
        if not found:
            raise Mismatch("not tried: no open market with tokens was listed before")
        return found


def assumptions(gamma_url: str, clob_url: str) -> Iterator[Assumption]:
    """Yield each assumption with what was seen; about fifteen requests without a key."""
    with JsonClient(takes_compressed=True) as client:
        hosts = _PolymarketHosts(client=client, gamma_url=gamma_url.rstrip("/"), clob_url=clob_url.rstrip("/"))
        yield from try_assumptions(hosts, _CHECKS)


def _check_events(hosts: _PolymarketHosts) -> str:
    hosts.events = hosts.list_page("events", ("order", "volume1wk"), *_OPEN_PARAMS)
    read = [event for each in hosts.events if (event := parse_event(each, quoted_at=_NEVER)[0]) is not None]
    if len(read) < 0.8 * len(hosts.events):
        raise Mismatch(f"{len(read)} of {len(hosts.events)} events can be read")
    return f"{len(read)} of {len(hosts.events)} events can be read"


def _check_page_size(hosts: _PolymarketHosts) -> str:
    if len(hosts.first_page()) > PAGE_SIZE:
        raise Mismatch(f"{len(hosts.events)} came where 500 were asked for")
    return f"{len(hosts.events)} came where 500 were asked for"


def _check_open(hosts: _PolymarketHosts) -> str:
    closed = [payload_id(each) for each in hosts.first_page() if each.get("closed")]
    if closed:
        raise Mismatch(f"{len(closed)} are closed, such as {closed[0]}")
    return "none of them is closed"


def _check_order(hosts: _PolymarketHosts) -> str:
    volumes = [fields.volume_or_none(each.get("volume1wk")) for each in hosts.first_page()]
    stated = [each for each in volumes if each is not None]
    if not stated:
        raise Mismatch("no event states a volume of a week")
    lacking = len(volumes) - len(stated)
    return "; ".join([f"{lacking} of {len(volumes)} state no volume of a week", *order_notes(stated)])


def _check_cursor(hosts: _PolymarketHosts) -> str:
    if not hosts.next_cursor and len(hosts.first_page()) < PAGE_SIZE:
        return f"the list has one page of {len(hosts.events)}, so it was not tried"
    if not hosts.next_cursor:
        raise Mismatch("a full page has no next_cursor")
    first = {payload_id(each) for each in hosts.events}
    cursor = str(hosts.next_cursor)
    again = hosts.list_page("events", ("order", "volume1wk"), *_OPEN_PARAMS, ("after_cursor", cursor))
    if payload_id(again[0]) in first or hosts.next_cursor == cursor:
        raise Mismatch("the next page is the first one again, or names the same cursor")
    return f"the next page begins with {payload_id(again[0])}"


def _check_event(hosts: _PolymarketHosts) -> str:
    asked = payload_id(hosts.first_page()[0])
    event, _ = parse_event(hosts.answer("GET", f"{hosts.gamma_url}/events/{asked}"), quoted_at=_NEVER)
    if event is None or event.id != asked or not event.markets:
        raise Mismatch(f"asked for event {asked}, got {'none that can be read' if event is None else event.id}")
    return f"event {asked} with {len(event.markets)} markets"


def _check_markets_by_id(hosts: _PolymarketHosts) -> str:
    asked = [payload_id(each) for each in hosts.markets()[:3]]
    rows = hosts.list_page("markets", *(("id", each) for each in asked), ("closed", "false"))
    if sorted(map(payload_id, rows)) != sorted(asked):
        raise Mismatch(f"asked for {', '.join(asked)}, got {', '.join(map(payload_id, rows[:5]))}")
    return f"asked for {len(asked)}, got these"


def _check_markets_of_events(hosts: _PolymarketHosts) -> str:
    rows = hosts.list_page("markets", ("order", "volumeNum"), *_OPEN_PARAMS)
    named = sum(bool(event_ids_of(each)) for each in rows)
    if not named:
        raise Mismatch("no market names its event")
    return f"{named} of {len(rows)} markets name their event"


def _check_settlements(hosts: _PolymarketHosts) -> str:
    rows = hosts.list_page("markets", ("closed", "true"))
    still_open = [payload_id(each) for each in rows if not each.get("closed")]
    if still_open:
        raise Mismatch(f"{len(still_open)} are open, such as {still_open[0]}")
    unknown = {status for each in rows if (status := status_of(each)) not in KNOWN_STATUSES}
    if unknown:
        raise Mismatch(f"umaResolutionStatus is {', '.join(sorted(unknown))[:80]}, which is taken for pending")
    return f"{len(rows)} closed markets, statuses as known"


def _check_old_list(hosts: _PolymarketHosts) -> str:
    asked = payload_id(hosts.markets()[0])
    try:
        rows = hosts.answer("GET", f"{hosts.gamma_url}/markets", [("id", asked), ("closed", "false")])
    except Mismatch as gone:
        if not gone.status:
            raise
        return f"{gone}; nothing needs it while the other list answers"
    return f"it still answers, {len(rows)} of 1"


def _check_books(hosts: _PolymarketHosts) -> str:
    token = tokens_of(hosts.markets()[0])[0]
    books = [parse_book(each) for each in hosts.answer("POST", f"{hosts.clob_url}/books", body=[{"token_id": token}])]
    if [each for each, _ in books] != [token]:
        raise Mismatch(f"{len(books)} books, not that of the token asked for")
    return "the book of the token asked for"


def _check_history(hosts: _PolymarketHosts) -> str:
    token = tokens_of(hosts.markets()[0])[0]
    params = [("market", token), ("interval", "max"), ("fidelity", "720")]
    hosts.points = hosts.answer("GET", f"{hosts.clob_url}/prices-history", params)["history"]
    return _count_points(hosts.points)


def _check_window(hosts: _PolymarketHosts) -> str:
    if not hosts.points:
        raise Mismatch("not tried: there was no point before")
    token, last = tokens_of(hosts.markets()[0])[0], fields.unix_instant(hosts.points[-1]["t"])
    bounds = (last - _DAYS, last)
    params = [(name, str(int(at.timestamp()))) for name, at in zip(("startTs", "endTs"), bounds, strict=True)]
    params += [("market", token), ("fidelity", str(FINE_MINUTES))]
    points = hosts.answer("GET", f"{hosts.clob_url}/prices-history", params)["history"]
    said = _count_points(points)
    # Points outside, such as the appended point of now, are dropped when prices are read.
    inside = sum(bounds[0] <= fields.unix_instant(each["t"]) <= last for each in points)
    if not inside:
        raise Mismatch(f"none of {said} is of the window that was asked for")
    return f"{inside} of {said} are of two days"


def _count_points(points: list[dict[str, Any]]) -> str:
    if not points or not all(0.0 <= float(each["p"]) <= 1.0 and each["t"] > 0 for each in points):
        raise Mismatch(f"{len(points)} points, not all with a time and a price")
    return f"{len(points)} points"


_CHECKS: Mapping[str, Callable[[_PolymarketHosts], str]] = {
    "events are listed by keyset": _check_events,
    "a page holds at most 100": _check_page_size,
    "closed=false lists what is open": _check_open,
    "volume1wk is stated, its order a hint": _check_order,
    "after_cursor leads on": _check_cursor,
    "an event is read by id": _check_event,
    "markets are listed by id": _check_markets_by_id,
    "markets name their events": _check_markets_of_events,
    "settlements and their statuses": _check_settlements,
    "the old list of markets": _check_old_list,
    "order books by token": _check_books,
    "price history by token": _check_history,
    "price history of a window": _check_window,
}
