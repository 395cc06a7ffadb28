"""Foreign rows: rows that predibot cannot have written, whatever the file declares of its columns.

To check each cell on reading would slow every evaluation. Where a row
fails its reader, and when a ledger is verified, all rows are checked.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from functools import partial
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Column,
    Connection,
    ForeignKeyConstraint,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    text,
)
from sqlalchemy.exc import DBAPIError

from predibot.errors import PredibotError
from predibot.ledger.schema.column_types import Instant, from_microseconds, to_microseconds
from predibot.ledger.schema.packed_points import unpack_numbers, unpack_points
from predibot.ledger.schema.packed_receipts import unpack_leaves, unpack_rows
from predibot.ledger.schema.tables import Row
from predibot.ledger.schema.values import (
    FIRST_INSTANT,
    LAST_INSTANT,
    ROW_ERRORS,
    event_from_json,
    json_columns,
    largest_value,
)
from predibot.recipe.recipe import Recipe

_EARLIEST, _LATEST = to_microseconds(FIRST_INSTANT), to_microseconds(LAST_INSTANT)
_ROWS_AT_ONCE = 500
_SHOWN = 60


def foreign_rows(connection: Connection) -> Iterator[tuple[str, str]]:
    """Yield rows with values that are not of their column, or that break our constraints, each with what is wrong."""
    for table in Row.metadata.sorted_tables:
        if table.name == "artefacts":
            # Every reader distrusts artefacts, and another check computes their hashes.
            continue
        try:
            yield from _foreign_values(connection, table)
            yield from _broken_constraints(connection, table)
        except DBAPIError as error:
            # For example a text that is no UTF-8.
            yield table.name, f"it cannot be read: {str(error.orig).splitlines()[0]}"


def _foreign_values(connection: Connection, table: Table) -> Iterator[tuple[str, str]]:
    columns = list(table.columns)
    # As raw values, because our column types may fail on them.
    raw = text(_select(table, columns)).execution_options(yield_per=_ROWS_AT_ONCE)
    keys = [columns.index(column) for column in table.primary_key]
    readers = [_reader(column) for column in columns]
    for row in connection.execute(raw):
        for column, read, value in zip(columns, readers, row, strict=True):
            if value is None and column.nullable:
                continue
            try:
                read(value)
            except (*ROW_ERRORS, PredibotError) as error:
                reason = str(error).splitlines()[0] if str(error) else type(error).__name__
                named = "/".join(repr(row[key])[:_SHOWN] for key in keys)
                shown = repr(value[:_SHOWN] if isinstance(value, str | bytes) else value)[:_SHOWN]
                yield f"{table.name} {named}", f"{column.name} is {shown}: {reason[:200]}"


def _broken_constraints(connection: Connection, table: Table) -> Iterator[tuple[str, str]]:
    """Yield rows that break our constraints, whether or not the file has these."""
    for statement, message in _constraint_queries(table):
        for row in connection.execute(text(statement)):
            yield f"{table.name} {'/'.join(repr(value)[:_SHOWN] for value in row)}", message


def _constraint_queries(table: Table) -> Iterator[tuple[str, str]]:
    keyed = _select(table, table.primary_key)
    for constraint in table.constraints:
        if isinstance(constraint, CheckConstraint):
            yield f"{keyed} WHERE NOT ({constraint.sqltext})", f"{constraint.sqltext} does not hold"
        elif isinstance(constraint, PrimaryKeyConstraint | UniqueConstraint):
            yield _select_repeated(table, constraint.columns), "these stand in several rows"
        elif isinstance(constraint, ForeignKeyConstraint):
            other = constraint.referred_table.name
            keys = [(f'"{table.name}"."{key.parent.name}"', key.column.name) for key in constraint.elements]
            known = " AND ".join(f"{ours} IS NOT NULL" for ours, _ in keys)
            same = " AND ".join(f'other."{theirs}" = {ours}' for ours, theirs in keys)
            yield (
                f'{keyed} WHERE {known} AND NOT EXISTS (SELECT 1 FROM "{other}" AS other WHERE {same})',
                f"{' and '.join(constraint.column_keys)} names a row of {other} that is not there",
            )
    for index in table.indexes:
        if index.unique:
            alive = index.dialect_options["sqlite"]["where"]
            yield _select_repeated(table, index.columns, str(alive)), "this stands in several rows"


def _select(table: Table, columns: Iterable[Column[Any]]) -> str:
    return f'SELECT {_names(columns)} FROM "{table.name}"'


def _select_repeated(table: Table, columns: Iterable[Column[Any]], alive: str = "TRUE") -> str:
    known = " AND ".join(f'"{column.name}" IS NOT NULL' for column in columns)
    return f"{_select(table, columns)} WHERE {known} AND {alive} GROUP BY {_names(columns)} HAVING count(*) > 1"


def _names(columns: Iterable[Column[Any]]) -> str:
    return ", ".join(f'"{column.name}"' for column in columns)


def _reader(column: Column[Any]) -> Callable[[Any], object]:
    """Return a function that raises for a value that is not of a column."""
    if column.name in _BY_NAME:
        return _BY_NAME[column.name]
    if isinstance(column.type, Instant):
        # A page may be older than 1970.
        return from_microseconds if column.name == "published_at" else _check_instant
    if isinstance(column.type, LargeBinary):
        return lambda blob: unpack_points([blob], highest=math.inf)
    kind = column.type.python_type
    if kind is float:
        return partial(_check_number, most=largest_value(column.name))
    return _check_int if kind in (int, bool) else _check_text


def _check_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("it must be a text")
    return value


def _check_int(value: Any) -> None:
    if not isinstance(value, int):
        raise ValueError("it must be a whole number")


def _check_instant(value: Any) -> None:
    _check_int(value)
    if not _EARLIEST <= value < _LATEST:
        raise ValueError("it must be in the years 1970 to 2999")


def _check_number(value: Any, *, most: float) -> None:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("it must be a finite number")
    if abs(value) > most:
        raise ValueError(f"it must be at most {most:,.0f}")


def _check_json(name: str, value: Any) -> None:
    json_columns()[name].validate_json(_check_text(value))
    json.loads(value)


_BY_NAME: Mapping[str, Callable[[Any], object]] = {
    **{name: partial(_check_json, name) for name in json_columns()},
    "event_json": lambda value: event_from_json(_check_text(value), ""),
    "recipe_json": lambda value: Recipe.from_json(_check_text(value)),
    "knowledge_cutoff": lambda value: date.fromisoformat(_check_text(value)),
    "leaves_packed": unpack_leaves,
    "receipts": unpack_numbers,
    "rows_packed": unpack_rows,
}
