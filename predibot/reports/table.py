"""Rows as tables, under columns that are described once for screens and pages, and as documents for JSON and CSV."""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from predibot.domain.clock import format_instant
from predibot.domain.untrusted_text import one_line
from predibot.reports import figures

if TYPE_CHECKING:
    from predibot.scoring.inference.bootstrap import Estimate

Kind = Literal["number", "key", "text", "name"]
"""Numbers are right-aligned, keys left-aligned, both never broken; text may wrap, names lose their middle."""
LAST = 99


def value_of(row: Any, path: str) -> Any:
    """Return the value at a path of attributes, keys and indices; None if one on the way is None.

    Examples:
        >>> value_of({"brier": (0.1, 0.2)}, "brier.1"), value_of({}, "skill.low")
        (0.2, None)
    """
    for name in path.split(".") if path else ():
        if isinstance(row, Mapping):
            row = row.get(name)
        elif row is not None:
            row = row[int(name)] if name.isdigit() else getattr(row, name)
    return row


def values_of(row: Any, names: str) -> dict[str, Any]:
    """Return values of a row by names, separated by spaces; `new=path` gives the value at a path a new name."""
    paths = (each.partition("=") for each in names.split())
    return {name: value_of(row, path or name) for name, _, path in paths}


def words(value: object) -> str:
    """Return a value as one line of harmless text."""
    return one_line(str(value))


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its header, where its values are in a row, and how they are written."""

    header: str
    of: str = ""
    """The path of its value; empty for the row itself."""
    write: Callable[[Any], str] = words
    drop: int = LAST
    """Without room, columns go in this order, those with `LAST` from the right; one with 0 never goes.

    Columns without any value go first. The first column never goes.
    """
    meaning: str = ""
    """What the header means, see `means`; it stands below a table that shows the column."""
    only_with: Callable[[Any], Any] | None = None
    """The column is there only if some row has this value; a count of 0 is none."""
    kind: Kind = "number"

    def cell(self, row: object) -> str:
        """Return the cell of a row: a dash without a value."""
        value = value_of(row, self.of)
        return figures.MISSING if value is None else self.write(value)

    def means(self, meaning: str) -> "Column":
        """Return the column with what its header means, a sentence without its stop."""
        return replace(self, meaning=meaning)


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and cells that are already written; every text in it is plain."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    below: tuple[str, ...] = ()
    """Lines below the table that explain it."""
    legend: tuple[Column, ...] | None = None
    """Columns whose meanings stand below, in this order; None for all."""

    def __post_init__(self) -> None:
        """Refuse rows of another length than the header, and a header that is there twice."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row has {len(row)} cells, the header {len(self.columns)}: {row}")
        headers = [column.header for column in self.columns]
        if len(set(headers)) < len(headers):
            raise ValueError(f"a header is there twice: {', '.join(headers)}")

    def legend_lines(self) -> tuple[str, ...]:
        """Return the meanings of the headers as one line; () without any."""
        meant = [each for each in (self.columns if self.legend is None else self.legend) if each.meaning]
        said = " ".join(f"{each.header}: {each.meaning}." for each in meant if each in self.columns)
        return (said,) if said else ()

    def empty_headers(self) -> tuple[str, ...]:
        """Return the headers of the columns in which no row has a text."""
        texts = list(zip(*self.rows, strict=True)) or [()] * len(self.columns)
        return tuple(column.header for column, own in zip(self.columns, texts, strict=True) if not any(own))

    def without(self, *headers: str) -> "Table":
        """Return the table without some columns."""
        kept = [index for index, column in enumerate(self.columns) if column.header not in headers]
        return replace(
            self,
            columns=tuple(self.columns[index] for index in kept),
            rows=tuple(tuple(row[index] for index in kept) for row in self.rows),
        )


def table_of(title: str, columns: Sequence[Column], rows: Collection[Any], below: Collection[str] = ()) -> Table:
    """Return a table of rows, written as the columns say; empty lines below are left out."""
    shown = tuple(
        each for each in columns if each.only_with is None or any(_is_there(each.only_with(row)) for row in rows)
    )
    cells = tuple(tuple(each.cell(row) for each in shown) for row in rows)
    return Table(title, shown, cells, tuple(filter(None, below)))


def _is_there(value: float | None) -> bool:
    """Return whether there is a value; a count of 0 is none."""
    return isinstance(value, float) or bool(value)


def ends(write: Callable[[float | None, float | None], str]) -> "Callable[[Estimate], str]":
    """Return a writer of intervals from a function that writes two numbers."""
    return lambda found: write(found.low, found.high)


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
