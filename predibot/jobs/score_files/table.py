"""Input tables: rows of a user's file with their places in it, and a count of bad ones."""

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from predibot.domain.spelling import nearest
from predibot.errors import UsageError
from predibot.jobs.score_files.cells import Cell, InvalidCell, clean_cell, show_cell

MAX_ROWS = 400_000
"""The most rows, bad ones too: a good one takes 600 bytes besides its texts, and scoring as much again."""
LISTED_BAD_ROWS = 1_000
Place = Literal["line", "row"]
"""Whether row numbers are lines of the file, or rows counted from 1."""


class FileRow(NamedTuple):
    """A row with its place, and its cells in the order of the requested columns."""

    number: int
    cells: Sequence[Cell]


class BadRow(NamedTuple):
    """A row that cannot be used."""

    number: int
    reason: str
    """What is wrong, what was seen, and what to write."""


class Columns(NamedTuple):
    """The requested columns of a table; others are ignored."""

    required: Sequence[str]
    optional: Sequence[str] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return all of them, in the order of a row's cells."""
        return (*self.required, *self.optional)


@dataclass(frozen=True, slots=True)
class InputTable:
    """A table with known columns."""

    names: Sequence[str]
    place: Place
    read: Callable[[Columns], Iterable[FileRow | BadRow]]
    """Yields the rows with unchanged cells."""
    beside: Mapping[str, Cell] = field(default_factory=dict)
    """Texts, numbers and flags in a JSON document beside its rows."""
    rows_name: str = ""
    """The key of the rows in such a document."""
    label: str = ""
    """Its file's name in messages."""
    max_rows: int = MAX_ROWS
    remedy: str = "Score it in parts"
    """What to do if it is too large."""
    remarks: tuple[str, ...] = ()

    def rows(self, columns: Columns) -> Iterator[FileRow | BadRow]:
        """Yield every row or its mistake; missing cells, and cells of absent optional columns, are None.

        Spaces around a text do not count. Blank lines are skipped. UsageError is raised if the file has another format,
        is too large, or lacks a column.
        """
        self.require(columns)
        for n_before, row in enumerate(self.read(columns)):
            if n_before == self.max_rows:
                raise UsageError(f"{self.label} has more than {self.max_rows:,} rows. {self.remedy}")
            yield FileRow(row.number, tuple(map(clean_cell, row.cells))) if isinstance(row, FileRow) else row

    def require(self, columns: Columns) -> None:
        """Refuse a table that lacks a required column or has one twice."""
        for name in columns.names:
            if (count := list(self.names).count(name)) > 1:
                raise UsageError(f"{self.label} has {count} columns {name!r}. Keep one")
        if missing := [name for name in columns.required if name not in self.names]:
            found = nearest(missing[0], self.names)
            seen = f"{show_cell(found)}; rename that, or add it" if found else f"{self.list_names()}; rename, or add"
            raise UsageError(f"{self.label} has no column {', '.join(missing)}. It has {seen}")

    def list_names(self) -> str:
        """Return the names of its columns as a message shows them."""
        return ", ".join(map(show_cell, self.names[:12])) or "none"


_T = TypeVar("_T")


@dataclass(slots=True)
class FileRows:
    """The counts of a file's rows."""

    label: str
    place: Place
    rows: int = 0
    n_bad_rows: int = 0
    _listed: list[BadRow] = field(default_factory=list)

    def add(self, row: BadRow) -> None:
        """Count a bad row, in any order."""
        self.n_bad_rows += 1
        if len(self._listed) < LISTED_BAD_ROWS or row < self._listed[-1]:
            insort(self._listed, row)
            del self._listed[LISTED_BAD_ROWS:]

    def parse(self, rows: Iterable[FileRow | BadRow], parse: Callable[[FileRow], _T]) -> list[_T]:
        """Return what the rows hold, and count those that cannot be used."""
        found: list[_T] = []
        last: BadRow | None = None
        for row in rows:
            if isinstance(row, BadRow):
                self.add(row)
                continue
            try:
                found.append(parse(row))
            except InvalidCell as error:
                wrong = BadRow(row.number, str(error))
                # A mistake that concerns every forecaster of a wide row is reported once.
                if wrong != last:
                    self.add(wrong)
                last = wrong
        self.rows = len(found) + self.n_bad_rows
        return found

    def drop_refused(self, rows: Iterable[_T], refused: Iterable[tuple[_T, BadRow]]) -> list[_T]:
        """Return the rows that are not refused, and count the others."""
        gone: set[int] = set()
        for row, bad in refused:
            # By identity: other forecasts of the same line stay.
            gone.add(id(row))
            self.add(bad)
        return [row for row in rows if id(row) not in gone]

    @property
    def bad_rows(self) -> tuple[BadRow, ...]:
        """Return the first thousand, in the file's order."""
        return tuple(self._listed)
