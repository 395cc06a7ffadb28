"""What is assumed of Polymarket's hosts, each tried where they can be reached; see `predibot doctor --live`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from predibot.contracts import Assumption
from predibot.errors import PredibotError
from predibot.net.failures import BadAddress, BadAnswer, TryAgain
from predibot.net.json_client import JsonClient, Received
from predibot.venues.disorder import disorder
from predibot.venues.polymarket.order_book import parse_book
from predibot.venues.polymarket.pagination import PAGE_SIZE
from predibot.venues.polymarket.parse import KNOWN_STATUSES, event_ids_of, parse_event, payload_id, status_of, tokens_of

_SECONDS = 20.0
_NEVER = datetime.min.replace(tzinfo=UTC)
_OPEN = (("closed", "false"), ("ascending", "false"))


class _Broken(Exception):
    """An assumption does not hold; the text says what was seen."""


_FAILURES = (
    *(_Broken, TryAgain, BadAnswer, BadAddress, PredibotError),
    *(ValueError, LookupError, TypeError, AttributeError),
)


@dataclass(slots=True)
class _Hosts:
    """What was seen so far."""

    client: JsonClient
    gamma_url: str
    clob_url: str
    events: list[Any] = field(default_factory=list)
    next_cursor: object = None
    ends: str = ""
    """What the latest answer says of the end of its address."""

    def answer(self, method: str, url: str, params: list[tuple[str, str]] | None = None, body: object = None) -> Any:
        """Return the JSON that an address answers."""
        received = self.client.ask(method, url, seconds=_SECONDS, params=params, body=body)
        self.ends = _ends(received)
        if not received.is_success:
            raise _Broken(f"{received.asked} answered {received.status}")
        return received.json()

    def listed(self, what: str, *params: tuple[str, str]) -> list[Any]:
        """Return a page of a keyset list, and remember its cursor."""
        page = self.answer("GET", f"{self.gamma_url}/{what}/keyset", [*params, ("limit", "500")])
        rows = page.get(what) if isinstance(page, dict) else None
        if not isinstance(rows, list) or not rows:
            raise _Broken(f"no list of {what} but {str(page)[:80]!r}")
        self.next_cursor = page.get("next_cursor")
        return rows

    def markets(self) -> list[Mapping[str, Any]]:
        """Return the open markets with tokens of the events that were listed."""
        inner = (market for event in self.events if isinstance(event, dict) for market in event.get("markets") or ())
        found: list[Mapping[str, Any]] = [
            each for each in inner if isinstance(each, dict) and not each.get("closed") and tokens_of(each)
        ]
        if not found:
            raise _Broken("not tried: no open market with tokens was listed before")
        return found


def assumptions(gamma_url: str, clob_url: str) -> Iterator[Assumption]:
    """Yield each assumption with what was seen; about a dozen requests, none of which needs a key."""
    with JsonClient(takes_compressed=True) as client:
        hosts = _Hosts(client, gamma_url.rstrip("/"), clob_url.rstrip("/"))
        for name, check in _CHECKS.items():
            hosts.ends = ""
            try:
                holds, seen = True, check(hosts)
            except _FAILURES as why:
                holds, seen = False, str(why) or type(why).__name__
            yield Assumption(name, holds, f"{seen}{hosts.ends}"[:300])


def _ends(received: Received) -> str:
    said = [f"{name}: {received.headers[name]}" for name in ("deprecation", "sunset") if name in received.headers]
    return f" ({', '.join(said)})" if said else ""


def _events(hosts: _Hosts) -> str:
    hosts.events = hosts.listed("events", ("order", "volume1wk"), *_OPEN)
    read = [event for each in hosts.events if (event := parse_event(each, quoted_at=_NEVER)[0]) is not None]
    if len(read) < 0.8 * len(hosts.events):
        raise _Broken(f"{len(read)} of {len(hosts.events)} events can be read")
    return f"{len(read)} of {len(hosts.events)} events can be read"


def _page_size(hosts: _Hosts) -> str:
    if len(hosts.events) > PAGE_SIZE:
        raise _Broken(f"{len(hosts.events)} came where 500 were asked for")
    return f"{len(hosts.events)} came where 500 were asked for"


def _open(hosts: _Hosts) -> str:
    closed = [payload_id(each) for each in hosts.events if isinstance(each, dict) and each.get("closed")]
    if closed:
        raise _Broken(f"{len(closed)} are closed, such as {closed[0]}")
    return "none of them is closed"


def _order(hosts: _Hosts) -> str:
    volumes = [each.get("volume1wk") for each in hosts.events]
    stated = [float(each) for each in volumes if each is not None]
    if not stated:
        raise _Broken("no event states a volume of a week")
    lacking = len(volumes) - len(stated)
    return "; ".join([f"{lacking} of {len(volumes)} state no volume of a week", *disorder(stated)])


def _cursor(hosts: _Hosts) -> str:
    if not hosts.events:
        raise _Broken("there is no page to go on from")
    if not hosts.next_cursor and len(hosts.events) < PAGE_SIZE:
        return f"the list has one page of {len(hosts.events)}, so it was not tried"
    if not hosts.next_cursor:
        raise _Broken("a full page has no next_cursor")
    first = {payload_id(each) for each in hosts.events}
    cursor = str(hosts.next_cursor)
    again = hosts.listed("events", ("order", "volume1wk"), *_OPEN, ("after_cursor", cursor))
    if payload_id(again[0]) in first or hosts.next_cursor == cursor:
        raise _Broken("the next page is the first one again, or names the same cursor")
    return f"the next page begins with {payload_id(again[0])}"


def _by_id(hosts: _Hosts) -> str:
    asked = [payload_id(each) for each in hosts.markets()[:3]]
    rows = hosts.listed("markets", *(("id", each) for each in asked), ("closed", "false"))
    if sorted(map(payload_id, rows)) != sorted(asked):
        raise _Broken(f"asked for {', '.join(asked)}, got {', '.join(map(payload_id, rows[:5]))}")
    return f"asked for {len(asked)}, got these"


def _of_events(hosts: _Hosts) -> str:
    rows = hosts.listed("markets", ("order", "volumeNum"), *_OPEN)
    named = sum(bool(event_ids_of(each)) for each in rows)
    if not named:
        raise _Broken("no market names its event")
    return f"{named} of {len(rows)} markets name their event"


def _settled(hosts: _Hosts) -> str:
    rows = hosts.listed("markets", ("closed", "true"))
    still_open = [payload_id(each) for each in rows if not each.get("closed")]
    if still_open:
        raise _Broken(f"{len(still_open)} are open, such as {still_open[0]}")
    unknown = {status for each in rows if (status := status_of(each)) not in KNOWN_STATUSES}
    if unknown:
        raise _Broken(f"umaResolutionStatus is {', '.join(sorted(unknown))[:80]}, which is taken for pending")
    return f"{len(rows)} closed markets, statuses as known"


def _old_list(hosts: _Hosts) -> str:
    asked = payload_id(hosts.markets()[0])
    try:
        rows = hosts.answer("GET", f"{hosts.gamma_url}/markets", [("id", asked), ("closed", "false")])
    except _Broken as gone:
        return f"{gone}; nothing needs it while the other list answers"
    return f"it still answers, {len(rows)} of 1"


def _books(hosts: _Hosts) -> str:
    token = tokens_of(hosts.markets()[0])[0]
    books = [parse_book(each) for each in hosts.answer("POST", f"{hosts.clob_url}/books", body=[{"token_id": token}])]
    if [book.token_id for book in books] != [token]:
        raise _Broken(f"{len(books)} books, not that of the token asked for")
    return "the book of the token asked for"


def _history(hosts: _Hosts) -> str:
    token = tokens_of(hosts.markets()[0])[0]
    params = [("market", token), ("interval", "max"), ("fidelity", "720")]
    points = hosts.answer("GET", f"{hosts.clob_url}/prices-history", params)["history"]
    if not points or not all(0.0 <= float(each["p"]) <= 1.0 and each["t"] > 0 for each in points):
        raise _Broken(f"{len(points)} points, not all with a time and a price")
    return f"{len(points)} points"


_CHECKS: Mapping[str, Callable[[_Hosts], str]] = {
    "events are listed by keyset": _events,
    "a page holds at most 100": _page_size,
    "closed=false lists what is open": _open,
    "volume1wk is stated, its order a hint": _order,
    "after_cursor leads on": _cursor,
    "markets are listed by id": _by_id,
    "markets name their events": _of_events,
    "settlements and their statuses": _settled,
    "the old list of markets": _old_list,
    "order books by token": _books,
    "price history by token": _history,
}
