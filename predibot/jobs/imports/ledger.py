"""Importing a ledger: the rows of `predibot export` are read one at a time and stored in one transaction."""

import csv
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import count, groupby
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Connection

from predibot.contracts import Progress, ProgressListener
from predibot.domain.untrusted_text import FORMULA, has_too_many_values, why_no_json
from predibot.errors import UsageError
from predibot.jobs.export import FORMATS, Format
from predibot.jobs.score_files.table import BadRow, Columns
from predibot.jobs.score_files.table_file import open_table_file, table_process
from predibot.jobs.score_files.table_reader import unique_object
from predibot.ledger.export_rows import MAX_ROW_VALUES, ExportRow, RowError
from predibot.ledger.read.export import ADDED_TABLES, TABLES, export_columns
from predibot.ledger.restore import Restorer
from predibot.ledger.store import Store
from predibot.plain_file import open_plain
from predibot.research.pages.parser_process import ParserProcess

MAX_LINE_BYTES = 32 * 2**20
"""The longest row, an event's; in memory a character may take eight times as much."""
MAX_UNPACKED_BYTES = 8 * 2**30
_LONGEST_SECONDS = 86_400.0
"""For reading and storing one table."""
_TOO_MANY = f"it holds more than {MAX_ROW_VALUES:,} values"
_NAME_ONE = "Name a folder that `predibot export FOLDER --ledger OTHER` wrote"
_NO_TEXTS = "its texts are single lines: line breaks and characters that cannot be seen do not come back from CSV"


@dataclass(frozen=True, slots=True)
class TableCount:
    """The rows of a table in an export, and how many of them are new."""

    rows: int
    new: int


@dataclass(frozen=True, slots=True)
class LedgerImportReport:
    """The result of an import."""

    tables: Mapping[str, TableCount]
    notes: tuple[str, ...] = ()


def import_ledger(export: Path, *, store: Store, listener: ProgressListener) -> LedgerImportReport:
    """Store the missing rows of an export, a folder or a file of lines, in a ledger; all of them, or nothing.

    Raises:
        UsageError: If it is no export or not a whole one, or a row is malformed.
        RunConflict: If the ledger has another run with a key in the export.
    """
    # A cell of CSV may be as long as a line.
    longest = csv.field_size_limit(MAX_LINE_BYTES)
    try:
        return store.run_write(partial(_store_export, export=export, listener=listener))
    except RowError as error:
        raise UsageError(f"nothing is imported: {error}. Export again, or fix the row") from None
    except OSError as error:
        raise UsageError(f"{export} cannot be read: {error.strerror}. {_NAME_ONE}") from None
    finally:
        csv.field_size_limit(longest)


def _store_export(connection: Connection, *, export: Path, listener: ProgressListener) -> LedgerImportReport:
    restorer, tables = Restorer(connection), dict[str, TableCount]()
    notes = (_NO_TEXTS,) if export.is_dir() and _find_format(export) == "csv" else ()
    for table, rows in _read_tables(export):
        numbers = count()
        new = restorer.put(table, (row for row, _ in zip(rows, numbers, strict=False)))
        before = tables.get(table, TableCount(0, 0))
        tables[table] = TableCount(before.rows + next(numbers), before.new + new)
        listener(Progress("import", len(tables), len(TABLES), table))
    restorer.finish()
    return LedgerImportReport(tables, (*notes, *restorer.notes))


def _read_tables(export: Path) -> Iterator[tuple[str, Iterator[ExportRow]]]:
    if not export.is_dir():
        yield from groupby(_read_jsonl(export), _table_name)
        return
    kind = _find_format(export)
    with table_process(kind) if kind == "parquet" else nullcontext() as process:
        for table in TABLES:
            file = export / f"{table}.{kind}"
            if table not in ADDED_TABLES or file.is_file():
                yield table, _READERS[kind](file) if process is None else _read_parquet(file, process)


def _find_format(folder: Path) -> Format:
    """Return the format in which a folder holds every table; of several, the one that loses least."""
    for kind in ("jsonl", "parquet", "csv"):
        wanted = [table for table in TABLES if table not in ADDED_TABLES]
        missing = [table for table in wanted if not (folder / f"{table}.{kind}").is_file()]
        if not missing:
            return next(each for each in FORMATS if each == kind)
        if len(missing) < len(wanted):
            raise UsageError(
                f"{folder} has no {', '.join(f'{table}.{kind}' for table in missing)}. "
                "Export all tables into an empty folder, with this predibot"
            )
    raise UsageError(f"{folder} holds no export. {_NAME_ONE}")


def _table_name(row: ExportRow) -> str:
    table = row.cells.get("table")
    if table not in TABLES:
        raise RowError(row.place, f"table is {str(table)[:40]!r}; give the lines that `predibot export` prints")
    return str(table)


def _read_jsonl(path: Path) -> Iterator[ExportRow]:
    # One decoder for all lines: `loads` would build one for each.
    decode = json.JSONDecoder(object_pairs_hook=unique_object, parse_constant=_refuse_constant).decode
    with open_plain(path) as file:
        for number, line in enumerate(_read_lines(file, path), start=1):
            place = f"{path.name}, line {number}"
            if not line.strip():
                continue
            if has_too_many_values(line, MAX_ROW_VALUES):
                raise RowError(place, _TOO_MANY)
            try:
                found = decode(line.decode())
            except (ValueError, RecursionError) as error:
                raise RowError(place, f"this is no JSON object: {why_no_json(error)}") from None
            if not isinstance(found, dict):
                raise RowError(place, "this is no JSON object")
            yield ExportRow(place, found)


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _read_lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise RowError(f"{path.name}, line {number}", f"it is longer than {MAX_LINE_BYTES // 2**20} MiB")
        yield line


def _read_csv(path: Path) -> Iterator[ExportRow]:
    # Of the current row: a quoted cell can join many lines into one.
    size = Counter[str]()

    def lines(file: BinaryIO) -> Iterator[str]:
        for line in _read_lines(file, path):
            size.update(n_bytes=len(line), n_commas=line.count(b","))
            if size["n_bytes"] > MAX_LINE_BYTES:
                raise csv.Error(f"a row is longer than {MAX_LINE_BYTES // 2**20} MiB")
            if size["n_commas"] > MAX_ROW_VALUES:
                raise csv.Error(_TOO_MANY)
            yield line.decode()

    with open_plain(path) as file:
        reader = csv.reader(lines(file), strict=True)
        try:
            header = next(reader, [])
            size.clear()
            for cells in reader:
                place = f"{path.name}, line {reader.line_num}"
                size.clear()
                if len(cells) != len(header):
                    raise RowError(place, f"it has {len(cells)} cells, the header {len(header)}")
                yield ExportRow(place, dict(zip(header, map(_unquote, cells), strict=True)), is_text=True)
        except (csv.Error, UnicodeDecodeError) as error:
            raise RowError(f"{path.name}, line {reader.line_num + 1}", str(error)) from None


def _unquote(cell: str) -> str:
    """Return a cell without the quote that `export` puts before a possible formula."""
    if cell.startswith("'") and unicodedata.normalize("NFKC", cell[1:2]) in FORMULA:
        return cell[1:]
    return cell


def _read_parquet(path: Path, process: ParserProcess) -> Iterator[ExportRow]:
    with open_table_file(
        str(path),
        "parquet",
        None,
        max_bytes=MAX_UNPACKED_BYTES,
        seconds=_LONGEST_SECONDS,
        remedy="Export it as jsonl",
        process=process,
    ) as table:
        names, known = Columns(table.names), export_columns(path.stem)
        if foreign := next((name for name in table.names if name not in known), None):
            raise UsageError(f"{path.name} has a column {foreign[:60]!r}, which no export has. Export it again")
        table.require(names)
        # Cells as they are: words such as "NA" are texts here, not missing values.
        for row in table.read(names):
            place = f"{path.name}, row {row.number}"
            if isinstance(row, BadRow):
                raise RowError(place, row.reason)
            yield ExportRow(place, dict(zip(table.names, row.cells, strict=True)))


_READERS: Mapping[str, Callable[[Path], Iterator[ExportRow]]] = {"jsonl": _read_jsonl, "csv": _read_csv}
