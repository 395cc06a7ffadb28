"""Foreign rows: what stands in a ledger and cannot be predibot's, whatever the file says of its own columns.

No command checks each cell it reads, which would cost every evaluation; where
one fails, and when a ledger is verified, all are looked at.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from functools import partial
from typing import Any, NamedTuple

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
from predibot.ledger.schema.packed_leaves import unpacked_leaves
from predibot.ledger.schema.packed_points import unpacked_numbers, unpacked_points
from predibot.ledger.schema.packed_rows import unpacked_rows
from predibot.ledger.schema.tables import Row
from predibot.ledger.schema.values import (
    FIRST_INSTANT,
    LAST_INSTANT,
    ROW_ERRORS,
    event_from_json,
    json_columns,
    largest,
)
from predibot.recipe.recipe import Recipe

_EARLIEST, _LATEST = to_microseconds(FIRST_INSTANT), to_microseconds(LAST_INSTANT)
_ROWS_AT_ONCE = 500
_SHOWN = 60


class ForeignRow(NamedTuple):
    """A row that predibot did not write as it stands."""

    row: str
    """Its table and its key."""
    seen: str


def foreign_rows(connection: Connection) -> Iterator[ForeignRow]:
    """Yield what no row of predibot holds: values that are not of their column, and what our constraints forbid."""
    for table in Row.metadata.sorted_tables:
        if table.name == "artefacts":
            # Read as untrusted wherever they are read, and looked at by a check of their own.
            continue
        try:
            yield from _values(connection, table)
            yield from _constraints(connection, table)
        except DBAPIError as error:
            # Such as a text that is no UTF-8.
            yield ForeignRow(table.name, f"it cannot be read: {str(error.orig).splitlines()[0]}")


def _values(connection: Connection, table: Table) -> Iterator[ForeignRow]:
    columns = list(table.columns)
    # In plain SQL, as the database has them: what our types make of a value may fail.
    raw = text(_of(table, columns)).execution_options(yield_per=_ROWS_AT_ONCE)
    keys = [columns.index(column) for column in table.primary_key]
    readers = [_reader(column) for column in columns]
    for row in connection.execute(raw):
        for column, read, value in zip(columns, readers, row, strict=True):
            if value is None and column.nullable:
                continue
            try:
                read(value)
            except (*ROW_ERRORS, PredibotError) as error:
                said = str(error).splitlines()[0] if str(error) else type(error).__name__
                named = "/".join(repr(row[key])[:_SHOWN] for key in keys)
                shown = repr(value[:_SHOWN] if isinstance(value, str | bytes) else value)[:_SHOWN]
                yield ForeignRow(f"{table.name} {named}", f"{column.name} is {shown}: {said[:200]}")


def _constraints(connection: Connection, table: Table) -> Iterator[ForeignRow]:
    """Yield the rows that our constraints forbid, whether or not the file has them."""
    for statement, said in _forbidden(table):
        for row in connection.execute(text(statement)):
            yield ForeignRow(f"{table.name} {'/'.join(repr(value)[:_SHOWN] for value in row)}", said)


def _forbidden(table: Table) -> Iterator[tuple[str, str]]:
    """Yield what finds the rows that a constraint forbids, and what is to be said of them."""
    keyed = _of(table, table.primary_key)
    for constraint in table.constraints:
        if isinstance(constraint, CheckConstraint):
            yield f"{keyed} WHERE NOT ({constraint.sqltext})", f"{constraint.sqltext} does not hold"
        elif isinstance(constraint, PrimaryKeyConstraint | UniqueConstraint):
            yield _repeated(table, constraint.columns), "these stand in several rows"
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
            yield _repeated(table, index.columns, str(alive)), "this stands in several rows"


def _of(table: Table, columns: Iterable[Column[Any]]) -> str:
    return f'SELECT {_names(columns)} FROM "{table.name}"'


def _repeated(table: Table, columns: Iterable[Column[Any]], alive: str = "TRUE") -> str:
    known = " AND ".join(f'"{column.name}" IS NOT NULL' for column in columns)
    return f"{_of(table, columns)} WHERE {known} AND {alive} GROUP BY {_names(columns)} HAVING count(*) > 1"


def _names(columns: Iterable[Column[Any]]) -> str:
    return ", ".join(f'"{column.name}"' for column in columns)


def _reader(column: Column[Any]) -> Callable[[Any], object]:
    """Return what fails at a value that is not of a column."""
    if column.name in _BY_NAME:
        return _BY_NAME[column.name]
    if isinstance(column.type, Instant):
        # A page may be older than computers.
        return from_microseconds if column.name == "published_at" else _instant
    if isinstance(column.type, LargeBinary):
        return lambda blob: unpacked_points([blob], highest=math.inf)
    kind = column.type.python_type
    if kind is float:
        return partial(_number, most=largest(column.name))
    return _whole if kind in (int, bool) else _text


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("it must be a text")
    return value


def _whole(value: Any) -> None:
    if not isinstance(value, int):
        raise ValueError("it must be a whole number")


def _instant(value: Any) -> None:
    _whole(value)
    if not _EARLIEST <= value < _LATEST:
        raise ValueError("it must be in the years 1970 to 2999")


def _number(value: Any, *, most: float) -> None:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("it must be a finite number")
    if abs(value) > most:
        raise ValueError(f"it must be at most {most:,.0f}")


def _json(name: str) -> Callable[[Any], object]:
    """Return what reads a column of JSON, as it is written and as those who read it do."""

    def read(value: Any) -> None:
        json_columns()[name].validate_json(_text(value))
        json.loads(value)

    return read


_BY_NAME: Mapping[str, Callable[[Any], object]] = {
    **{name: _json(name) for name in json_columns()},
    "event_json": lambda value: event_from_json(_text(value), ""),
    "recipe_json": lambda value: Recipe.from_json(_text(value)),
    "knowledge_cutoff": lambda value: date.fromisoformat(_text(value)),
    "leaves_packed": unpacked_leaves,
    "receipts": unpacked_numbers,
    "rows_packed": unpacked_rows,
}
"""By the name of the column."""
