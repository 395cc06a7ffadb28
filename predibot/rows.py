"""Rows: results of the Python interface, typed one by one, and as a table for pandas or polars."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime
from types import NoneType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints, overload

if TYPE_CHECKING:
    import pandas
    import polars

RowT = TypeVar("RowT")
RowT_co = TypeVar("RowT_co", covariant=True)
KeyT = TypeVar("KeyT", bound=Hashable)
Cells = Mapping[str, object]
Kind = Any
"""The type of a column besides None: str, int, float, bool, datetime, date, or tuples such as `tuple[str, ...]`."""

_PANDAS = {str: "string", int: "Int64", float: "float64", bool: "boolean", datetime: "datetime64[us, UTC]"}
"""The pandas type of a column; other kinds become objects. `Int64` allows missing whole numbers."""
_SHOWN_COLUMNS = 12
_INSTALL = "to_{library} needs {library}, which is not installed; install it with `pip install {library}`"


class Rows(Sequence[RowT_co], Generic[RowT_co]):
    """Rows in their order; they cannot be changed. As a table, a row has a column for each of `columns`. A cell without
    a value is None in `to_dicts` and missing in pandas and polars; instants are aware, in UTC.
    """

    __slots__ = ("_cells", "_columns", "_rows")

    def __init__(self, rows: Iterable[RowT_co], columns: Mapping[str, Kind], cells: Callable[[RowT_co], Cells]) -> None:
        """Keep rows, the columns of their table, and the function that returns a row's cells, both by name; see
        `rows_of`.
        """
        self._rows = tuple(rows)
        self._columns = dict(columns)
        self._cells = cells

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns of the table."""
        return tuple(self._columns)

    def to_dicts(self) -> list[dict[str, object]]:
        """Return the table as a list of dicts; a cell without a value is None."""
        return [{name: cells[name] for name in self._columns} for cells in map(self._cells, self._rows)]

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the table as a data frame of pandas, with the same column types for any rows. Raises `ImportError` if
        pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(_INSTALL.format(library="pandas")) from error
        return pd.DataFrame(
            {
                name: pd.Series(values, dtype=_PANDAS.get(self._columns[name], "object"))
                for name, values in self._by_column().items()
            }
        )

    def to_polars(self) -> "polars.DataFrame":
        """Return the table as a data frame of polars, with the same column types for any rows. Raises `ImportError` if
        polars is not installed.
        """
        try:
            import polars as pl
        except ImportError as error:
            raise ImportError(_INSTALL.format(library="polars")) from error
        kinds: dict[type, Any] = {
            str: pl.String,
            int: pl.Int64,
            float: pl.Float64,
            bool: pl.Boolean,
            datetime: pl.Datetime("us", "UTC"),
            date: pl.Date,
        }
        schema = {
            name: pl.List(kinds[get_args(kind)[0]]) if get_origin(kind) is tuple else kinds[kind]
            for name, kind in self._columns.items()
        }
        return pl.DataFrame(self._by_column(), schema=schema)

    def _by_column(self) -> dict[str, list[object]]:
        table = [self._cells(row) for row in self._rows]
        return {name: [cells[name] for cells in table] for name in self._columns}

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> RowT_co: ...

    @overload
    def __getitem__(self, index: slice) -> "Rows[RowT_co]": ...

    def __getitem__(self, index: int | slice) -> "RowT_co | Rows[RowT_co]":
        """Return a row, or a slice of them."""
        if isinstance(index, slice):
            return Rows(self._rows[index], self._columns, self._cells)
        return self._rows[index]

    def __repr__(self) -> str:
        """Return the number of rows and the first twelve columns; scores have a hundred columns."""
        more = len(self._columns) - _SHOWN_COLUMNS
        shown = [*self.columns[:_SHOWN_COLUMNS], *([f"and {more} more"] if more > 0 else [])]
        return f"<{len(self)} row{'' if len(self) == 1 else 's'}: {', '.join(shown)}>"


def rows_of(kind: type[RowT], rows: Iterable[RowT]) -> Rows[RowT]:
    """Return rows that are plain dataclasses: each field is a column."""
    columns = columns_of(kind)
    return Rows(rows, columns, lambda row: {name: getattr(row, name) for name in columns})


def columns_of(kind: type) -> dict[str, Kind]:
    """Return the fields of a dataclass as the columns of a table.

    Examples:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Bet:
        ...     bot: Literal["random_bet", "favourite"]
        ...     price: float | None
        >>> columns_of(Bet)
        {'bot': <class 'str'>, 'price': <class 'float'>}
    """
    hints = get_type_hints(kind)
    return {field.name: _column_kind(hints[field.name]) for field in fields(kind)}


def _column_kind(hint: Any) -> Kind:
    if get_origin(hint) is tuple:
        return hint
    parts = [part for part in get_args(hint) if part is not NoneType]
    if get_origin(hint) is Literal:
        return type(parts[0])
    return _column_kind(parts[0]) if parts else hint


def grouped(pairs: Iterable[tuple[KeyT, RowT]]) -> defaultdict[KeyT, list[RowT]]:
    """Return the rows of each key, both in the order in which they come; a key without rows has [].

    Examples:
        >>> dict(grouped((word[0], word) for word in ("bet", "ask", "bid")))
        {'b': ['bet', 'bid'], 'a': ['ask']}
    """
    found = defaultdict[KeyT, list[RowT]](list)
    for key, row in pairs:
        found[key].append(row)
    return found


def batches(
    rows: Iterable[RowT], values: Callable[[RowT], Iterable[object]], most: int, most_characters: int
) -> Iterator[list[RowT]]:
    """Yield rows in batches of at most `most` rows, each ended by the row that exceeds `most_characters`."""
    some, characters = list[RowT](), 0
    for row in rows:
        some.append(row)
        characters += sum(len(value) for value in values(row) if isinstance(value, str | bytes))
        if len(some) >= most or characters > most_characters:
            yield some
            some, characters = [], 0
    if some:
        yield some
