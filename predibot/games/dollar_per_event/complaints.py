"""Complaints: what is wrong with an answer, in sentences that name the place and say how to fix it."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from predibot.games.answers import quoted

_WANTED = {
    "market_id": "the market's id as text, in quotes",
    "estimated_probability": "the probability of YES, a number between 0 and 1",
    "bet": "dollars as a number, positive for YES, negative for NO, 0 for no bet",
    "confidence": "a number between 0 and 10",
    "rationale": "a sentence or two why, as text",
    "market_decisions": "a list with one object for every market, no text around it",
    "unallocated_capital": "the dollars that are not bet, a number of 0 or more",
}
FIELDS = frozenset(_WANTED)
"""What an answer may have fields of."""
_FIELDS = {
    True: "market_id, estimated_probability, bet, confidence, rationale",
    False: "market_decisions, unallocated_capital, rationale",
}


def complaints_of(error: ValidationError, items: object) -> Iterator[str]:
    """Yield a sentence without its full stop for each thing that pydantic found.

    Args:
        error: Of an answer.
        items: Its `market_decisions` as they were said, which name the markets.
    """
    for found in error.errors(include_url=False, include_context=False):
        kind, location, value = found["type"], found["loc"], found["input"]
        name, where = str(location[-1]), _where(location, items)
        wanted = _WANTED.get(name, "it as the others are")
        if kind == "missing":
            yield f"{where} is missing; give {wanted}"
        elif kind in ("extra_forbidden", "invalid_key"):
            yield f"{where} is unknown; take it out, the fields are {_FIELDS[len(location) > 1]}"
        elif kind in ("model_type", "model_attributes_type"):
            yield f"{where} is {quoted(value)}; give an object with {_FIELDS[True]}"
        else:
            yield _of_value(kind, where, name, value, wanted)


def _where(location: tuple[int | str, ...], items: object) -> str:
    """Return the place of a complaint: a field and its market, or its number where the market has no id."""
    if len(location) == 1:
        return _field(location[0])
    row = int(location[1])
    if len(location) == 2:
        return f"entry {row + 1} of market_decisions"
    item: Mapping[Any, Any] = items[row] if isinstance(items, list) else {}
    older = location[2] == "estimated_probability" and "odds" in item and "estimated_probability" not in item
    name = "odds" if older else _field(location[2])
    market_id = item.get("market_id")
    known = isinstance(market_id, str) and location[2] != "market_id"
    return f"{name} of market {quoted(market_id)}" if known else f"{name} of entry {row + 1}"


def _field(name: object) -> str:
    return str(name) if name in FIELDS else f"the field {quoted(name)}"


def _of_value(kind: str, where: str, name: str, value: object, wanted: str) -> str:
    """Return the complaint on a value of a wrong type, out of its range or too long."""
    if kind in ("string_too_long", "too_long"):
        size = len(value) if isinstance(value, str | list) else 0
        return f"{where} is too long ({size:,}); give {wanted}, shorter"
    if kind == "float_type" and isinstance(value, str) and (hint := _number_in(value, name)) is not None:
        return f"{where} is the text {quoted(value)}; write {hint} ({wanted})"
    said = f"{where} is {quoted(value)}; give {wanted}"
    if kind in ("less_than_equal", "greater_than_equal"):
        if name == "estimated_probability" and isinstance(value, int | float) and 1 < value <= 100:
            said += f"; for {value:g} percent write {value / 100:g}"
        if name == "unallocated_capital":
            said += "; lower the bets until it is"
    return said


def _number_in(text: str, name: str) -> str | None:
    """Return what to write for a text that holds a number, or None."""
    bare = text.strip()
    percent = bare.endswith("%")
    try:
        number = float(bare.removesuffix("%").lstrip("$"))
    except ValueError:
        return None
    if not math.isfinite(number) or (percent and name != "estimated_probability"):
        return None
    return f"{number / 100:g}" if percent else f"{number:g} without quotes"
