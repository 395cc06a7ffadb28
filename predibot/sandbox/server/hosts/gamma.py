"""Polymarket's Gamma as a host of the sandbox: lists, filters, cursors and single objects, with its traps."""

import base64
import binascii
import json
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import datetime

from predibot.sandbox.server.hosts.gamma_payload import VOLUME_WINDOWS, liquidity_usd, tag_ids
from predibot.sandbox.server.hosts.snapshot import Snapshot
from predibot.sandbox.server.reply import HttpReply, Query, RequestDenial, error_reply, whole_number
from predibot.sandbox.world.calendar import minute_of
from predibot.sandbox.world.world import Volume

LARGEST_PAGE = 100
DEFAULT_PAGE = 20
LARGEST_OFFSET = 2_000

Key = tuple[float, ...]
"""What a list is sorted by: (value is missing, value or its negative, event number, market index)."""

_WINDOWS = {**VOLUME_WINDOWS, "volume": "total_usd"}
_OTHER_ORDERS = ("id", "endDate", "startDate", "createdAt", "liquidity")
_MARKET_ORDERS = {"volumeNum": "volume", "liquidityNum": "liquidity"}
"""Further orders of markets, by the order of events that each means."""
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
        places = list(_find_places(snapshot, "id", [parts[1]], is_markets=is_markets))
        if not places:
            return error_reply(404, "id not found", kind="not found error")
        return HttpReply(200, _object_json(snapshot, places[0], is_markets=is_markets))
    try:
        return _list_reply(snapshot, query, is_markets=is_markets, is_keyset=len(parts) == 2)
    except RequestDenial as refused:
        return refused.reply


def _list_reply(snapshot: Snapshot, query: Query, *, is_markets: bool, is_keyset: bool) -> HttpReply:
    keys = _sort_keys(snapshot, query, is_markets=is_markets)
    limit = min(_parse_whole_number(query, "limit", DEFAULT_PAGE), LARGEST_PAGE)
    if limit < 1:
        raise _refusal("limit must be at least 1")
    start = _start_after(query, keys) if is_keyset else _parse_offset(query)
    page = keys[start : start + limit]
    places = [(int(key[2]), int(key[3])) for key in page]
    body = b"[" + b",".join(_object_json(snapshot, place, is_markets=is_markets) for place in places) + b"]"
    if not is_keyset:
        return HttpReply(200, body)
    name = b"markets" if is_markets else b"events"
    cursor = b""
    if page and start + limit < len(keys):
        cursor = b',"next_cursor":"' + _make_cursor(query, page[-1]) + b'"'
    return HttpReply(200, b'{"' + name + b'":' + body + cursor + b"}")


def _parse_offset(query: Query) -> int:
    offset = _parse_whole_number(query, "offset", 0)
    if not 0 <= offset <= LARGEST_OFFSET:
        raise _refusal(f"offset must be between 0 and {LARGEST_OFFSET}; use /keyset")
    return offset


def _sort_keys(snapshot: Snapshot, query: Query, *, is_markets: bool) -> list[Key]:
    filters = tuple(
        (name, tuple(query[name]))
        for name in sorted(query)
        if name not in {"after_cursor", "limit", "offset", "cursor"}
    )
    keys = snapshot.sorted_keys.get((is_markets, filters))
    if keys is None:
        order = _parse_order(query, is_markets=is_markets)
        sign = 1.0 if _parse_flag(query, "ascending") is not False else -1.0
        places = [
            place for place in _select_places(snapshot, query, is_markets=is_markets) if _fits(snapshot, place, query)
        ]
        keys = sorted(_sort_key(snapshot, place, order, sign) for place in places)
        snapshot.sorted_keys[is_markets, filters] = keys
    return keys


def _select_places(snapshot: Snapshot, query: Query, *, is_markets: bool) -> Iterable[tuple[int, int]]:
    """Return (event number, market index) of everything a query names or selects; -1 is a whole event."""
    closed = _parse_flag(query, "closed")
    named = [name for name in (_MARKET_IDS if is_markets else _EVENT_IDS) if name in query]
    if named:
        found = [set(_find_places(snapshot, name, query[name], is_markets=is_markets)) for name in named]
        return [place for place in set.intersection(*found) if closed in {None, _is_closed(snapshot, place)}]
    if not is_markets:
        # As at Gamma, a list of events without `closed` contains the closed ones.
        return [(number, -1) for number in snapshot.numbers(closed=closed is not False)]
    numbers = snapshot.world.maybe_open_numbers(snapshot.minute) if closed is False else snapshot.numbers(closed=None)
    places = [(number, index) for number in numbers for index in range(_market_count(snapshot, number))]
    return [place for place in places if closed in {None, _is_closed(snapshot, place)}]


def _market_count(snapshot: Snapshot, number: int) -> int:
    return 1 if snapshot.is_named(number) else len(snapshot.state(number).markets)


def _is_closed(snapshot: Snapshot, place: tuple[int, int]) -> bool:
    state = snapshot.state(place[0])
    return state.is_closed if place[1] < 0 else state.markets[place[1]].is_closed


def _find_places(
    snapshot: Snapshot, name: str, values: Sequence[str], *, is_markets: bool
) -> Iterable[tuple[int, int]]:
    """Yield the places of objects by id, slug, condition or token; unknown ones are left out."""
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
        if place is not None and snapshot.is_listed(place[0]) and place[1] < _market_count(snapshot, place[0]):
            yield place


def _fits(snapshot: Snapshot, place: tuple[int, int], query: Query) -> bool:
    """Return whether an object passes the filters on end, volume and tags; one without an end fails any on it."""
    state = snapshot.state(place[0])
    end_minute, volume = _end_and_volume(snapshot, place)
    for name, sign in (("end_date_max", 1), ("end_date_min", -1)):
        if name in query and (end_minute is None or sign * end_minute > sign * _parse_minute(query[name][-1])):
            return False
    if "volume_min" in query and volume.total_usd < _parse_decimal(query["volume_min"][-1]):
        return False
    slugs = [slug for _, slug in state.plan.wording.tags]
    ids = [tag_ids()[slug] for slug in slugs] if "tag_id" in query or "exclude_tag_id" in query else []
    return not (
        ("tag_slug" in query and query["tag_slug"][-1] not in slugs)
        or ("tag_id" in query and query["tag_id"][-1] not in ids)
        or any(excluded in ids for excluded in query.get("exclude_tag_id", ()))
    )


def _end_and_volume(snapshot: Snapshot, place: tuple[int, int]) -> tuple[int | None, Volume]:
    number, index = place
    state = snapshot.state(number)
    is_whole = index < 0 or snapshot.is_named(number)
    end_minute = state.plan.end_minute if index < 0 else state.markets[index].plan.end_minute
    return end_minute, state.volume if is_whole else state.markets[index].volume


def _parse_order(query: Query, *, is_markets: bool) -> str:
    """Return the order of a query; unknown names and snake_case are refused."""
    order = query.get("order", ("id",))[-1]
    if is_markets:
        order = _MARKET_ORDERS.get(order, order)
    if order not in _WINDOWS and order not in _OTHER_ORDERS:
        raise _refusal(f"order fields are not valid: {order}")
    return order


def _sort_key(snapshot: Snapshot, place: tuple[int, int], order: str, sign: float) -> Key:
    """Return the sort key of an object; objects without the value come last in both directions."""
    number, index = place
    state = snapshot.state(number)
    end_minute, volume = _end_and_volume(snapshot, place)
    value: float | None
    if order in _WINDOWS:
        value = getattr(volume, _WINDOWS[order])
    elif order == "endDate":
        value = end_minute
    elif order == "liquidity":
        value = liquidity_usd(state.plan, 1.0 if index < 0 else state.markets[index].plan.share)
    else:
        value = state.plan.born_minute if order != "id" else number * 100 + max(index, 0)
    return (float(value is None), 0.0 if value is None else sign * value, float(number), float(index))


def _object_json(snapshot: Snapshot, place: tuple[int, int], *, is_markets: bool) -> bytes:
    return snapshot.market_json(*place) if is_markets else snapshot.event_json(place[0])


def _make_cursor(query: Query, key: Key) -> bytes:
    return base64.urlsafe_b64encode(json.dumps([query.get("order", ("id",))[-1], key]).encode()).rstrip(b"=")


def _start_after(query: Query, keys: list[Key]) -> int:
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


def _parse_flag(query: Query, name: str) -> bool | None:
    if name not in query:
        return None
    text = query[name][-1].lower()
    if text not in {"true", "false"}:
        raise _refusal(f"{name} must be true or false")
    return text == "true"


def _parse_whole_number(query: Query, name: str, default: int) -> int:
    return whole_number(query, name, default, _refusal(f"{name} must be a whole number").reply)


def _parse_decimal(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _refusal(f"not a number: {text}") from None


def _parse_minute(text: str) -> int:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise _refusal(f"not an instant: {text}") from None
    if instant.tzinfo is None:
        raise _refusal(f"an instant needs its zone: {text}")
    return minute_of(instant)


def _refusal(message: str) -> RequestDenial:
    return RequestDenial(error_reply(422, message, kind="validation error"))
