"""Rows that may be there already: written once, whoever comes first."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import SQLModel


def table_of(model: type[SQLModel]) -> Table:
    """Return the table behind a row class."""
    table: Table = model.__table__  # type: ignore[attr-defined]
    return table


def insert_new(connection: Connection, model: type[SQLModel], rows: Sequence[Mapping[str, Any]]) -> int:
    """Insert the rows that break no unique rule, leave the others as they are, and return how many went in."""
    if not rows:
        return 0
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table_of(model)).on_conflict_do_nothing()
    # One statement many times: a statement of a thousand rows would be put together anew each time.
    done = connection.execute(statement, [dict(row) for row in rows], execution_options={"preserve_rowcount": True})
    return done.rowcount


def insert_one(connection: Connection, model: type[SQLModel], row: Mapping[str, Any]) -> int | None:
    """Insert one row and return its id, or None where a unique rule says it is there already."""
    table = table_of(model)
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table).values(dict(row)).on_conflict_do_nothing()
    found: int | None = connection.execute(statement.returning(table.c.id)).scalar_one_or_none()
    return found
