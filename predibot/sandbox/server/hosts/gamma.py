"""The Gamma dialect: lists, filters, cursors and single objects, with the traps of the real one."""

import base64
import binascii
import json
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import datetime

from predibot.sandbox.server.hosts.gamma_payload import liquidity_usd, tag_ids
from predibot.sandbox.server.hosts.snapshot import Snapshot
from predibot.sandbox.server.reply import HttpReply, Query, RequestDenied, error_reply, whole_number
from predibot.sandbox.world.calendar import minute_of
from predibot.sandbox.world.volumes import Volume

LARGEST_PAGE = 100
DEFAULT_PAGE = 20
LARGEST_OFFSET = 2_000

Key = tuple[float, ...]
"""(value is missing, value or its negative, event number, market index): what a list is sorted by."""

_WINDOWS = {
    "volume24hr": "day_usd",
    "volume1wk": "week_usd",
    "volume1mo": "month_usd",
    "volume1yr": "year_usd",
    "volume": "total_usd",
}
_OTHER_ORDERS = ("id", "endDate", "startDate", "createdAt", "liquidity")
_MARKET_ORDERS = {"volumeNum": "volume", "liquidityNum": "liquidity"}
"""Orders that markets have beside those of events, and what they mean."""
_EVENT_IDS = ("id", "slug")
_MARKET_IDS = ("id", "slug", "condition_ids", "clob_token_ids")


def answer_gamma(snapshot: Snapshot, path: str, query: Query) -> HttpReply:
    """Return Gamma's reply to a GET of `path`, such as `/events/keyset`."""
    parts = path.strip("/").split("/")
    if parts == ["status"]:
        return HttpReply(200, b"OK", content_type="text/plain")
    if parts[0] not in {"events", "markets"} or len(parts) > 2:
        return error_reply(404, "not found", kind="not found error")
    is_markets = parts[0] == "markets"
    if len(parts) == 2 and parts[1] != "keyset":
        places = list(_known_places(snapshot, "id", [parts[1]], is_markets=is_markets))
        if not places:
            return error_reply(404, "id not found", kind="not found error")
        return HttpReply(200, _json(snapshot, places[0], is_markets=is_markets))
    try:
        return _list(snapshot, query, is_markets=is_markets, is_keyset=len(parts) == 2)
    except RequestDenied as refused:
        return refused.reply


def _list(snapshot: Snapshot, query: Query, *, is_markets: bool, is_keyset: bool) -> HttpReply:
    """Return a page of a list."""
    keys = _sorted_keys(snapshot, query, is_markets=is_markets)
    limit = min(_whole_number(query, "limit", DEFAULT_PAGE), LARGEST_PAGE)
    if limit < 1:
        raise _refusal("limit must be at least 1")
    start = _start_after(query, keys) if is_keyset else _offset(query)
    page = keys[start : start + limit]
    places = [(int(key[2]), int(key[3])) for key in page]
    body = b"[" + b",".join(_json(snapshot, place, is_markets=is_markets) for place in places) + b"]"
    if not is_keyset:
        return HttpReply(200, body)
    name = b"markets" if is_markets else b"events"
    cursor = b""
    if page and start + limit < len(keys):
        cursor = b',"next_cursor":"' + _cursor(query, page[-1]) + b'"'
    return HttpReply(200, b'{"' + name + b'":' + body + cursor + b"}")


def _offset(query: Query) -> int:
    """Return the offset of an old-style page, which the venue limits."""
    offset = _whole_number(query, "offset", 0)
    if not 0 <= offset <= LARGEST_OFFSET:
        raise _refusal(f"offset must be between 0 and {LARGEST_OFFSET}; use /keyset")
    return offset


def _sorted_keys(snapshot: Snapshot, query: Query, *, is_markets: bool) -> list[Key]:
    """Return the keys of everything a query lists, in its order."""
    asked = tuple(
        (name, tuple(query[name]))
        for name in sorted(query)
        if name not in {"after_cursor", "limit", "offset", "cursor"}
    )
    keys = snapshot.sorted_keys.get((is_markets, asked))
    if keys is None:
        order = _order(query, is_markets=is_markets)
        sign = 1.0 if _flag(query, "ascending") is not False else -1.0
        places = [place for place in _places(snapshot, query, is_markets=is_markets) if _fits(snapshot, place, query)]
        keys = sorted(_key(snapshot, place, order, sign) for place in places)
        snapshot.sorted_keys[is_markets, asked] = keys
    return keys


def _places(snapshot: Snapshot, query: Query, *, is_markets: bool) -> Iterable[tuple[int, int]]:
    """Return (event number, market index) of what a query asks for by name or by being closed; -1 for a whole event."""
    closed = _flag(query, "closed")
    named = [name for name in (_MARKET_IDS if is_markets else _EVENT_IDS) if name in query]
    if named:
        found = [set(_known_places(snapshot, name, query[name], is_markets=is_markets)) for name in named]
        return [place for place in set.intersection(*found) if closed in {None, _is_closed(snapshot, place)}]
    if not is_markets:
        # The venue's own surprise: a list of events without `closed` holds the closed ones.
        return [(number, -1) for number in snapshot.numbers(closed=closed is not False)]
    numbers = snapshot.world.maybe_open(snapshot.minute) if closed is False else snapshot.numbers(closed=None)
    places = [(number, index) for number in numbers for index in range(_markets(snapshot, number))]
    return [place for place in places if closed in {None, _is_closed(snapshot, place)}]


def _markets(snapshot: Snapshot, number: int) -> int:
    """Return how many markets an event is listed with."""
    return 1 if snapshot.is_named(number) else len(snapshot.state(number).markets)


def _is_closed(snapshot: Snapshot, place: tuple[int, int]) -> bool:
    """Return whether an event or market has stopped trading."""
    state = snapshot.state(place[0])
    return state.is_closed if place[1] < 0 else state.markets[place[1]].is_closed


def _known_places(
    snapshot: Snapshot, name: str, values: Sequence[str], *, is_markets: bool
) -> Iterable[tuple[int, int]]:
    """Yield where the objects with these ids, slugs, conditions or tokens are; unknown ones are passed over."""
    names = snapshot.world.names
    for value in values:
        identity = value.rpartition("-")[2] if name == "slug" else value
        place: tuple[int, int] | None
        if not is_markets:
            number = names.event_of(identity)
            place = None if number is None else (number, -1)
        elif name == "condition_ids":
            place = names.condition_of(identity)
        elif name == "clob_token_ids":
            token = names.token_of(identity)
            place = None if token is None else (token.event, token.market)
            if place is not None and snapshot.is_listed(place[0]) and snapshot.is_named(place[0]):
                place = (place[0], 0)
        else:
            place = names.market_of(identity)
        if place is not None and snapshot.is_listed(place[0]) and place[1] < _markets(snapshot, place[0]):
            yield place


def _fits(snapshot: Snapshot, place: tuple[int, int], query: Query) -> bool:
    """Return whether an object passes the filters on end, volume and tags; what has no end passes no filter on it."""
    state = snapshot.state(place[0])
    end_minute, volume = _end_and_volume(snapshot, place)
    for name, sign in (("end_date_max", 1), ("end_date_min", -1)):
        if name in query and (end_minute is None or sign * end_minute > sign * _minute(query[name][-1])):
            return False
    if "volume_min" in query and volume.total_usd < _decimal(query["volume_min"][-1]):
        return False
    slugs = [slug for _, slug in state.plan.wording.tags]
    ids = [tag_ids()[slug] for slug in slugs] if "tag_id" in query or "exclude_tag_id" in query else []
    return not (
        ("tag_slug" in query and query["tag_slug"][-1] not in slugs)
        or ("tag_id" in query and query["tag_id"][-1] not in ids)
        or any(excluded in ids for excluded in query.get("exclude_tag_id", ()))
    )


def _end_and_volume(snapshot: Snapshot, place: tuple[int, int]) -> tuple[int | None, Volume]:
    """Return the stated end and the volume of an event or of one of its markets."""
    number, index = place
    state = snapshot.state(number)
    if index < 0:
        return state.plan.end_minute, state.volume
    if snapshot.is_named(number):
        return state.markets[index].plan.end_minute, state.volume
    return state.markets[index].plan.end_minute, state.markets[index].volume


def _order(query: Query, *, is_markets: bool) -> str:
    """Return what to sort by; snake_case and unknown names are refused."""
    order = query.get("order", ("id",))[-1]
    if is_markets:
        order = _MARKET_ORDERS.get(order, order)
    if order not in _WINDOWS and order not in _OTHER_ORDERS:
        raise _refusal(f"order fields are not valid: {order}")
    return order


def _key(snapshot: Snapshot, place: tuple[int, int], order: str, sign: float) -> Key:
    """Return what an object is sorted by; those without the value come last either way."""
    number, index = place
    state = snapshot.state(number)
    end_minute, volume = _end_and_volume(snapshot, place)
    value: float | None
    if order in _WINDOWS:
        is_stated = index >= 0 or order == "volume" or state.plan.states_volume
        value = getattr(volume, _WINDOWS[order]) if is_stated else None
    elif order == "endDate":
        value = end_minute
    elif order == "liquidity":
        value = liquidity_usd(state.plan, 1.0 if index < 0 else state.markets[index].plan.share)
    else:
        value = state.plan.born_minute if order != "id" else number * 100 + max(index, 0)
    return (float(value is None), 0.0 if value is None else sign * value, float(number), float(index))


def _json(snapshot: Snapshot, place: tuple[int, int], *, is_markets: bool) -> bytes:
    """Return an object's JSON."""
    return snapshot.market_json(*place) if is_markets else snapshot.event_json(place[0])


def _cursor(query: Query, key: Key) -> bytes:
    """Return the cursor that stands for everything after a key."""
    return base64.urlsafe_b64encode(json.dumps([query.get("order", ("id",))[-1], key]).encode()).rstrip(b"=")


def _start_after(query: Query, keys: list[Key]) -> int:
    """Return where the page after the request's cursor starts."""
    if "after_cursor" not in query:
        return 0
    text = query["after_cursor"][-1]
    try:
        order, key = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        after = tuple(float(part) for part in key)
    except (ValueError, TypeError, binascii.Error):
        raise _refusal("invalid after_cursor") from None
    if order != query.get("order", ("id",))[-1]:
        raise _refusal("after_cursor belongs to another order")
    return bisect_right(keys, after)


def _flag(query: Query, name: str) -> bool | None:
    """Return a parameter that is true or false, or None when it is not given."""
    if name not in query:
        return None
    text = query[name][-1].lower()
    if text not in {"true", "false"}:
        raise _refusal(f"{name} must be true or false")
    return text == "true"


def _whole_number(query: Query, name: str, default: int) -> int:
    """Return a parameter that is a whole number."""
    return whole_number(query, name, default, _refusal(f"{name} must be a whole number").reply)


def _decimal(text: str) -> float:
    """Return a parameter that is a number."""
    try:
        return float(text)
    except ValueError:
        raise _refusal(f"not a number: {text}") from None


def _minute(text: str) -> int:
    """Return the minute of an instant given as a parameter."""
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise _refusal(f"not an instant: {text}") from None
    if instant.tzinfo is None:
        raise _refusal(f"an instant needs its zone: {text}")
    return minute_of(instant)


def _refusal(message: str) -> RequestDenied:
    """Return Gamma's 422."""
    return RequestDenied(error_reply(422, message, kind="validation error"))
