"""Rows that may be there already: written once, by the first that comes."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import sqlite


def insert_new(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Insert the rows that break no unique rule, leave the others, and return of each the first column of its key."""
    if not rows:
        return []
    # With RETURNING a thousand rows go in one statement; one at a time, each would wait for the other threads.
    statement = _insert(connection, table).on_conflict_do_nothing().returning(next(iter(table.primary_key)))
    return [*connection.execute(statement, [dict(row) for row in rows]).scalars()]


def insert_one(connection: Connection, table: Table, row: Mapping[str, Any]) -> int | None:
    """Insert one row and return its id, or None where a unique rule says it is there already."""
    return next(iter(insert_new(connection, table, [row])), None)


def _insert(connection: Connection, table: Table) -> Any:
    if connection.dialect.name != "postgresql":
        return sqlite.insert(table)
    # It brings the drivers it knows, which take a tenth of the start of a program that has a file.
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)
