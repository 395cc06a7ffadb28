"""Reading tables: CSV, JSON or Parquet of anybody's making to rows; done in a child process, for it may be hostile."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import chain, islice
from typing import Any, BinaryIO, Literal, cast

TableFormat = Literal["csv", "jsonl", "json", "parquet"]
Cell = object
"""A text, or anything else that JSON can hold, or None where there is nothing."""
Found = tuple[int, list[Cell] | str]
"""Where a row is, with its cells, or with the reason why it is none."""
_SEPARATORS = ";\t|"
_EXCEL_SEPARATOR = re.compile(r"sep=(.)\s*")
"""The line in which Excel says it."""
_NAMING_ROWS = 100
"""Of JSON lines: how many are looked at for the names of columns."""
_BATCH_ROWS, _BATCH_BYTES = 500, 2**22
"""How much of Parquet is made into objects at once."""
_SHOWN_CHARACTERS = 40


class TableUnreadable(ValueError):
    """A file is not what it is taken for; the text goes on behind the file's name."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A table whose columns are known."""

    names: Sequence[str]
    place: Literal["line", "row"]
    """What a row's number counts: lines of the file, or rows from 1."""
    rows: Callable[[Sequence[str], Sequence[str]], Iterator[Found]]
    """Yields rows with the cells of required and optional columns."""
    beside: Mapping[str, Cell]
    """What a JSON document says beside its rows: texts, numbers and flags."""
    rows_name: str = ""
    """What such a document calls its rows."""


def open_table(file: BinaryIO, kind: TableFormat) -> Opened:
    """Return a table of a file.

    Raises:
        TableUnreadable: If it is not what it is taken for; reading rows may raise it too.
    """
    return {"csv": _csv, "jsonl": _json, "json": _json, "parquet": _parquet}[kind](file)


class _Lines:
    """Lines of a text, with the number of the last one that was read."""

    def __init__(self, file: BinaryIO, newline: Literal["", "\n"]) -> None:
        self._stream = TextIOWrapper(file, "utf-8-sig", errors="surrogateescape", newline=newline)
        self.number = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self._stream.readline()
        if not line:
            raise StopIteration
        self.number += 1
        if not line.isascii() and any("\udc80" <= sign <= "\udcff" for sign in line):
            raise TableUnreadable(f", line {self.number}: this is not UTF-8. Save the file as UTF-8")
        if "\0" in line:
            raise TableUnreadable(" is no text. Give CSV, JSON or Parquet, and say which with --format")
        return line

    def first(self) -> str:
        """Return the next line that is not blank, or nothing."""
        return next((line for line in self if line.strip()), "")


def _csv(file: BinaryIO) -> Opened:
    # Any line break ends a line.
    lines = _Lines(file, "")
    first = lines.first()
    if said := _EXCEL_SEPARATOR.fullmatch(first):
        first = lines.first()
    if not first:
        raise TableUnreadable(" is empty. Give a header and one row a line")
    separator = said[1] if said else "," if "," in first else max(_SEPARATORS, key=first.count)
    reader = csv.reader(chain([first], lines), delimiter=separator if separator in first else ",", strict=True)
    try:
        header = [name.strip() for name in next(reader)]
    except csv.Error as error:
        raise TableUnreadable(f", line {lines.number}: {error}. Fix the header") from None

    def rows(required: Sequence[str], optional: Sequence[str]) -> Iterator[Found]:
        # What a column that is not there has in every row.
        places = [header.index(name) if name in header else len(header) for name in (*required, *optional)]
        while True:
            # A cell may hold line breaks, and then a row is where it begins.
            number = lines.number + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                why = "a quotation mark is never closed" if "end of data" in str(error) else str(error)
                yield number, f"{why}; lines {number} to {lines.number} were passed over"
                continue
            if not cells or (len(cells) == 1 and not cells[0].strip()):
                continue
            if len(cells) != len(header):
                yield number, f"it has {len(cells)} cells, the header {len(header)}; put quotes around separators"
            else:
                cells.append("")
                yield number, [cells[place] for place in places]

    return Opened(header, "line", rows, {})


def _json(file: BinaryIO) -> Opened:
    """Return the table of JSON: an object a line, or one document that holds rows."""
    # Other line breaks, such as U+2028, may stand in a text.
    lines = _Lines(file, "\n")
    first, number = lines.first(), lines.number
    if not first:
        raise TableUnreadable(" is empty. Give JSON objects")
    second, second_number = lines.first(), lines.number
    value, wrong = _value(first)
    is_lines, rest = bool(second) and not wrong, cast(Iterator[str], lines)
    if second and wrong:
        read = list(lines)
        value, wrong = _value("".join([first, second, *read]), several=True)
        # Of lines of which the first is broken.
        is_lines, rest = bool(wrong) and first.lstrip()[0] == "{" and isinstance(_value(second)[0], dict), iter(read)
    if is_lines:
        known = [(number, first), (second_number, second)]
        found = chain(known, ((at, line) for at, line in enumerate(rest, second_number + 1) if line.strip()))
        return _objects(((at, *_value(line)) for at, line in found), "line")
    if wrong:
        raise TableUnreadable(f" is no JSON that can be read: {wrong}. Write it again")
    rows_name, rows, beside = _rows_of(value)
    place: Literal["line", "row"] = "line" if rows == [value] else "row"
    table = _objects(((at, row, "") for at, row in enumerate(rows, start=number if place == "line" else 1)), place)
    names = tuple(dict.fromkeys(name for row in rows if isinstance(row, dict) for name in row))
    return Opened(names, place, table.rows, beside, rows_name)


def _value(text: str, *, several: bool = False) -> tuple[Any, str]:
    """Return what a text of JSON says, or why it says nothing; of several objects behind each other, as `jq` writes
    them, their list."""
    try:
        first, end = _DECODER.raw_decode(text, _start(text))
        found = [first]
        while several and (start := _start(text, end)) < len(text):
            value, end = _DECODER.raw_decode(text, start)
            found.append(value)
        if _start(text, end) < len(text):
            raise json.JSONDecodeError("Extra data", text, end)
    except RecursionError:
        # What Python calls it differs from version to version.
        return None, "it is nested too deeply"
    except ValueError as error:
        # Python's own words on such a number are about a setting of Python.
        return None, "a number has thousands of digits" if "int_max_str_digits" in str(error) else str(error)
    return (found if len(found) > 1 else first), ""


def _start(text: str, at: int = 0) -> int:
    """Return where the next sign is that is no space."""
    found = _NO_SPACE.search(text, at)
    return len(text) if found is None else found.start()


def _rows_of(value: Any) -> tuple[str, list[Any], Mapping[str, Cell]]:
    """Return the rows of one document, what it calls them, and what it says beside them."""
    if isinstance(value, list):
        return "", value, {}
    if not isinstance(value, dict):
        raise TableUnreadable(f" is {str(value)[:_SHOWN_CHARACTERS]!r}, no table. Give an array of JSON objects")
    if name := _rows_name(value):
        beside = {each: cell for each, cell in value.items() if not isinstance(cell, list | dict)}
        return name, value[name], beside
    inner = [each for each in value.values() if isinstance(each, dict)]
    if len(inner) == 1 and _rows_name(inner[0]):
        return _rows_of(inner[0])
    return "", _unnamed_rows(value), {}


def _rows_name(value: Mapping[str, Any]) -> str:
    """Return the name of the one array of objects in an object; of several that are not empty, one is not known."""
    arrays = {name: each for name, each in value.items() if isinstance(each, list)}
    of_rows = {name: each for name, each in arrays.items() if all(isinstance(row, dict) for row in each)}
    full = [name for name, each in of_rows.items() if each] or list(of_rows)
    if len(full) > 1:
        raise TableUnreadable(f" holds several arrays of rows: {', '.join(full)[:200]}. Give one")
    return full[0] if full else ""


def _unnamed_rows(value: Mapping[str, Any]) -> list[Any]:
    """Return the rows of an object that holds no array of them: itself, or what it has under their names."""
    arrays = [each for each in value.values() if isinstance(each, list)]
    if set(value) == {"columns", "index", "data"}:
        # As pandas splits a table.
        return [dict(zip(value["columns"], cells, strict=False)) for cells in value["data"]]
    columns = [list(each.values()) if isinstance(each, dict) else each for each in value.values()]
    numbered = all(isinstance(each, dict) and all(map(str.isdigit, each)) for each in value.values())
    if (numbered or len(arrays) == len(value)) and len(set(map(len, columns))) == 1:
        # A column under its name.
        return [dict(zip(value, cells, strict=True)) for cells in zip(*columns, strict=True)]
    if value and all(isinstance(each, dict) for each in value.values()):
        # A row under its name.
        return [{"key": name, **each} for name, each in value.items()]
    return [value]


def _objects(found: Iterable[tuple[int, Any, str]], place: Literal["line", "row"]) -> Opened:
    """Return the table of objects, some of which are none."""
    found = iter(found)
    head = list(islice(found, _NAMING_ROWS))
    names = tuple(dict.fromkeys(name for _, value, _ in head if isinstance(value, dict) for name in value))
    a_place = "one a line" if place == "line" else "an object a row"

    def rows(required: Sequence[str], optional: Sequence[str]) -> Iterator[Found]:
        for number, value, wrong in chain(head, found):
            if wrong:
                yield number, f"this is no JSON object: {wrong}; write {a_place}"
            elif not isinstance(value, dict):
                shown = json.dumps(value)
                shown = shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[:_SHOWN_CHARACTERS]}..."
                yield number, f"this is {shown}, no JSON object; write {a_place}"
            elif missing := [name for name in required if name not in value]:
                yield number, f"it has no {', no '.join(missing)}; null stands for what is not known"
            else:
                yield number, [value.get(name) for name in (*required, *optional)]

    return Opened(names, place, rows, {})


def unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of JSON that has these pairs.

    Raises:
        ValueError: If a name is in it twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise ValueError(f"it says {twice[:_SHOWN_CHARACTERS]!r} twice")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=unique_object)
"""Made once: `loads` would make one a line."""
_NO_SPACE = re.compile(r"[^ \t\n\r]")


def _parquet(file: BinaryIO) -> Opened:
    import pyarrow as pa  # heavy
    import pyarrow.parquet as pq

    broken = (pa.ArrowException, OSError, ValueError, OverflowError)

    def unreadable(error: BaseException) -> TableUnreadable:
        said = " ".join(str(error).split())[:200].rstrip(" .")
        return TableUnreadable(f" is no Parquet file that can be read: {said}. Write it again")

    try:
        opened = pq.ParquetFile(file, pre_buffer=False, buffer_size=2**20)
        names, about = tuple(opened.schema_arrow.names), opened.metadata
        groups = [about.row_group(number).total_byte_size for number in range(about.num_row_groups)]
    except MemoryError:
        raise
    except broken as error:
        raise unreadable(error) from None

    def rows(required: Sequence[str], optional: Sequence[str]) -> Iterator[Found]:
        wanted = (*required, *optional)
        there = [name for name in wanted if name in names]
        number = 0
        row_bytes = sum(groups) // max(1, about.num_rows)
        n_rows = min(_BATCH_ROWS, max(1, _BATCH_BYTES // max(1, row_bytes)))
        try:
            for batch in opened.iter_batches(n_rows, columns=there, use_threads=False):
                found = {name: _texts_for_instants(batch.column(name)).to_pylist() for name in there}
                empty = [None] * batch.num_rows
                for cells in zip(*(found.get(name, empty) for name in wanted), strict=True):
                    number += 1
                    yield number, list(cells)
        except MemoryError:
            raise
        except broken as error:
            raise unreadable(error) from None

    return Opened(names, "row", rows, {})


def _texts_for_instants(column: Any) -> Any:
    """Return a column in which dates and instants are texts in UTC, also those that Python cannot hold."""
    import pyarrow as pa  # heavy

    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp(column.type.unit)).cast(pa.string())
    return column.cast(pa.string()) if pa.types.is_date(column.type) else column
