"""Input tables: rows of a user's file with their places in it, their cells as values, and a count of bad rows."""

import json
import re
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from math import isnan, nan
from reprlib import Repr
from typing import Literal, NamedTuple, TypeVar

from predibot.domain.clock import parse_instant
from predibot.domain.spelling import nearest
from predibot.errors import UsageError

Cell = object
"""A text, any other JSON value, or None for a missing one."""
FLAGS = {"true": 1.0, "yes": 1.0, "t": 1.0, "y": 1.0, "false": 0.0, "no": 0.0, "f": 0.0, "n": 0.0}
"""Words for true and false besides 1 and 0, in any case."""
_WORDS = "nan -nan na n/a <na> #n/a #na nat null none nil \\n 1.#qnan -1.#qnan 1.#ind -1.#ind"
MISSING = frozenset(("", "#n/a n/a", *_WORDS.split()))
"""Words for a missing value, in any case, as pandas, SQL and Go write them or pandas reads them."""
_SHOWN_CHARACTERS = 40
_NESTED = Repr()
"""Shortens lists and objects from JSON."""
_LEAST_AMOUNT, _MOST_AMOUNT = 1e-50, 1e50
"""Amounts beyond are no money, and their returns overflow."""
_INSTANT = re.compile(
    r"(?P<day>\d{4}-?\d\d-?\d\d)(?P<time>[T ]\d\d(:?\d\d(:?\d\d([.,]\d{1,9})?)?)?)?"
    r"(?(time)\s*(?P<offset>Z|[+-]\d\d(:?\d\d)?)?)\s*(?P<utc>UTC|GMT|\[(ETC/)?(UTC|GMT)\])?",
    re.ASCII,
)
"""Stricter than Python, which accepts any sign between day and time."""


class InvalidCell(ValueError):
    """A cell does not fit its column; the message says what was seen and what to write."""


def clean_cell(cell: Cell) -> Cell:
    """Return a cell without spaces around it, None for a missing value."""
    if isinstance(cell, str):
        cell = cell.strip()
        return None if cell.casefold() in MISSING else cell
    return None if isinstance(cell, float) and isnan(cell) else cell


def parse_text(column: str, cell: Cell) -> str:
    """Return a name: a text, a whole number as text, or a list of them as JSON."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) and not isinstance(cell, bool):
        return str(cell)
    if isinstance(cell, list) and cell and all(isinstance(each, str | int) for each in cell):
        return json.dumps(cell, ensure_ascii=False)
    raise _refusal(column, cell, "a text")


def parse_share(column: str, cell: Cell) -> float:
    """Return a number in [0, 1]."""
    return _number(column, cell, 1.0, "a number from 0 to 1, such as 0.7")


def parse_score(column: str, cell: Cell) -> float:
    """Return a finite number, negative ones too."""
    return _number(column, cell, _MOST_AMOUNT, "a number, such as 1287 or -0.3", least=-_MOST_AMOUNT)


def parse_payout(column: str, cell: Cell) -> float:
    """Return the payout of YES: 1, 0, or a number between for a void market.

    Examples:
        >>> parse_payout("outcome", True), parse_payout("outcome", "FALSE"), parse_payout("outcome", "0.5")
        (1.0, 0.0, 0.5)
    """
    if isinstance(cell, str):
        cell = FLAGS.get(cell.casefold(), cell)
    elif isinstance(cell, bool):
        cell = float(cell)
    return _number(column, cell, 1.0, "1 or 0, a number between for void, or nothing for open")


def parse_amount(column: str, cell: Cell) -> float:
    """Return an amount of money: zero, or a realistic number above it."""
    what = "a number of zero or more, such as 1000.5"
    amount = _number(column, cell, _MOST_AMOUNT, what)
    if 0.0 < amount < _LEAST_AMOUNT:
        raise _refusal(column, cell, what)
    return amount


def parse_cell_instant(column: str, cell: Cell) -> datetime:
    """Return a UTC instant; a date is its midnight, and without an offset a time is UTC.

    Examples:
        >>> parse_cell_instant("date", "2026-03-01 12:00:00 UTC").isoformat()
        '2026-03-01T12:00:00+00:00'
    """
    found = _INSTANT.fullmatch(cell.upper()) if isinstance(cell, str) else None
    # UTC together with another offset is refused.
    if found and not (found["utc"] and (found["offset"] or "Z").strip("+-:0Z")):
        with suppress(ValueError):
            return parse_instant("".join(found[part] or "" for part in ("day", "time", "offset")))
    of_pandas = " (in pandas date_format='iso')" if isinstance(cell, int | float) else ""
    raise _refusal(column, cell, f"a date like 2026-03-01, or 2026-03-01T12:00Z{of_pandas}")


def show_cell(cell: Cell) -> str:
    """Return a cell as messages show it: short, and a text in quotes."""
    if cell is None:
        return "missing"
    # A number with a million digits is slow to write, and Python refuses to.
    if isinstance(cell, int) and cell.bit_length() > 256:
        return "a very large number"
    if isinstance(cell, str):
        written = repr(cell[: _SHOWN_CHARACTERS + 1])
    else:
        written = _NESTED.repr(cell) if isinstance(cell, list | dict) else str(cell)
    return written if len(written) <= _SHOWN_CHARACTERS else f"{written[:_SHOWN_CHARACTERS]}..."


def _number(column: str, cell: Cell, most: float, what: str, *, least: float = 0.0) -> float:
    number = nan
    # `float` also accepts 0_5, and digits of every script.
    if (isinstance(cell, str) and cell.isascii() and "_" not in cell) or type(cell) in (int, float):
        with suppress(OverflowError, ValueError):
            number = float(cell)  # type: ignore[arg-type]
    if not least <= number <= most:
        raise _refusal(column, cell, what)
    return number


def _refusal(column: str, cell: Cell, what: str) -> InvalidCell:
    return InvalidCell(f"{column} is {show_cell(cell)}; write {what}")


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
