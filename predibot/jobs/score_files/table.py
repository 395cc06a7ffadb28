"""Tables: rows of anybody's making that know where in their file they are, and what became of them."""

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from predibot.domain.spelling import nearest
from predibot.errors import UsageError
from predibot.jobs.score_files.cells import Cell, present, shown

MAX_ROWS = 400_000
"""Good or bad: what is made of a good one takes 600 bytes beside its texts, and scoring as much again."""
LISTED_BAD_ROWS = 1_000
Place = Literal["line", "row"]
"""What a row's number counts: lines of the file, or rows from 1."""


class FileRow(NamedTuple):
    """A row: where it is, and its cells in the order of the columns asked for."""

    number: int
    cells: Sequence[Cell]


class BadRow(NamedTuple):
    """A row that cannot be used."""

    number: int
    """Where it is, as `InputTable.place` says."""
    reason: str
    """What is wrong, what was seen, and what to write."""


class Columns(NamedTuple):
    """What is asked of a table; other columns are passed over."""

    required: Sequence[str]
    optional: Sequence[str] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return all of them, in the order of a row's cells."""
        return (*self.required, *self.optional)


@dataclass(frozen=True, slots=True)
class InputTable:
    """A table whose columns are known."""

    names: Sequence[str]
    place: Place
    read: Callable[[Columns], Iterable[FileRow | BadRow]]
    """Yields the rows with their cells as they are."""
    beside: Mapping[str, Cell] = field(default_factory=dict)
    """What a JSON document says beside its rows: texts, numbers and flags."""
    rows_name: str = ""
    """What such a document calls its rows."""
    label: str = ""
    """What messages call its file."""
    max_rows: int = MAX_ROWS
    remedy: str = "Score it in parts"
    """What to do with one that is too much."""
    remarks: tuple[str, ...] = ()
    """What is left out of it already, and other things to be said beside its scores."""

    def rows(self, columns: Columns) -> Iterator[FileRow | BadRow]:
        """Yield every row, or why it is none; a cell that is missing, and one of a column that is not there, is None.

        Spaces around a text do not count. Blank lines are no rows.

        Raises:
            UsageError: If the file is not what it is taken for, is too much, or a column is missing.
        """
        self.require(columns)
        for n_before, row in enumerate(self.read(columns)):
            if n_before == self.max_rows:
                raise UsageError(f"{self.label} has more than {self.max_rows:,} rows. {self.remedy}")
            yield FileRow(row.number, tuple(map(present, row.cells))) if isinstance(row, FileRow) else row

    def require(self, columns: Columns) -> None:
        """Refuse a table without a column that must be there, or with one twice.

        Raises:
            UsageError: If it is such a table.
        """
        for name in columns.names:
            if (count := list(self.names).count(name)) > 1:
                raise UsageError(f"{self.label} has {count} columns {name!r}. Keep one")
        if missing := [name for name in columns.required if name not in self.names]:
            found = nearest(missing[0], self.names)
            seen = f"{shown(found)}; rename that, or add it" if found else f"{self.seen_names()}; rename, or add"
            raise UsageError(f"{self.label} has no column {', '.join(missing)}. It has {seen}")

    def seen_names(self) -> str:
        """Return the names of its columns as a message shows them."""
        return ", ".join(map(shown, self.names[:12])) or "none"


_T = TypeVar("_T")


@dataclass(slots=True)
class FileRows:
    """What became of a file's rows."""

    label: str
    place: Place
    rows: int = 0
    """Of all, bad ones too."""
    n_bad_rows: int = 0
    _listed: list[BadRow] = field(default_factory=list)

    def add(self, row: BadRow) -> None:
        """Count a bad row, in any order."""
        self.n_bad_rows += 1
        if len(self._listed) < LISTED_BAD_ROWS or row < self._listed[-1]:
            insort(self._listed, row)
            del self._listed[LISTED_BAD_ROWS:]

    def sifted(self, rows: Iterable[_T], refused: Iterable[tuple[_T, BadRow]]) -> list[_T]:
        """Return those of rows that are not refused for some reason, and count the others."""
        gone: set[int] = set()
        for row, bad in refused:
            # A line may hold several of them, of which the others stay.
            gone.add(id(row))
            self.add(bad)
        return [row for row in rows if id(row) not in gone]

    @property
    def bad_rows(self) -> tuple[BadRow, ...]:
        """Return the first thousand, in the file's order."""
        return tuple(self._listed)
