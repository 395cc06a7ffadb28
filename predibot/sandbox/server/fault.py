"""Faults: ways in which the sandbox misbehaves on request, each seen at a real venue or network."""

import json
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from predibot.sandbox.server.reply import HttpReply, Query, error_reply, json_bytes, json_reply

FAULT_KINDS = {
    "rate_limit": "429 with Retry-After",
    "server_error": "500",
    "slow": "the right answer, after `seconds`",
    "truncated_json": "half of the body, and a Content-Length that says so",
    "cut_connection": "half of the body, then the connection ends",
    "ignored_cursor": "always the first page, of 20 so that there is a second",
    "repeated_cursor": "the second page of 20 and its cursor, again and again",
    "clamped_page": "pages of 7, with a proper cursor",
    "unordered_page": "a page back to front",
    "disorder": "of ten events one out of its place and one without volumes, of ten markets one with No first, and the "
    "old list of markets gone (410)",
    "missing_fields": "objects without id, outcomes, prices or title",
    "wrong_shape": "a list where an object is due, and the other way round",
    "empty_history": "a price history without a point",
    "redirect": "302 to another host",
    "huge_answer": "the right answer with 17 MB of blanks behind it",
    "limit_note": "of a stock, a note with status 200 that too much was asked for",
    "bad_prices": "among the latest prices of a stock a 0, a NaN, a word, nothing at all and one below zero",
    "missing_days": "every tenth day of a stock left out",
    "restated": "every price of a stock but the latest one half again as high",
}

PAGE_SIZES = {"clamped_page": 7, "ignored_cursor": 20, "repeated_cursor": 20}
"""The largest page of faults that only show in a list of several pages."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of misbehaviour, and how often and where it happens."""

    kind: str
    times: int | None = None
    """How many matching requests suffer from it; None for all."""
    path: str = ""
    """Only paths that contain this suffer from it."""
    seconds: float = 1.0
    """How long `slow` waits, and the `Retry-After` of `rate_limit`."""

    def __post_init__(self) -> None:
        """Refuse waits of more than an hour."""
        if not 0.0 <= self.seconds <= 3_600.0:
            raise ValueError(f"a fault waits 0 to 3600 seconds, got {self.seconds:g}")

    def matches(self, path: str) -> bool:
        """Return whether the fault applies to a path."""
        return self.path in path


_BY_OUTCOME = ("outcomes", "outcomePrices", "clobTokenIds")
_LOST_FIELDS = ("outcomes", "outcomePrices", "id", "question", "clobTokenIds", "conditionId")
"""The first market of a page loses the first of these, the second the second; later ones stay whole."""


HUGE_BLANKS = 17_000_000
_SERIES = "Time Series (Daily)"
_BAD_PRICES: tuple[object, ...] = (0, float("nan"), "n/a", None, -1.5)


def damage_query(fault: Fault, query: Query) -> Query:
    """Return the parameters as a venue with this fault understands them."""
    if fault.kind not in PAGE_SIZES:
        return query
    lost = {"after_cursor", "offset", "before"} if fault.kind == "ignored_cursor" else set()
    limit = query.get("limit", [""])[-1]
    size = min(int(limit), PAGE_SIZES[fault.kind]) if limit.isdigit() else PAGE_SIZES[fault.kind]
    return {name: values for name, values in query.items() if name not in lost} | {"limit": [str(size)]}


def replacement_reply(fault: Fault, path: str) -> HttpReply | None:
    """Return the reply of a fault that answers in place of the venue; None for other faults."""
    if fault.kind == "rate_limit":
        reply = error_reply(429, "Too Many Requests")
        return replace(reply, headers=(("Retry-After", str(ceil(fault.seconds))),))
    if fault.kind == "server_error":
        return error_reply(500, "Internal Server Error")
    if fault.kind == "redirect":
        return HttpReply(302, b"", headers=(("Location", "https://elsewhere.invalid/"),))
    if fault.kind == "disorder" and path.rstrip("/") == "/markets":
        return error_reply(410, "Gone: use /markets/keyset")
    return None


def damage_reply(fault: Fault, query: Query, reply: HttpReply) -> HttpReply:
    """Return the venue's reply as this fault leaves it; what is not JSON stays as it is."""
    if reply.status != 200 or not reply.content_type.startswith("application/json"):
        return reply
    if fault.kind == "truncated_json":
        return replace(reply, body=reply.body[: len(reply.body) // 2])
    if fault.kind == "huge_answer":
        return replace(reply, body=reply.body.ljust(len(reply.body) + HUGE_BLANKS))
    if fault.kind == "limit_note" and (said := _limit_note(json.loads(reply.body))) is not None:
        return said
    change = _DAMAGES.get(fault.kind)
    return reply if change is None else replace(reply, body=json_bytes(change(json.loads(reply.body), query)))


def _repeat_cursor(content: Any, query: Query) -> Any:
    if isinstance(content, dict) and "next_cursor" in content and "after_cursor" in query:
        return {**content, "next_cursor": query["after_cursor"][-1]}
    return content


def _reverse_page(content: Any, query: Query) -> Any:
    if isinstance(content, list):
        return content[::-1]
    if isinstance(content, dict):
        return {name: value[::-1] if name in {"events", "markets"} else value for name, value in content.items()}
    return content


def _disarrange(content: Any, query: Query) -> Any:
    whole: Any = content if isinstance(content, list) else [content]
    if isinstance(content, dict) and "id" not in content:
        whole = content.get("events", content.get("markets", []))
    for place in range(3, len(whole) - 5, 10):
        whole[place], whole[place + 5] = whole[place + 5], whole[place]
    for place, item in enumerate(whole):
        if place % 10 == 6:
            item.pop("volume1wk", None)
        for market in item.get("markets", [item]) if isinstance(item, dict) else ():
            if str(market.get("id", "")).endswith("1"):
                market |= {name: _reverse_pair(market[name]) for name in _BY_OUTCOME if name in market}
    return content


def _reverse_pair(listed: Any) -> Any:
    found = json.loads(listed) if isinstance(listed, str) and listed else listed
    if not isinstance(found, list) or len(found) != 2:
        return listed
    return json.dumps(found[::-1]) if isinstance(listed, str) else found[::-1]


def _drop_fields(content: Any, query: Query) -> Any:
    if isinstance(content, dict) and "outcomeType" in content:
        # Manifold serves each market by itself.
        return {name: value for name, value in content.items() if name not in {"question", "probability"}}
    objects: Any = content if isinstance(content, list) else [content]
    if isinstance(content, dict) and "id" not in content:
        objects = content.get("events", content.get("markets", objects))
    objects = [item for item in objects if isinstance(item, dict)]
    markets = [market for item in objects for market in item.get("markets", [item])]
    for market, name in zip(markets, _LOST_FIELDS, strict=False):
        market.pop(name, None)
    if len(objects) > 1:
        objects[1].pop("title", None)
    return content


def _change_shape(content: Any, query: Query) -> Any:
    return {"data": content} if isinstance(content, list) else [content]


def _empty_price_history(content: Any, query: Query) -> Any:
    if isinstance(content, list) and content and isinstance(content[0], dict) and "probAfter" in content[0]:
        return []
    return {**content, "history": []} if isinstance(content, dict) and "history" in content else content


def _stock_rows(content: Any) -> list[dict[str, Any]]:
    """Return the rows of a stock's prices in either dialect, oldest first; none for other content."""
    if isinstance(content, dict) and _SERIES in content:
        return [content[_SERIES][day] for day in sorted(content[_SERIES])]
    if isinstance(content, list) and all(isinstance(row, dict) and "divCash" in row for row in content):
        return content
    return []


def _limit_note(content: Any) -> HttpReply | None:
    """Return the note that a provider of stock prices sends with status 200 instead of prices."""
    if not _stock_rows(content):
        return None
    if isinstance(content, dict):
        return json_reply(
            {"Note": "Thank you for your interest! Our standard API call frequency is 5 calls per minute."}
        )
    text = b"You have run over your hourly request allocation. Please upgrade to have your limits increased."
    return HttpReply(200, text, "text/plain; charset=utf-8")


def _spoil_prices(content: Any, query: Query) -> Any:
    for row, price in zip(reversed(_stock_rows(content)[:-1]), _BAD_PRICES, strict=False):
        row["4. close" if "4. close" in row else "close"] = price
    return content


def _drop_days(content: Any, query: Query) -> Any:
    lost = {id(row) for place, row in enumerate(_stock_rows(content)) if place % 10 == 5}
    if isinstance(content, list):
        return [row for row in content if id(row) not in lost]
    if lost:
        content[_SERIES] = {day: row for day, row in content[_SERIES].items() if id(row) not in lost}
    return content


def _restate_prices(content: Any, query: Query) -> Any:
    for row in _stock_rows(content)[:-1]:
        for name in ("open", "high", "low", "close", "1. open", "2. high", "3. low", "4. close"):
            if name in row:
                row[name] = 1.5 * row[name] if isinstance(row[name], float) else f"{1.5 * float(row[name]):.4f}"
    return content


_DAMAGES = {
    "bad_prices": _spoil_prices,
    "missing_days": _drop_days,
    "restated": _restate_prices,
    "repeated_cursor": _repeat_cursor,
    "unordered_page": _reverse_page,
    "disorder": _disarrange,
    "missing_fields": _drop_fields,
    "wrong_shape": _change_shape,
    "empty_history": _empty_price_history,
}
