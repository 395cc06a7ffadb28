"""Table files: CSV, JSONL or Parquet of anybody's making, as rows that know where in the file they are."""

import codecs
import csv
import json
import re
import sys
from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TextIO, TypeVar

from predibot.domain.spelling import nearest
from predibot.errors import UsageError
from predibot.jobs.score_files.cells import Cell, shown

TableFormat = Literal["csv", "jsonl", "parquet"]
TABLE_FORMATS: tuple[TableFormat, ...] = ("csv", "jsonl", "parquet")
STANDARD_INPUT = "-"
MAX_BYTES = 256 * 2**20
MAX_LINE_CHARACTERS = 2**20
LISTED_BAD_ROWS = 1_000
MAX_HELD_BYTES = 256 * 2**20
"""Of a file and what is made of it, as `Held` counts; scoring takes up to as much again."""
HELD_ROW_BYTES = 600
"""What a row that is kept costs beside its texts."""
_PIECE_BYTES = 2**20
_ENDINGS: tuple[tuple[str, TableFormat], ...] = (
    (".csv", "csv"),
    (".jsonl", "jsonl"),
    (".ndjson", "jsonl"),
    (".parquet", "parquet"),
)
_PARQUET_MARK = b"PAR1"
_NO_SPACE = re.compile(rb"\S")


class Row(NamedTuple):
    """A row: where it is, and its cells in the order of the columns asked for."""

    number: int
    cells: tuple[Cell, ...]


class BadRow(NamedTuple):
    """A row that cannot be used."""

    number: int
    """Where it is: the line of the file, or the row of a Parquet file, counted from 1."""
    reason: str
    """What is wrong, what was seen, and what to write."""


class _Numbered(Protocol):
    """Something that knows its row."""

    @property
    def number(self) -> int: ...


_T = TypeVar("_T", bound=_Numbered)


@dataclass(slots=True)
class BadRows:
    """How many rows are bad, and the first thousand of them: a small file can have millions."""

    count: int = 0
    _first: list[BadRow] = field(default_factory=list)

    def add(self, row: BadRow) -> None:
        """Count a row, in any order."""
        self.count += 1
        if len(self._first) < LISTED_BAD_ROWS or row < self._first[-1]:
            insort(self._first, row)
            del self._first[LISTED_BAD_ROWS:]

    def sifted(self, rows: Iterable[_T], refused: Iterable[tuple[_T, str]]) -> list[_T]:
        """Return the rows that are not refused for some reason, and count the others."""
        gone: set[int] = set()
        for row, reason in refused:
            # A line may hold several of them, of which the others stay.
            gone.add(id(row))
            self.add(BadRow(row.number, reason))
        return [row for row in rows if id(row) not in gone]

    @property
    def listed(self) -> tuple[BadRow, ...]:
        """Return the first of them, in the file's order."""
        return tuple(self._first)


@dataclass(frozen=True, slots=True)
class Columns:
    """What is asked of a table; other columns are passed over."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return all of them, in the order of a row's cells."""
        return self.required + self.optional


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file's bytes, what messages call it, and what it is."""

    label: str
    format: TableFormat
    content: bytes

    @property
    def place(self) -> str:
        """Return what a row's number counts: `line`, or `row` of a Parquet file."""
        return "row" if self.format == "parquet" else "line"

    def rows(self, columns: Columns) -> Iterator[Row | BadRow]:
        """Yield every row, or why it is none; an empty cell, and one of a column that is not there, is None.

        Spaces around a text do not count. Blank lines are no rows.

        Raises:
            UsageError: If the file is not what it is taken for, or a column is missing.
        """
        readers = {"csv": _csv_rows, "jsonl": _jsonl_rows, "parquet": _parquet_rows}
        return readers[self.format](self, columns)

    def names(self) -> tuple[str, ...]:
        """Return the names of its columns; of JSONL, those of the first object.

        Raises:
            UsageError: If the file is not what it is taken for.
        """
        if self.format == "parquet":
            from predibot.jobs.score_files.parquet_rows import ParquetTable  # heavy

            return tuple(ParquetTable(self.label, self.content).names)
        try:
            if self.format == "csv":
                return tuple(name.strip() for name in next(filter(any, csv.reader(self.lines("")))))
            found = json.loads(next(line for line in self.lines("\n") if line.strip()))
        except (StopIteration, ValueError, csv.Error, RecursionError):
            raise UsageError(f"{self.label}: its first row cannot be read, which names the columns. Fix it") from None
        return tuple(found) if isinstance(found, dict) else ()

    def lines(self, newline: Literal["", "\n"]) -> "_Lines":
        """Return the lines of the content; with `newline` empty any line break ends one.

        Raises:
            UsageError: If it is no UTF-8, with or without a byte-order mark, or no text.
        """
        decoder = codecs.getincrementaldecoder("utf-8")()
        view = memoryview(self.content)
        for start in range(0, len(view) + 1, _PIECE_BYTES):
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(view[start : start + _PIECE_BYTES], final=start + _PIECE_BYTES > len(view))
            except UnicodeDecodeError as error:
                line = self.content.count(b"\n", 0, start - pending + error.start) + 1
                raise UsageError(f"{self.label}, line {line}: this is not UTF-8. Save the file as UTF-8") from None
        if b"\0" in self.content:
            raise UsageError(f"{self.label} is no text. Give CSV, JSON lines or Parquet, and say which with --format")
        return _Lines(TextIOWrapper(BytesIO(self.content), "utf-8-sig", newline=newline))


@dataclass(slots=True)
class Held:
    """How much is held of a file that is being read; of one that is small there may be millions of rows."""

    file: TableFile
    n_bytes: int = field(init=False)

    def __post_init__(self) -> None:
        """Count the file itself."""
        self.n_bytes = len(self.file.content)

    def add_row(self) -> None:
        """Count a row that is kept.

        Raises:
            UsageError: If there are too many.
        """
        self._add(HELD_ROW_BYTES)

    def add_text(self, text: str) -> None:
        """Count a text that is kept.

        Raises:
            UsageError: If it is too much.
        """
        self._add(sys.getsizeof(text))

    def _add(self, n_bytes: int) -> None:
        self.n_bytes += n_bytes
        if self.n_bytes > MAX_HELD_BYTES:
            raise UsageError(
                f"{self.file.label} takes more than {MAX_HELD_BYTES // 2**20} MiB to read, {HELD_ROW_BYTES} bytes "
                "a row included. Score it in parts"
            )


class _Lines:
    """Lines that are read one after the other; one that is too long is passed over and told."""

    def __init__(self, stream: TextIOWrapper) -> None:
        self._stream = stream
        self.number = 0
        """How many were read."""

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        """Return the next line with its end.

        Raises:
            LineTooLong: If no row is as long as this; the next call goes on behind it.
        """
        line = piece = self._stream.readline(MAX_LINE_CHARACTERS)
        if not line:
            raise StopIteration
        self.number += 1
        while len(piece) == MAX_LINE_CHARACTERS and not piece.endswith(("\n", "\r")):
            piece = self._stream.readline(MAX_LINE_CHARACTERS)
        if piece is not line:
            raise LineTooLong(f"the line is longer than {MAX_LINE_CHARACTERS:,} characters")
        return line


class LineTooLong(csv.Error):
    """A line that is no row; as one of csv's errors, it ends the reading of a row there."""


def read_table_file(argument: str, wanted: TableFormat | None, standard_input: TextIO | None) -> TableFile:
    """Return the file somebody named.

    Args:
        argument: A path, or `-` for standard input.
        wanted: Its format; None takes the ending's, else what the first bytes look like.
        standard_input: What `-` stands for; None where the program was started without.

    Raises:
        UsageError: If there is none, it cannot be read, it is empty, or it is too large.
    """
    label = "standard input" if argument == STANDARD_INPUT else argument
    try:
        content = _bytes_of(argument, standard_input)
    except FileNotFoundError:
        raise UsageError(f"no file {argument!r}. Name a CSV, JSONL or Parquet file, or - for standard input") from None
    except IsADirectoryError:
        raise UsageError(f"{argument!r} is a folder. Name a file in it") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{label} cannot be read: {reason}. Name a CSV, JSONL or Parquet file") from None
    if len(content) > MAX_BYTES:
        raise UsageError(f"{label} is larger than {MAX_BYTES // 2**20} MiB. Score it in parts")
    if not _first_character(content):
        raise UsageError(f"{label} is empty. Give a header and one row a line")
    return TableFile(label, wanted or _format_of(argument, content), content)


def _bytes_of(argument: str, standard_input: TextIO | None) -> bytes:
    # One byte more than is allowed shows that there are more.
    if argument == STANDARD_INPUT:
        if standard_input is None:
            raise ValueError("there is none")
        return standard_input.buffer.read(MAX_BYTES + 1)
    with Path(argument).open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _format_of(argument: str, content: bytes) -> TableFormat:
    if content.startswith(_PARQUET_MARK):
        return "parquet"
    by_ending = next((found for ending, found in _ENDINGS if argument.lower().endswith(ending)), None)
    if by_ending is not None:
        return by_ending
    return "jsonl" if _first_character(content) in (b"{", b"[") else "csv"


def _first_character(content: bytes) -> bytes:
    """Return the first byte that is no space, without a copy of what may fill half the memory there is for it."""
    found = _NO_SPACE.search(content, len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0)
    return b"" if found is None else found[0]


def _csv_rows(file: TableFile, columns: Columns) -> Iterator[Row | BadRow]:
    lines = file.lines("")
    reader = csv.reader(lines, strict=True)
    header: list[str] | None = None
    places: list[int] = []
    while True:
        # A cell may hold line breaks, and then a row is where it begins.
        number = lines.number + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if header is None:
                raise UsageError(f"{file.label}, line {number}: {error}. Fix the header") from None
            yield BadRow(number, f"{_csv_mistake(error)}; lines {number} to {lines.number} were passed over")
            continue
        if not cells or (len(cells) == 1 and not cells[0].strip()):
            continue
        if header is None:
            header = [name.strip() for name in cells]
            places = [len(header) if place is None else place for place in _places(file, header, columns)]
        elif len(cells) != len(header):
            yield BadRow(number, f"it has {len(cells)} cells, the header {len(header)}; put quotes around commas")
        else:
            # What a column that is not there has in every row.
            cells.append("")
            yield Row(number, tuple([cells[place].strip() or None for place in places]))


def _csv_mistake(error: csv.Error) -> str:
    return "a quotation mark is never closed" if "end of data" in str(error) else str(error)


def _places(file: TableFile, header: Sequence[str], columns: Columns) -> list[int | None]:
    """Return where in the header each column is, None for an optional one that is not there."""
    for name in columns.names:
        if header.count(name) > 1:
            raise UsageError(f"{file.label} has {header.count(name)} columns {name!r}. Keep one")
    missing = [name for name in columns.required if name not in header]
    if missing:
        raise UsageError(f"{file.label} has no column {', '.join(missing)}. {_hint(header, missing)}")
    return [header.index(name) if name in header else None for name in columns.names]


def _hint(header: Sequence[str], missing: Sequence[str]) -> str:
    if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
        return "Separate columns with commas"
    found = nearest(missing[0], header)
    seen = ", ".join(shown(name) for name in header[:12])
    return f"It has {shown(found)}; rename that, or add it" if found else f"It has {seen}; rename, or add"


def _jsonl_rows(file: TableFile, columns: Columns) -> Iterator[Row | BadRow]:
    # Other line breaks, such as U+2028, may stand in a text.
    lines = file.lines("\n")
    # Made once: `loads` would make one a line.
    decode = json.JSONDecoder(object_pairs_hook=unique_object).decode
    while True:
        try:
            line = next(lines, None)
        except LineTooLong as error:
            yield BadRow(lines.number, f"{error}; write one JSON object a line")
            continue
        if line is None:
            return
        number = lines.number
        if number == 1 and line.lstrip().startswith("["):
            raise UsageError(f"{file.label} is one JSON array. Write one object a line")
        if not line.strip():
            continue
        try:
            found = decode(line)
        except RecursionError:
            # What Python calls it differs from version to version.
            yield BadRow(number, "this is no JSON object: it is nested too deeply; write one a line")
            continue
        except ValueError as error:
            # Python's own words on such a number are about a setting of Python.
            why = "a number has thousands of digits" if "int_max_str_digits" in str(error) else str(error)
            yield BadRow(number, f"this is no JSON object: {why}; write one a line")
            continue
        if not isinstance(found, dict):
            yield BadRow(number, f"this is {shown(found)}, no JSON object; write one a line")
        elif missing := [name for name in columns.required if name not in found]:
            yield BadRow(number, f"it has no {', no '.join(missing)}; null stands for what is not known")
        else:
            yield Row(number, tuple(_stripped(found.get(name)) for name in columns.names))


def unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of JSON that has these pairs.

    Raises:
        ValueError: If a name is in it twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it says something twice")
    return found


def _stripped(cell: Cell) -> Cell:
    return cell.strip() or None if isinstance(cell, str) else cell


def _parquet_rows(file: TableFile, columns: Columns) -> Iterator[Row | BadRow]:
    from predibot.jobs.score_files.parquet_rows import ParquetTable  # heavy

    table = ParquetTable(file.label, file.content)
    places = _places(file, table.names, columns)
    wanted = [name for name, place in zip(columns.names, places, strict=True) if place is not None]
    number = 0
    for batch in table.batches(wanted):
        found = dict(zip(wanted, batch, strict=True))
        empty = [None] * len(batch[0])
        for cells in zip(*(found.get(name, empty) for name in columns.names), strict=True):
            number += 1
            yield Row(number, tuple([_stripped(cell) for cell in cells]))
