"""What the columns of the tables may hold, beyond what the database checks of them."""

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
"""Of dollars and seconds."""
LARGEST_HOLDING = 1e15
"""Of what an account has and trades: shares at a price near nothing are many, and may all win."""
_HOLDINGS = ("amount", "cash_usd", "fee_usd", "shares", "unallocated_usd", "value_usd")
UNBOUND = ("asked", "asked_usd", "stated_unallocated_usd")
"""What a bot said: it is kept, and books no more than the dollar."""
FIRST_INSTANT, LAST_INSTANT = EPOCH, datetime(3000, 1, 1, tzinfo=UTC)
PassedOver = Literal["event_id", "title", "rule", "reason"]
PASSED_OVER: tuple[PassedOver, ...] = get_args(PassedOver)
"""What is said of an event that is not played."""
ROW_ERRORS = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError, MemoryError)
"""What a row that predibot did not write may end its reader with, and a mistake of ours too."""


def largest(column: str) -> float:
    """Return the largest number, of either sign, that a column of this name may hold."""
    return math.inf if column in UNBOUND else LARGEST_HOLDING if column in _HOLDINGS else LARGEST_NUMBER


@cache
def json_columns() -> Mapping[str, TypeAdapter[Any]]:
    """Return what reads the columns of JSON, by their names; made when it is needed, as it takes a while."""
    # A list ends at its first mistake: of a million, each would take more than what it is about.
    texts, fields = TypeAdapter(Annotated[list[str], FailFast()]), TypeAdapter(dict[str, Any])
    passed_over = Annotated[dict[PassedOver, str], Field(min_length=len(PASSED_OVER))]
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
def _adapter() -> TypeAdapter[Event]:
    """Return what writes and reads events; made when it is needed, as that takes a tenth of the program's start."""
    return TypeAdapter(Event)


def event_to_json(event: Event) -> str:
    """Return an event as text, without the venue's payload, which is stored beside it."""
    return _adapter().dump_json(replace(event, payload="")).decode()


def event_from_json(text: str, payload: str) -> Event:
    """Return the event that `event_to_json` wrote."""
    return replace(_adapter().validate_json(text), payload=payload)
