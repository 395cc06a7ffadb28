"""The rows of every table as they are stored, and their hash, which is equal in every database."""

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, column, func, select, table, text, type_coerce
from sqlalchemy.types import NullType

from predibot.ledger.read.decided_rows import collation_of
from predibot.ledger.schema.tables import Row

_MADE_HERE = ("artefacts", "changes", "paces", "permits", "services")
"""Not copied: artefacts go one by one, triggers count changes, and processes at work here are not at work there."""
_ROWS_AT_ONCE = 1_000
_FEW_ROWS = 10
_CHARACTERS_AT_ONCE = 2**22
MAX_ROW_BYTES = 32 * 2**20
"""As for an imported row."""

Values = tuple[Any, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TableSum:
    """A table's number of rows, and the SHA-256 of all of them in the order of their keys."""

    rows: int
    sha256: str


def ledger_tables() -> list[Table]:
    """Return the tables that a copy has, each behind those it refers to."""
    return [each for each in Row.metadata.sorted_tables if each.name not in _MADE_HERE]


def first_with_rows(connection: Connection) -> str | None:
    """Return the name of a table that has rows, or None for an empty ledger."""
    found = (each.name for each in ledger_tables() if connection.execute(select(1).select_from(each).limit(1)).first())
    return next(found, None)


def sum_of_table(
    connection: Connection, which: Table, put: Callable[[Sequence[Values]], object] | None = None
) -> TableSum:
    """Return count and hash of a table's rows, and give the rows to `put` in batches."""
    n, digest = 0, hashlib.sha256()
    for rows in _read_batches(connection, which):
        n += len(rows)
        # SQLite has no negative zero.
        texts = (repr([0.0 if value == 0.0 and isinstance(value, float) else value for value in row]) for row in rows)
        digest.update("\n".join((*texts, "")).encode("utf-8", "surrogatepass"))
        if put is not None:
            put(rows)
    return TableSum(n, digest.hexdigest())


def copy_table(source: Connection, target: Connection, which: Table) -> TableSum:
    """Copy all rows of a table into an empty one, and return the count and hash of those read."""
    names = [each.name for each in which.columns]
    # Without types: the values are already as our types store them.
    into = table(which.name, *(column(name) for name in names)).insert()
    total = sum_of_table(
        source, which, lambda rows: target.execute(into, [dict(zip(names, row, strict=True)) for row in rows])
    )
    if target.dialect.name == "postgresql":
        _advance_sequence(target, which)
    return total


def _read_batches(connection: Connection, which: Table) -> Iterator[list[Values]]:
    raw = (type_coerce(each, NullType()).label(each.name) for each in which.columns)
    statement = select(*raw).order_by(*_ordered_key(connection, which))
    flags = [index for index, each in enumerate(which.columns) if each.type.python_type is bool]
    with _limit_values(connection):
        # Few at a time, as each may be large.
        result = connection.execute(statement.execution_options(yield_per=_FEW_ROWS))
        rows = (_to_booleans(tuple(row), flags) for row in result)
        yield from batches(rows, tuple, _ROWS_AT_ONCE, _CHARACTERS_AT_ONCE)


def batches(
    rows: Iterable[T], values: Callable[[T], Iterable[object]], most: int, most_characters: int
) -> Iterator[list[T]]:
    """Yield rows in batches of at most `most` rows, each ended by the row that exceeds `most_characters`."""
    some, characters = list[T](), 0
    for row in rows:
        some.append(row)
        characters += sum(len(value) for value in values(row) if isinstance(value, str | bytes))
        if len(some) >= most or characters > most_characters:
            yield some
            some, characters = [], 0
    if some:
        yield some


@contextmanager
def _limit_values(connection: Connection) -> Iterator[None]:
    """Have SQLite refuse a value longer than any of ours, before it takes memory several times."""
    if connection.dialect.name != "sqlite":
        yield
        return
    driver: Any = connection.connection.driver_connection
    before = driver.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_ROW_BYTES)
    try:
        yield
    finally:
        driver.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, before)


def _ordered_key(connection: Connection, which: Table) -> list[Any]:
    collation = collation_of(connection)
    return [each.collate(collation) if each.type.python_type is str else each for each in which.primary_key]


def _to_booleans(row: Values, flags: Sequence[int]) -> Values:
    if not flags:
        return row
    return tuple(bool(value) if index in flags and value in (0, 1) else value for index, value in enumerate(row))


def _advance_sequence(connection: Connection, which: Table) -> None:
    if which.autoincrement_column is None:
        return
    name = which.autoincrement_column.name
    last = connection.execute(select(func.max(which.c[name]))).scalar()
    if last is not None:
        sequence = text("SELECT setval(pg_get_serial_sequence(:of, :named), :last)")
        connection.execute(sequence, {"of": which.name, "named": name, "last": last})
