"""Columns: the rows of a statement as arrays, under the names that the statement gives them."""

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select

Columns = NDArray[np.void]
"""A structured array (n,): `found["price"]` is a column (n,) of float64, `found[found["price"] > 0.5]` some rows."""


def columns(connection: Connection, statement: Select[Any], *, nullable: str = "") -> Columns:
    """Return the rows of a statement as named columns of float64, without making an object of each.

    Raw rows skip the conversion of instants, so they arrive as microseconds,
    which a float64 holds exactly for the next two centuries. They are taken one
    by one: millions at once would fill the memory, and the collector with work.

    Args:
        connection: A reading transaction.
        statement: Selects numbers, each under a name.
        nullable: Names of columns, apart by spaces, in which NaN stands for what is missing.

    Raises:
        ValueError: If something else is no finite number: a database may hold anything in a column.
    """
    names = statement.selected_columns.keys()
    cursor = connection.execute(statement).cursor
    rows: Any = () if cursor is None else cursor
    # One after the other, which takes less than row by row.
    numbers = np.fromiter(chain.from_iterable(rows), dtype=np.float64)
    found = numbers.view([(name, np.float64) for name in names])
    if not all(np.isfinite(found[name]).all() for name in names if name not in nullable.split()):
        raise ValueError("a number of a row is none")
    return found
