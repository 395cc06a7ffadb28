"""Reading tables: rows from a user's CSV, JSON or Parquet file, in a child process because the file may be hostile."""

import codecs
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Literal

from predibot.domain.untrusted_text import why_no_json
from predibot.jobs.score_files.table import BadRow, Cell, Columns, FileRow, InputTable, Place, show_cell
from predibot.plain_file import open_plain
from predibot.research.pages.parser_child import answer_questions
from predibot.research.pages.parser_messages import PageSource

TableFormat = Literal["csv", "jsonl", "json", "parquet"]
MESSAGE_BYTES = 2**20
"""Rows are sent in messages of about this size."""
_SEPARATORS = ";\t|"
_EXCEL_SEPARATOR = re.compile(r"sep=(.)\s*")
_NAMING_ROWS = 100
"""The lines of JSON that are searched for names of columns."""
_BATCH_ROWS, _BATCH_BYTES = 500, 2**22
"""The most of a Parquet file that is converted at once."""
_SPACE = re.compile(r"[ \t\n\r\x1e]*")
"""Includes RFC 7464's mark before each text."""
_SPACE_AND_COMMA = re.compile(rf"{_SPACE.pattern},?{_SPACE.pattern}")
"""Scripts end each line of JSON with a comma, and forget the brackets around all."""


class TableUnreadable(ValueError):
    """A file has another format or is broken; the message continues behind the file's name."""


def open_table(file: BinaryIO, kind: TableFormat) -> InputTable:
    """Return the table in a file; raise TableUnreadable if it has another format, as reading rows may too."""
    if kind == "parquet":
        return _read_parquet(file)
    return _read_csv(_open_utf8(file)) if kind == "csv" else _read_json(_open_utf8(file))


def _open_utf8(file: BinaryIO) -> BinaryIO:
    """Return a text as UTF-8, from UTF-16 where its mark says so."""
    file.seek(0)
    is_utf16 = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    file.seek(0)
    try:
        return io.BytesIO(file.read().decode("utf-16").encode()) if is_utf16 else file
    except UnicodeError:
        raise TableUnreadable(" is no UTF-16, as its first bytes say. Save the file as UTF-8") from None


def _filled_lines(file: BinaryIO, *, blank: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a text, without blank ones unless requested."""
    file.seek(0)
    # Split as bytes: other line breaks, such as U+2028, may be part of a text.
    for number, line in enumerate(chain.from_iterable(some.splitlines(keepends=True) for some in file), start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise TableUnreadable(f", line {number}: this is not UTF-8. Save the file as UTF-8") from None
        if "\0" in text:
            raise TableUnreadable(" is no text. Give CSV, JSON or Parquet, and say which with --format")
        if blank or text.strip():
            yield number, text


def _read_csv(file: BinaryIO) -> InputTable:
    lines = _filled_lines(file, blank=True)
    filled = ((number, line) for number, line in lines if line.strip())
    header_at, first = next(filled, (0, ""))
    if excel := _EXCEL_SEPARATOR.fullmatch(first):
        header_at, first = next(filled, (0, ""))
    if not first:
        raise TableUnreadable(" is empty. Give a header and one row a line")
    separator = excel[1] if excel else "," if "," in first else max(_SEPARATORS, key=first.count)
    text = chain([first], (line for _, line in lines))
    reader = csv.reader(text, delimiter=separator if separator in first else ",", strict=True)
    try:
        header = [name.strip() for name in next(reader)]
    except csv.Error as error:
        raise TableUnreadable(f", line {header_at + reader.line_num - 1}: {error}. Fix the header") from None

    def rows(columns: Columns) -> Iterator[FileRow | BadRow]:
        # An absent column points to the empty cell that is added to every row.
        places = [header.index(name) if name in header else len(header) for name in columns.names]
        while True:
            # A row with line breaks in a cell has the number of its first line.
            number = header_at + reader.line_num
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                why = "a quotation mark is never closed" if "end of data" in str(error) else str(error)
                last = header_at + reader.line_num - 1
                yield BadRow(number, f"{why}; lines {number} to {last} were passed over")
                continue
            # Excel writes lines of separators below a table.
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                why = f"it has {len(cells)} cells, the header {len(header)}; put quotes around separators"
                yield BadRow(number, why)
            else:
                cells.append("")
                yield FileRow(number, [cells[place] for place in places])

    return InputTable(header, "line", rows)


def _read_json(file: BinaryIO) -> InputTable:
    """Return the table in JSON: an object a line, or one document that holds rows."""
    (number, first), (_, second) = [*islice(_filled_lines(file), 2), (0, ""), (0, "")][:2]
    if not first:
        raise TableUnreadable(" is empty. Give JSON objects")
    value, wrong = _decode(first)
    is_lines = bool(second)
    if wrong or (second and isinstance(value, list)):
        value, wrong = _decode("".join(line for _, line in _filled_lines(file)), several=True)
        # JSON lines with a broken first line.
        is_lines = bool(wrong) and first.lstrip()[0] == "{" and isinstance(_decode(second)[0], dict)
    if is_lines:
        return _table_of_objects(((at, *_decode(line)) for at, line in _filled_lines(file)), "line")
    if wrong:
        raise TableUnreadable(f" is no JSON that can be read: {wrong}. Write it again")
    rows_name, rows, beside = _find_rows(value)
    if rows == [value]:
        return _table_of_objects([(number, value, "")], "line")
    return _table_of_objects(((at, row, "") for at, row in enumerate(rows, start=1)), "row", rows_name, beside)


def _decode(text: str, *, several: bool = False) -> tuple[Any, str]:
    """Return the value of a JSON text, or why it is invalid; `several` objects behind each other become a list."""
    found: list[Any] = []
    at = _after_space(text, 0)
    try:
        while not found or at < len(text):
            if found and not several:
                raise json.JSONDecodeError("Extra data", text, at)
            value, end = _DECODER.raw_decode(text, at)
            found.append(value)
            at = _after_space(text, end, _SPACE_AND_COMMA if several else _SPACE)
    except (ValueError, RecursionError) as error:
        return None, why_no_json(error)
    return (found if len(found) > 1 else found[0]), ""


def _after_space(text: str, at: int, spaces: re.Pattern[str] = _SPACE) -> int:
    space = spaces.match(text, at)
    return at if space is None else space.end()


def _find_rows(value: Any) -> tuple[str, list[Any], Mapping[str, Cell]]:
    """Return the rows of a document, their key, and the values beside them."""
    if isinstance(value, list):
        # Concatenated pages of an API are a list of lists.
        pages = all(isinstance(each, list) for each in value)
        rows = list(chain.from_iterable(value)) if pages else value
        if pages and rows and not any(isinstance(row, dict) for row in rows):
            raise TableUnreadable(" holds lists that do not say what their cells are. Give an array of JSON objects")
        return "", rows, {}
    if not isinstance(value, dict):
        raise TableUnreadable(f" is {str(value)[:40]!r}, no table. Give an array of JSON objects")
    about = value
    while not (name := _find_rows_key(about)):
        # The one part that has nested values, as in `{"data": {"items": [...]}, "meta": {...}}`.
        parts = [each for each in about.values() if isinstance(each, dict)]
        deep = [each for each in parts if any(isinstance(cell, list | dict) for cell in each.values())]
        if len(deep) != 1:
            break
        (about,) = deep
    if name:
        return name, about[name], {each: cell for each, cell in about.items() if not isinstance(cell, list | dict)}
    inner = [each for each in value.values() if isinstance(each, dict)]
    arrays = [list(each.values()) if isinstance(each, dict) else each for each in value.values()]
    numbered = all(isinstance(each, dict) and all(map(str.isdigit, each)) for each in value.values())
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(cells, list) for cells in data):
        # The "split" format of pandas.
        rows = [dict(zip(map(str, names), cells, strict=False)) for cells in data]
    elif (numbered or all(isinstance(each, list) for each in value.values())) and len(set(map(len, arrays))) == 1:
        # Columns by name.
        rows = [dict(zip(value, cells, strict=True)) for cells in zip(*arrays, strict=True)]
    elif value and len(inner) == len(value):
        # Rows by name.
        rows = [{"key": name, **each} for name, each in value.items()]
    else:
        rows = [value]
    return "", rows, {}


def _find_rows_key(value: Mapping[str, Any]) -> str:
    """Return the key of the only array of objects; several filled ones are ambiguous."""
    arrays = {name: each for name, each in value.items() if isinstance(each, list)}
    of_rows = {name: each for name, each in arrays.items() if all(isinstance(row, dict) for row in each)}
    full = [name for name, each in of_rows.items() if each] or list(of_rows)
    if len(full) > 1:
        raise TableUnreadable(f" holds several arrays of rows: {', '.join(full)[:200]}. Give one")
    return full[0] if full else ""


def _table_of_objects(
    found: Iterable[tuple[int, Any, str]], place: Place, rows_name: str = "", beside: Mapping[str, Cell] | None = None
) -> InputTable:
    found = iter(found)
    head = list(islice(found, _NAMING_ROWS if place == "line" else None))
    names = tuple(dict.fromkeys(name for _, value, _ in head if isinstance(value, dict) for name in value))
    a_place = "one a line" if place == "line" else "an object a row"

    def rows(columns: Columns) -> Iterator[FileRow | BadRow]:
        for number, value, wrong in chain(head, found):
            if wrong:
                yield BadRow(number, f"this is no JSON object: {wrong}; write {a_place}")
            elif not isinstance(value, dict):
                yield BadRow(number, f"this is {show_cell(value)}, no JSON object; write {a_place}")
            elif missing := [name for name in columns.required if name not in value]:
                yield BadRow(number, f"it has no {', no '.join(missing)}; null stands for what is not known")
            else:
                yield FileRow(number, [value.get(name) for name in columns.names])

    return InputTable(names, place, rows, beside or {}, rows_name)


def unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the JSON object of these pairs; raise `ValueError` if a name occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise ValueError(f"it says {twice[:40]!r} twice")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=unique_object)
"""One decoder for all lines: `loads` would build one for each."""


def _read_parquet(file: BinaryIO) -> InputTable:
    import pyarrow as pa  # heavy
    import pyarrow.parquet as pq

    @contextmanager
    def translate_errors() -> Iterator[None]:
        try:
            yield
        except MemoryError:
            raise
        except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
            reason = " ".join(str(error).split())[:200].rstrip(" .")
            raise TableUnreadable(f" is no Parquet file that can be read: {reason}. Write it again") from None

    def texts(column: Any) -> Any:
        """Return a column with texts for dates, instants, decimals, even those beyond Python, and unmarked texts."""
        kinds = pa.types
        if kinds.is_binary(column.type):
            with suppress(pa.ArrowInvalid):
                return column.cast(pa.string())
        if kinds.is_timestamp(column.type):
            column = column.cast(pa.timestamp(column.type.unit))
        is_one = kinds.is_timestamp(column.type) or kinds.is_date(column.type) or kinds.is_decimal(column.type)
        return column.cast(pa.string()) if is_one else column

    with translate_errors():
        opened = pq.ParquetFile(file, pre_buffer=False, buffer_size=2**20)
        names, about = tuple(opened.schema_arrow.names), opened.metadata
        n_bytes = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
        n_rows = min(_BATCH_ROWS, max(1, _BATCH_BYTES * about.num_rows // max(1, n_bytes)))

    def rows(columns: Columns) -> Iterator[FileRow | BadRow]:
        there = [name for name in columns.names if name in names]
        number = 0
        with translate_errors():
            for batch in opened.iter_batches(n_rows, columns=there, use_threads=False):
                found = {name: texts(batch.column(name)).to_pylist() for name in there}
                empty = [None] * batch.num_rows
                for cells in zip(*(found.get(name, empty) for name in columns.names), strict=True):
                    number += 1
                    yield FileRow(number, cells)

    return InputTable(names, "row", rows)


def serve(data_bytes: int) -> None:
    """Serve a table of text: first its columns, then its rows."""
    answer_questions(data_bytes, (), _answers())


def serve_parquet(data_bytes: int) -> None:
    """Serve a Parquet table."""
    import pyarrow as pa  # heavy

    # Arrow's other pools reserve address space in advance, and threads their stacks.
    pa.set_memory_pool(pa.system_memory_pool())
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    answer_questions(data_bytes, ("pyarrow.parquet",), _answers())


def _answers() -> Callable[[PageSource], Iterator[Sequence[bytes]]]:
    # Only the last table stays open.
    opened = lru_cache(maxsize=1)(lambda path, kind: open_table(open_plain(Path(path)), kind))

    def answers(question: PageSource) -> Iterator[Sequence[bytes]]:
        try:
            table = opened(question.url, question.content_type)
            if not question.body:
                yield b"table", _pack([table.names, table.place, table.beside, table.rows_name])
                return
            rows, n_bytes = list[bytes](), 0
            for row in table.read(Columns(*json.loads(question.body))):
                rows.append(_pack(row))
                n_bytes += len(rows[-1])
                if n_bytes > MESSAGE_BYTES:
                    yield b"rows", b"[" + b",".join(rows) + b"]"
                    rows, n_bytes = [], 0
            yield b"rows", b"[" + b",".join(rows) + b"]"
            yield b"end", b""
        except TableUnreadable as error:
            yield b"unreadable", str(error).encode(errors="replace")
        except MemoryError:
            yield b"unreadable", b""

    return answers


def _pack(value: object) -> bytes:
    # JSON may hold half a surrogate pair.
    return _ENCODE(value).encode(errors="surrogatepass")


_ENCODE = json.JSONEncoder(
    default=lambda value: {type(value).__name__: str(value)[:40]}, check_circular=False, ensure_ascii=False
).encode
"""One encoder for all rows: `dumps` would build one for each. Parquet values that JSON lacks are written by kind."""
