"""Polymarket's CLOB as a host of the sandbox: books, midpoints and price histories, with its traps."""

import json

import numpy as np

from predibot.sandbox.server.hosts.gamma_payload import has_tokens
from predibot.sandbox.server.hosts.snapshot import Snapshot
from predibot.sandbox.server.reply import HttpReply, Query, RequestDenial, error_reply, json_reply, whole_number
from predibot.sandbox.world.calendar import MINUTES_AN_HOUR
from predibot.sandbox.world.ids import TokenPlace
from predibot.sandbox.world.quotes import BookQuote
from predibot.sandbox.world.world import Stage

MOST_BOOKS = 500
LONGEST_RANGE_SECONDS = 15 * 86_400
FINEST_SETTLED_MINUTES = 720
MONTH_FIDELITY_MINUTES = 10
_INTERVAL_SECONDS = {"1h": 3_600, "6h": 21_600, "1d": 86_400, "1w": 604_800, "1m": 2_592_000, "max": None, "all": None}
_LEVELS = 6
_NOT_FOUND = error_reply(404, "not found")


def answer_clob(snapshot: Snapshot, path: str, query: Query, *, body: bytes | None, now_seconds: int) -> HttpReply:
    """Return the CLOB's reply to a GET, or to a POST where there is a `body`."""
    try:
        if body is not None:
            return _books_reply(snapshot, body, now_seconds) if path == "/books" else _NOT_FOUND
        if path == "/time":
            return json_reply(now_seconds)
        if path == "/book":
            return json_reply(_book(snapshot, _token_place(snapshot, query), now_seconds))
        if path == "/midpoint":
            place = _token_place(snapshot, query)
            mid = _quote(snapshot, place).mid
            if mid is None:
                return error_reply(404, "No orderbook exists for the requested token id")
            return json_reply({"mid": f"{_side_price(mid, place.side):.6g}"})
        if path == "/prices-history":
            return _history_reply(snapshot, query, now_seconds)
        return error_reply(400, "Invalid payload") if path in {"/books", "/midpoints", "/prices"} else _NOT_FOUND
    except RequestDenial as refused:
        return refused.reply


def _token_place(snapshot: Snapshot, query: Query) -> TokenPlace:
    """Return where the token of a request is; refuse a missing one, and one without a book."""
    if not (token_id := query.get("token_id", [""])[-1]):
        raise RequestDenial(error_reply(400, "Invalid token id"))
    place = _find_token(snapshot, token_id)
    if place is None or snapshot.state(place.event).markets[place.market].is_closed:
        raise RequestDenial(error_reply(404, "No orderbook exists for the requested token id"))
    return place


def _find_token(snapshot: Snapshot, token_id: str) -> TokenPlace | None:
    place = snapshot.world.names.token_of(token_id)
    if place is None or not snapshot.is_listed(place.event):
        return None
    state = snapshot.state(place.event)
    if place.side == 1 and snapshot.is_named(place.event):
        return None
    return place if place.market < len(state.markets) and has_tokens(state.plan, snapshot.minute) else None


def _quote(snapshot: Snapshot, place: TokenPlace) -> BookQuote:
    return snapshot.world.quotes(place.event, snapshot.minute)[place.market]


def _side_price(first: float, side: int) -> float:
    return first if side == 0 else round(1 - first, 6)


def _books_reply(snapshot: Snapshot, body: bytes, now_seconds: int) -> HttpReply:
    try:
        items = json.loads(body)
    except ValueError:
        return error_reply(400, "Invalid payload")
    if not isinstance(items, list) or not all(isinstance(item, dict) and "token_id" in item for item in items):
        return error_reply(400, "Invalid payload")
    if len(items) > MOST_BOOKS:
        return error_reply(400, "Payload exceeds the limit")
    places = [_find_token(snapshot, str(item["token_id"])) for item in items]
    return json_reply(
        [
            _book(snapshot, place, now_seconds)
            for place in places
            if place is not None and not snapshot.state(place.event).markets[place.market].is_closed
        ]
    )


def _book(snapshot: Snapshot, place: TokenPlace, now_seconds: int) -> dict[str, object]:
    """Return a token's book; the best bid and the best ask come last."""
    names = snapshot.world.names
    state = snapshot.state(place.event)
    market = state.markets[place.market].plan
    quote = _quote(snapshot, place)
    sides = [
        [] if best is None else _levels(snapshot, place, best=best, step=step, tick=market.tick, offset=offset)
        for best, step, offset in ((quote.bid, -market.tick, 0), (quote.ask, market.tick, _LEVELS))
    ]
    bids, asks = sides if place.side == 0 else sides[::-1]
    return {
        "market": names.condition_id(place.event, 0 if snapshot.is_named(place.event) else place.market),
        "asset_id": names.token_id(place.event, place.market, place.side),
        "timestamp": str(now_seconds * 1_000),
        "hash": names.condition_id(place.event, place.market)[2:42],
        "bids": bids[::-1],
        "asks": asks[::-1],
        "min_order_size": "5",
        "tick_size": f"{market.tick:g}",
        "neg_risk": state.plan.is_exclusive and not snapshot.is_named(place.event),
        "last_trade_price": f"{_side_price(quote.last_trade, place.side):.6g}",
    }


def _levels(
    snapshot: Snapshot, place: TokenPlace, *, best: float, step: float, tick: float, offset: int
) -> list[dict[str, str]]:
    """Return the levels of one side, best first; sizes change every hour."""
    hour = snapshot.minute // MINUTES_AN_HOUR
    sizes = snapshot.world.draws.uniform(
        f"book {hour}",
        event=place.event,
        item=place.market * 100 + offset + np.arange(_LEVELS),
        known_at_minute=hour * MINUTES_AN_HOUR,
    )
    prices = [round(best + step * level, 6) for level in range(_LEVELS)]
    return [
        {"price": f"{_side_price(price, place.side):.6g}", "size": f"{20 + 4_000 * size**3:.2f}"}
        for price, size in zip(prices, sizes.tolist(), strict=True)
        if tick / 2 < price < 1 - tick / 2
    ]


def _history_reply(snapshot: Snapshot, query: Query, now_seconds: int) -> HttpReply:
    """Return a token's price history; the last point is always now, even if the range ends earlier."""
    if not query.get("market", [""])[-1]:
        return error_reply(400, "invalid filters: 'market' is required")
    fidelity_minutes = _whole_number(query, "fidelity", 1)
    start_seconds, end_seconds = _parse_range(query, fidelity_minutes, now_seconds)
    place = _find_token(snapshot, query["market"][-1])
    if place is None:
        return json_reply({"history": []})
    market = snapshot.state(place.event).markets[place.market]
    if market.stage is Stage.SETTLED and fidelity_minutes < FINEST_SETTLED_MINUTES:
        return json_reply({"history": []})
    # The venue's points lie some seconds after the hour.
    offset = place.event % 40
    first_hour, prices = snapshot.world.price_history(
        place.event,
        place.market,
        snapshot.minute,
        since_hour=-((offset - start_seconds) // 3_600),
        until_hour=(min(end_seconds, now_seconds) - offset) // 3_600,
    )
    every_hours = max(1, fidelity_minutes // MINUTES_AN_HOUR)
    kept = [
        {"t": hour * 3_600 + offset, "p": _side_price(price, place.side)}
        for hour, price in enumerate(prices, start=first_hour)
        if hour % every_hours == 0
    ]
    now_price = _side_price(_quote(snapshot, place).shown, place.side)
    return json_reply({"history": [*kept, {"t": now_seconds, "p": now_price}]})


def _parse_range(query: Query, fidelity_minutes: int, now_seconds: int) -> tuple[int, int]:
    if "interval" in query:
        interval = query["interval"][-1]
        if interval not in _INTERVAL_SECONDS:
            raise RequestDenial(error_reply(400, f"invalid filters: 'interval' {interval}"))
        if interval == "1m" and fidelity_minutes < MONTH_FIDELITY_MINUTES:
            message = f"invalid filters: minimum 'fidelity' for '1m' range is {MONTH_FIDELITY_MINUTES}"
            raise RequestDenial(error_reply(400, message))
        length = _INTERVAL_SECONDS[interval]
        return (0 if length is None else now_seconds - length), now_seconds
    if "startTs" not in query:
        raise RequestDenial(error_reply(400, "invalid filters: 'startTs' or 'interval' is required"))
    start_seconds = _whole_number(query, "startTs", 0)
    end_seconds = _whole_number(query, "endTs", now_seconds)
    if end_seconds - start_seconds > LONGEST_RANGE_SECONDS:
        raise RequestDenial(error_reply(400, "invalid filters: 'startTs' and 'endTs' interval is too long"))
    return start_seconds, end_seconds


def _whole_number(query: Query, name: str, default: int) -> int:
    return whole_number(query, name, default, error_reply(400, f"invalid filters: '{name}' must be a whole number"))
