"""JSON documents of what commands and pages show."""

import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum

from predibot.domain.clock import format_instant
from predibot.reports.table import values_of

Document = dict[str, object]
"""What `json.dumps` writes: texts, finite numbers, None, and lists and documents of them."""


def document(row: object, names: str = "") -> Document:
    """Return values of a row, as JSON holds them and in this order.

    Args:
        row: A dataclass or a row of a database, or with `names` anything that has these values.
        names: Names of the values, separated by spaces; empty for all fields. `new=path` gives the value at a path
            of `value_of` a new name. `name~` adds the ends of its interval, as `name_low` and `name_high`.

    Examples:
        >>> document(datetime(2026, 3, 1), "year first_of=month hour")
        {'year': 2026, 'first_of': 3, 'hour': 0}
    """
    if "~" in names:
        names = re.sub(r"(\w+)~", r"\1 \1_low=intervals.\1.low \1_high=intervals.\1.high", names)
    elif not names:
        # A row of a database is known by its fields: to import its class here would load the database.
        of_row = getattr(row, "_fields", None)
        names = " ".join(of_row or [field.name for field in fields(row)])  # type: ignore[arg-type]
    return {name: json_value(value) for name, value in values_of(row, names).items()}


def under(path: str, names: str) -> str:
    """Return names of values that all lie at a path, as `document` takes them.

    Examples:
        >>> under("equity", "sharpe sortino")
        'sharpe=equity.sharpe sortino=equity.sortino'
    """
    return " ".join(f"{name}={path}.{name}" for name in names.split())


def json_value(value: object) -> object:
    """Return a value as JSON holds it: None for NaN and infinities, text for instants and days, documents for rows."""
    match value:
        case float():
            return number(value)
        case datetime():
            return format_instant(value)
        case date():
            return value.isoformat()
        case Enum():
            return value.value
        case Mapping():
            return {name: json_value(each) for name, each in value.items()}
        case tuple() | list():
            return [json_value(each) for each in value]
        case _:
            return document(value) if is_dataclass(value) or hasattr(value, "_fields") else value


def number(value: float | None) -> float | None:
    """Return the number; None for NaN and infinities, which JSON cannot hold."""
    return value if value is not None and math.isfinite(value) else None
