"""Damage: what a fault does to a request's parameters before it is answered, and to the answer after."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any, TypeAlias

from predibot.sandbox.server.fault import PAGE_SIZES, Fault
from predibot.sandbox.server.reply import Reply, error_reply, json_bytes

Query: TypeAlias = Mapping[str, Sequence[str]]

_LOST_FIELDS = ("outcomes", "outcomePrices", "id", "question", "clobTokenIds", "conditionId")
"""What the first, second, ... market of a page loses; the rest are left whole."""


def damaged_query(fault: Fault, query: Query) -> Query:
    """Return the parameters as a venue with this fault would understand them."""
    if fault.kind not in PAGE_SIZES:
        return query
    lost = {"after_cursor", "offset"} if fault.kind == "ignored_cursor" else set()
    limit = query.get("limit", [""])[-1]
    size = min(int(limit), PAGE_SIZES[fault.kind]) if limit.isdigit() else PAGE_SIZES[fault.kind]
    return {name: values for name, values in query.items() if name not in lost} | {"limit": [str(size)]}


def refusal(fault: Fault) -> Reply | None:
    """Return the reply of a fault that answers instead of the venue, None for the others."""
    if fault.kind == "rate_limit":
        reply = error_reply(429, "Too Many Requests")
        return replace(reply, headers=(("Retry-After", str(ceil(fault.seconds))),))
    if fault.kind == "server_error":
        return error_reply(500, "Internal Server Error")
    return None


def damaged_reply(fault: Fault, query: Query, reply: Reply) -> Reply:
    """Return the venue's reply as this fault leaves it; what is no list or object is left alone."""
    if reply.status != 200 or not reply.content_type.startswith("application/json"):
        return reply
    if fault.kind in {"truncated_json", "cut_connection"}:
        return replace(reply, body=reply.body[: len(reply.body) // 2]) if fault.kind == "truncated_json" else reply
    change = _CHANGES.get(fault.kind)
    if change is None:
        return reply
    return replace(reply, body=json_bytes(change(json.loads(reply.body), query)))


def _repeated_cursor(content: Any, query: Query) -> Any:
    """Return a page whose cursor is the one it was asked with."""
    if isinstance(content, dict) and "next_cursor" in content and "after_cursor" in query:
        return {**content, "next_cursor": query["after_cursor"][-1]}
    return content


def _unordered_page(content: Any, query: Query) -> Any:
    """Return a page with its objects back to front."""
    if isinstance(content, list):
        return content[::-1]
    if isinstance(content, dict):
        return {name: value[::-1] if name in {"events", "markets"} else value for name, value in content.items()}
    return content


def _missing_fields(content: Any, query: Query) -> Any:
    """Return a page whose first markets each lack another field, and whose second event lacks its title."""
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


def _wrong_shape(content: Any, query: Query) -> Any:
    """Return a list in place of an object, and an object in place of a list."""
    return {"data": content} if isinstance(content, list) else [content]


def _empty_history(content: Any, query: Query) -> Any:
    """Return a price history without points."""
    return {**content, "history": []} if isinstance(content, dict) and "history" in content else content


_CHANGES = {
    "repeated_cursor": _repeated_cursor,
    "unordered_page": _unordered_page,
    "missing_fields": _missing_fields,
    "wrong_shape": _wrong_shape,
    "empty_history": _empty_history,
}
