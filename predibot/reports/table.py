"""Tables: rows under columns that are described once, for screens, pages, documents, CSV and frames."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from predibot.domain.untrusted_text import one_line
from predibot.reports import figures

if TYPE_CHECKING:
    from predibot.scoring.inference.bootstrap import Estimate

Kind = Literal["number", "key", "text", "name"]
"""Numbers are right-aligned, keys left-aligned, both never broken; text may wrap, names lose their middle."""
LAST = 99


def value_of(row: Any, path: str) -> Any:
    """Return the value at a path of attributes, keys and indices; None if one on the way is None.

    Examples:
        >>> value_of({"brier": (0.1, 0.2)}, "brier.1"), value_of({}, "skill.low")
        (0.2, None)
    """
    for name in path.split(".") if path else ():
        if isinstance(row, Mapping):
            row = row.get(name)
        elif row is not None:
            row = row[int(name)] if name.isdigit() else getattr(row, name)
    return row


def values_of(row: Any, names: str) -> dict[str, Any]:
    """Return values of a row by names, separated by spaces; `new=path` gives the value at a path a new name."""
    paths = (each.partition("=") for each in names.split())
    return {name: value_of(row, path or name) for name, _, path in paths}


def words(value: object) -> str:
    """Return a value as one line of harmless text."""
    return one_line(str(value))


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its header, where its values are in a row, and how they are written."""

    header: str
    of: str = ""
    """The path of its value; empty for the row itself."""
    write: Callable[[Any], str] = words
    drop: int = LAST
    """Without room, columns go in this order, those with `LAST` from the right; one with 0 never goes.

    Columns without any value go first. The first column never goes.
    """
    meaning: str = ""
    """What the header means, see `means`; it stands below a table that shows the column."""
    only_with: Callable[[Any], Any] | None = None
    """The column is there only if some row has this value; a count of 0 is none."""
    kind: Kind = "number"

    def cell(self, row: object) -> str:
        """Return the cell of a row: a dash without a value."""
        value = value_of(row, self.of)
        return figures.MISSING if value is None else self.write(value)

    def means(self, meaning: str) -> "Column":
        """Return the column with what its header means, a sentence without its stop."""
        return replace(self, meaning=meaning)


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and cells that are already written; every text in it is plain."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    below: tuple[str, ...] = ()
    """Lines below the table that explain it."""
    legend: tuple[Column, ...] | None = None
    """Columns whose meanings stand below, in this order; None for all."""

    def __post_init__(self) -> None:
        """Refuse rows of another length than the header, and a header that is there twice."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row has {len(row)} cells, the header {len(self.columns)}: {row}")
        headers = [column.header for column in self.columns]
        if len(set(headers)) < len(headers):
            raise ValueError(f"a header is there twice: {', '.join(headers)}")

    def legend_lines(self) -> tuple[str, ...]:
        """Return the meanings of the headers as one line; () without any."""
        meant = [each for each in (self.columns if self.legend is None else self.legend) if each.meaning]
        said = " ".join(f"{each.header}: {each.meaning}." for each in meant if each in self.columns)
        return (said,) if said else ()

    def empty_headers(self) -> tuple[str, ...]:
        """Return the headers of the columns in which no row has a text."""
        texts = list(zip(*self.rows, strict=True)) or [()] * len(self.columns)
        return tuple(column.header for column, own in zip(self.columns, texts, strict=True) if not any(own))

    def without(self, *headers: str) -> "Table":
        """Return the table without some columns."""
        kept = [index for index, column in enumerate(self.columns) if column.header not in headers]
        return replace(
            self,
            columns=tuple(self.columns[index] for index in kept),
            rows=tuple(tuple(row[index] for index in kept) for row in self.rows),
        )


def table_of(title: str, columns: Sequence[Column], rows: Collection[Any], below: Collection[str] = ()) -> Table:
    """Return a table of rows, written as the columns say; empty lines below are left out."""
    shown = tuple(
        each for each in columns if each.only_with is None or any(_is_there(each.only_with(row)) for row in rows)
    )
    cells = tuple(tuple(each.cell(row) for each in shown) for row in rows)
    return Table(title, shown, cells, tuple(filter(None, below)))


def _is_there(value: float | None) -> bool:
    """Return whether there is a value; a count of 0 is none."""
    return isinstance(value, float) or bool(value)


def ends(write: Callable[[float | None, float | None], str]) -> "Callable[[Estimate], str]":
    """Return a writer of intervals from a function that writes two numbers."""
    return lambda found: write(found.low, found.high)
