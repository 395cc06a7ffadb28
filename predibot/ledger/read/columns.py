"""Columns: the rows of a statement as a structured array, with the statement's names."""

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select

Columns = NDArray[np.void]
"""A structured array (n,): `found["price"]` is a column, `found[found["price"] > 0.5]` selects rows."""


def read_columns(connection: Connection, statement: Select[Any], *, nullable: str = "") -> Columns:
    """Return the rows of a statement as float64 columns, without an object for each row.

    Raw rows keep instants as microseconds, which a float64 holds exactly for the next two centuries. Rows are read one
    by one, because millions at once would fill the memory and slow the garbage collector.

    Args:
        statement: Selects numbers, each under a name.
        nullable: Names of columns, separated by spaces, in which NaN stands for a missing value.

    Raises:
        ValueError: If any other value is no finite number, as in somebody else's ledger.
    """
    names = statement.selected_columns.keys()
    cursor = connection.execute(statement).cursor
    rows: Any = () if cursor is None else cursor
    # One flat sequence is faster than row by row.
    numbers = np.fromiter(chain.from_iterable(rows), dtype=np.float64)
    found = numbers.view([(name, np.float64) for name in names])
    if not all(np.isfinite(found[name]).all() for name in names if name not in nullable.split()):
        raise ValueError("a number of a row is none")
    return found
