"""Values that columns may hold, beyond what the database checks."""

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import FailFast, Field, TypeAdapter

from predibot.domain.clock import EPOCH
from predibot.domain.event import Event

LARGEST_NUMBER = 1e9
"""For dollars and seconds."""
LARGEST_HOLDING = 1e15
"""For holdings and trades: shares at a price near zero are many, and may all win."""
_HOLDINGS = ("amount", "cash_usd", "fee_usd", "shares", "unallocated_usd", "value_usd")
UNBOUND = ("asked", "asked_usd", "stated_unallocated_usd")
"""A bot's own numbers, which are kept as they are; bookings are bounded."""
FIRST_INSTANT, LAST_INSTANT = EPOCH, datetime(3000, 1, 1, tzinfo=UTC)
RejectionKey = Literal["event_id", "title", "rule", "reason"]
PASSED_OVER: tuple[RejectionKey, ...] = get_args(RejectionKey)
"""Fields of an event that is not played."""
ROW_ERRORS = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError, MemoryError)
"""Errors that a foreign row may cause in its reader, and a mistake of ours too."""


def largest_value(column: str) -> float:
    """Return the largest absolute value in a column of this name."""
    return math.inf if column in UNBOUND else LARGEST_HOLDING if column in _HOLDINGS else LARGEST_NUMBER


@cache
def json_columns() -> Mapping[str, TypeAdapter[Any]]:
    """Return validators of JSON columns by name; made late, as it takes a while."""
    # A list is checked to its first mistake: a million mistakes would take more memory than the list.
    texts, fields = TypeAdapter(Annotated[list[str], FailFast()]), TypeAdapter(dict[str, Any])
    passed_over = Annotated[dict[RejectionKey, str], Field(min_length=len(PASSED_OVER))]
    return {
        "arguments_json": fields,
        "line_up": TypeAdapter(Annotated[list[dict[str, Any]], FailFast()]),
        "members_json": texts,
        "models_json": texts,
        "notes_json": texts,
        "outcomes_json": texts,
        "overrides_json": fields,
        "passed_over_json": TypeAdapter(Annotated[list[passed_over], FailFast()]),
        "payouts_json": TypeAdapter(Annotated[list[float], FailFast()]),
        "probabilities_json": TypeAdapter(dict[str, float]),
        "recipe_json": fields,
        "token_ids_json": texts,
    }


@cache
def _event_adapter() -> TypeAdapter[Event]:
    """Return the event's reader and writer; made late, as that takes a tenth of the program's start."""
    return TypeAdapter(Event)


def event_to_json(event: Event) -> str:
    """Return an event as JSON, without the venue's payload, which is stored beside it."""
    return _event_adapter().dump_json(replace(event, payload="")).decode()


def event_from_json(text: str, payload: str) -> Event:
    """Return the event that `event_to_json` wrote."""
    return replace(_event_adapter().validate_json(text), payload=payload)
