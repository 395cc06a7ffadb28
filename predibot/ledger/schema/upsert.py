"""Inserting rows that may be there already: the first writer wins."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import sqlite
from sqlmodel import SQLModel


def table_of(model: type[SQLModel]) -> Table:
    """Return the table behind a row class."""
    table: Table = model.__table__  # type: ignore[attr-defined]
    return table


def insert_new(connection: Connection, model: type[SQLModel], rows: Sequence[Mapping[str, Any]]) -> int:
    """Insert the rows that break no unique constraint, and return how many went in."""
    return len(insert_rows(connection, table_of(model), rows))


def insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Insert the rows that break no unique constraint, and return the first key column of each."""
    if not rows:
        return []
    # RETURNING sends a thousand rows in one statement; single ones would each wait for the other threads.
    statement = _insert(connection.dialect.name, table, next(iter(table.primary_key)).name)
    return [*connection.execute(statement, [dict(row) for row in rows]).scalars()]


def insert_one(connection: Connection, model: type[SQLModel], row: Mapping[str, Any]) -> int | None:
    """Insert one row and return its id, or None where a unique constraint finds it there already."""
    statement = _insert(connection.dialect.name, table_of(model), "id")
    found: int | None = connection.execute(statement, dict(row)).scalar_one_or_none()
    return found


@cache
def _insert(dialect: str, table: Table, returned: str) -> Any:
    """Return the statement, which is made once: to make and look it up takes longer than to insert a row."""
    insert: Any = sqlite.insert
    if dialect == "postgresql":
        # Imported late: its drivers take a tenth of the start of a program with a file.
        from sqlalchemy.dialects import postgresql

        insert = postgresql.insert
    return insert(table).on_conflict_do_nothing().returning(table.c[returned])
