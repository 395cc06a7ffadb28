"""Rows read back from an export: each cell is checked and gets its type; a wrong one is refused with its place."""

import math
import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any, NamedTuple

from pydantic import ValidationError

from predibot.domain.clock import parse_instant
from predibot.domain.untrusted_text import has_too_many_values
from predibot.ledger.read.export import export_table, export_types
from predibot.ledger.schema.column_types import UNSTORABLE, Instant, Prose
from predibot.ledger.schema.values import FIRST_INSTANT, LAST_INSTANT, json_columns, largest_value

MAX_ROW_VALUES = 1_000_000
"""Values of JSON in a row, or cells of CSV; an event's payload has two for each field of each market."""
MAX_EVENT_VALUES = 250_000
"""Values of a frozen event, which has some fifty a market; each wrong one makes an error message."""
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_ADDED: Mapping[str, Mapping[str, Any]] = {
    "runs": {"deadline_at": None},
    "fills": {"order_number": None, "model": None},
    "quotes": {"depth_json": None},
    "news": {"url": None},
    **{table: {"methodology": ""} for table in ("accounts", "journal", "valuations", "marks", "turns")},
}
"""Defaults for columns that older exports lack."""

Values = dict[str, Any]


class RowError(ValueError):
    """A row cannot be put back; the message has its place and the reason."""

    def __init__(self, place: str, reason: str) -> None:
        """Make a sentence of place and reason."""
        super().__init__(f"{place}: {reason}")


class ExportRow(NamedTuple):
    """A row of an export, with its place there."""

    place: str
    cells: Mapping[str, Any]
    """Values as in JSON or Parquet, or texts."""
    is_text: bool = False
    """Whether all cells are texts; an empty one then also stands for a missing value."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, shortened."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


@cache
def _columns(table: str) -> Mapping[str, tuple[type, bool]]:
    """Return the kind of each column, a Python type, `Instant` or `Prose`, and whether it may be empty."""
    nullable = {each.name for each in export_table(table).columns if each.is_nullable}
    return {
        name: (type(type_) if isinstance(type_, Instant | Prose) else type_.python_type, name in nullable)
        for name, type_ in export_types(table).items()
        # It follows from the other columns.
        if name != "late"
    }


def check_row(table: str, row: ExportRow) -> Values:
    """Return the typed values of a row; refuse one that lacks a value, or has a wrong type."""
    values: Values = {}
    added = _ADDED.get(table, {})
    for name, (kind, nullable) in _columns(table).items():
        cell = row.cells.get(name)
        if cell is None or (row.is_text and cell == "" and (nullable or kind not in (str, Prose))):
            if name in added:
                values[name] = added[name]
            elif name not in row.cells:
                raise RowError(row.place, f"it has no {name}; export again with this predibot, not --canonical")
            elif not nullable:
                raise RowError(row.place, f"{name} is empty")
            else:
                values[name] = None
            continue
        try:
            values[name] = _parse_cell(name, kind, cell)
        except ValidationError as error:
            raise RowError(row.place, f"{name}: {error.errors(include_url=False)[0]['msg']}") from None
        except (ValueError, OverflowError) as error:
            is_long = isinstance(cell, int) and cell.bit_length() > 256
            shown = "a very large number" if is_long else repr(cell)[:60]
            raise RowError(row.place, f"{name} is {shown}: {first_line(error)}") from None
    return values


def _parse_cell(name: str, kind: type, cell: Any) -> Any:
    if kind is int:
        return _parse_whole(cell)
    if kind is float:
        number = _parse_number(cell)
        if abs(number) > (most := largest_value(name)):
            raise ValueError(f"it must be at most {most:,.0f}")
        return number
    if not isinstance(cell, str):
        raise ValueError("it must be a text")
    if kind is Instant:
        instant = parse_instant(cell)
        # A page may be dated before 1970.
        if name != "published_at" and not FIRST_INSTANT <= instant < LAST_INSTANT:
            raise ValueError("it must be in the years 1970 to 2999")
        return instant
    if kind is not Prose and UNSTORABLE.search(cell):
        raise ValueError("it holds a character that cannot be stored")
    most = MAX_EVENT_VALUES if name == "event_json" else MAX_ROW_VALUES
    if name.endswith("_json") and has_too_many_values(cell, most):
        raise ValueError(f"it holds more than {most:,} values")
    if name in json_columns():
        json_columns()[name].validate_json(cell)
    if name == "knowledge_cutoff":
        date.fromisoformat(cell)
    return cell


def _parse_whole(cell: Any) -> int:
    if isinstance(cell, str) and _WHOLE.fullmatch(cell):
        cell = int(cell)
    if isinstance(cell, bool) or not isinstance(cell, int) or not -(2**63) <= cell < 2**63:
        raise ValueError("it must be a whole number of 64 bits")
    return cell


def _parse_number(cell: Any) -> float:
    is_text = isinstance(cell, str) and cell.isascii() and "_" not in cell
    if not is_text and (isinstance(cell, bool) or not isinstance(cell, int | float)):
        raise ValueError("it must be a number")
    number = float(cell)
    if not math.isfinite(number):
        raise ValueError("it must be a finite number")
    return number
