"""Rows of a statement, grouped by one of its columns."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select


def rows_by(
    connection: Connection, statement: Select[Any], column: str, values: Mapping[str, Any] | None = None
) -> Mapping[Any, Sequence[Row[Any]]]:
    """Return the rows of a statement by their value in a column, in order; any other value has no rows.

    Args:
        values: The values of the statement's parameters.
    """
    found = defaultdict[Any, list[Row[Any]]](list)
    for row in connection.execute(statement, values):
        found[getattr(row, column)].append(row)
    return found
