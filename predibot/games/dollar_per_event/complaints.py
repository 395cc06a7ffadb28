"""Complaints: what is wrong with an answer, in sentences that name the place and say how to fix it."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from predibot.games.answers import quoted

_WANTED = {
    "market_id": "the market's id as text, in quotes",
    "estimated_probability": "the probability of YES, a number between 0 and 1",
    "bet": "dollars as a number, positive for YES, negative for NO, 0 for no bet",
    "confidence": "a number between 0 and 10",
    "rationale": "a sentence or two why, as text",
    "market_decisions": "a list with one object for every market",
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
            yield _SPECIAL.get(kind, _plainly)(where, name, value, wanted)


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


def _plainly(where: str, _name: str, value: object, wanted: str) -> str:
    return f"{where} is {quoted(value)}; give {wanted}"


def _of_text(where: str, name: str, value: object, wanted: str) -> str:
    """Return the complaint on what is no number, with the number where a text holds one."""
    hint = _number_in(value, name) if isinstance(value, str) else None
    if hint is not None:
        return f"{where} is the text {quoted(value)}; write {hint} ({wanted})"
    return _plainly(where, name, value, wanted)


def _out_of_range(where: str, name: str, value: object, wanted: str) -> str:
    percent = name == "estimated_probability" and isinstance(value, int | float) and 1 < value <= 100
    hint = f"; for {value:g} percent write {value / 100:g}" if percent and isinstance(value, int | float) else ""
    money = "; lower the bets until it is" if name == "unallocated_capital" else ""
    return f"{_plainly(where, name, value, wanted)}{hint}{money}"


def _too_long(where: str, _name: str, value: object, wanted: str) -> str:
    size = len(value) if isinstance(value, str | list) else 0
    return f"{where} is too long ({size:,}); give {wanted}, shorter"


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


_SPECIAL: Mapping[str, Callable[[str, str, object, str], str]] = {
    "float_type": _of_text,
    "less_than_equal": _out_of_range,
    "greater_than_equal": _out_of_range,
    "string_too_long": _too_long,
    "too_long": _too_long,
}
