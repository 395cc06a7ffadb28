"""Table files: CSV, JSONL or Parquet of anybody's making, as rows that know where in the file they are."""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

from predibot.errors import UsageError
from predibot.jobs.cell import Cell, shown
from predibot.spelling import nearest

TableFormat = Literal["csv", "jsonl", "parquet"]
TABLE_FORMATS: tuple[TableFormat, ...] = ("csv", "jsonl", "parquet")
STANDARD_INPUT = "-"
MAX_BYTES = 256 * 2**20
MAX_PARQUET_ROWS = 10_000_000
"""A small Parquet file can say the same ten thousand million times."""
_BATCH_ROWS = 10_000
_ENDINGS: tuple[tuple[str, TableFormat], ...] = (
    (".csv", "csv"),
    (".jsonl", "jsonl"),
    (".ndjson", "jsonl"),
    (".parquet", "parquet"),
)
_PARQUET_MARK = b"PAR1"


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

    def text(self) -> str:
        """Return the content as text.

        Raises:
            UsageError: If it is no UTF-8, with or without a byte-order mark.
        """
        try:
            text = self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.content.count(b"\n", 0, error.start) + 1
            raise UsageError(f"{self.label}, line {line}: this is not UTF-8. Save the file as UTF-8") from None
        if "\0" in text:
            raise UsageError(f"{self.label} is no text. Give CSV, JSON lines or Parquet, and say which with --format")
        return text


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
    if not content.removeprefix(b"\xef\xbb\xbf").strip():
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
    return "jsonl" if content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[") else "csv"


def _csv_rows(file: TableFile, columns: Columns) -> Iterator[Row | BadRow]:
    reader = csv.reader(StringIO(file.text(), newline=""), strict=True)
    header: list[str] | None = None
    places: list[int] = []
    while True:
        # A cell may hold line breaks, and then a row is where it begins.
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if header is None:
                raise UsageError(f"{file.label}, line {number}: {error}. Mend the header") from None
            yield BadRow(number, f"{_csv_mistake(error)}; lines {number} to {reader.line_num} were passed over")
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
    lines = file.text().split("\n")
    if lines[0].lstrip().startswith("["):
        raise UsageError(f"{file.label} is one JSON array. Write one object a line")
    # Made once: `loads` would make one a line.
    decode = json.JSONDecoder(object_pairs_hook=_object).decode
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found = decode(line)
        except RecursionError:
            # What Python calls it differs from version to version.
            yield BadRow(number, "this is no JSON object: it is nested too deeply; write one a line")
            continue
        except ValueError as error:
            yield BadRow(number, f"this is no JSON object: {error}; write one a line")
            continue
        if not isinstance(found, dict):
            yield BadRow(number, f"this is {shown(found)}, no JSON object; write one a line")
        elif missing := [name for name in columns.required if name not in found]:
            yield BadRow(number, f"it has no {', no '.join(missing)}; null stands for what is not known")
        else:
            yield Row(number, tuple(_stripped(found.get(name)) for name in columns.names))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it says something twice")
    return found


def _stripped(cell: Cell) -> Cell:
    return cell.strip() or None if isinstance(cell, str) else cell


def _parquet_rows(file: TableFile, columns: Columns) -> Iterator[Row | BadRow]:
    import pyarrow as pa  # heavy
    import pyarrow.parquet as pq

    broken = (pa.ArrowException, OSError, ValueError)
    try:
        parquet = pq.ParquetFile(pa.BufferReader(file.content))
        names, n_rows = list(parquet.schema_arrow.names), parquet.metadata.num_rows
    except broken as error:
        raise _unreadable(file, error) from None
    if n_rows > MAX_PARQUET_ROWS:
        raise UsageError(f"{file.label} has {n_rows:,} rows, {MAX_PARQUET_ROWS:,} are the most. Score it in parts")
    places = _places(file, names, columns)
    wanted = [name for name in columns.names if name in names]
    try:
        number = 0
        for batch in parquet.iter_batches(batch_size=_BATCH_ROWS, columns=wanted):
            found = [None if place is None else _values(batch.column(names[place])) for place in places]
            for index in range(batch.num_rows):
                number += 1
                yield Row(number, tuple(None if column is None else _stripped(column[index]) for column in found))
    except broken as error:
        raise _unreadable(file, error) from None


def _values(column: Any) -> list[Cell]:
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        # What is finer than a microsecond is an instant that Python cannot hold.
        column = column.cast(pa.timestamp("us", column.type.tz))
    values: list[Cell] = column.to_pylist()
    return values


def _unreadable(file: TableFile, error: Exception) -> UsageError:
    return UsageError(f"{file.label} is no Parquet file that can be read: {str(error)[:200]}. Write it again")
