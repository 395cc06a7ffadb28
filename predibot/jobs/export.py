"""Exporting: the ledger's rows as CSV, JSON lines or Parquet, in files or as a stream of lines."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Literal

from predibot.domain.untrusted_text import spreadsheet_cell
from predibot.ledger.read.export import CANONICAL_TABLES, TABLES, export_columns, export_rows, export_values
from predibot.ledger.store import Store
from predibot.rows import batches
from predibot.whole_file import blame_path, whole_file

Format = Literal["csv", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = ("csv", "jsonl", "parquet")

_GROUP_ROWS, _GROUP_CHARACTERS = 10_000, 7_999_999
"""The most in a row group of Parquet, which is filled in memory."""

Columns = Mapping[str, type]
Rows = Iterable[tuple[Any, ...]]


def tables_of(*, canonical: bool) -> tuple[str, ...]:
    """Return the names of the tables in an export."""
    return CANONICAL_TABLES if canonical else TABLES


def export_lines(store: Store, tables: Sequence[str], *, canonical: bool) -> Iterator[str]:
    """Yield each row as a line of JSON that names its table."""
    with store.read() as connection:
        for table in tables:
            for row in export_rows(connection, table, canonical=canonical):
                yield _json_line({"table": table, **row})


def export_files(
    store: Store, folder: Path, tables: Sequence[str], file_format: Format, *, canonical: bool
) -> dict[Path, int]:
    """Write one file a table, and return how many rows each holds; raise `UsageError` if the folder cannot be written.

    A file appears under its name when it is whole. Text in CSV is one line without control characters and never a
    formula; the other formats hold it as it is stored.
    """
    write = {"csv": _write_csv, "jsonl": _write_jsonl, "parquet": _write_parquet_rows}[file_format]
    written = {}
    with blame_path(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with store.read() as connection:
            for table in tables:
                path = folder / f"{table}.{file_format}"
                columns = export_columns(table, canonical=canonical)
                with whole_file(path) as file:
                    written[path] = write(file, columns, export_values(connection, table, canonical=canonical))
    return written


def _write_csv(file: BinaryIO, columns: Columns, rows: Rows) -> int:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    # Most texts of a table repeat.
    cell_of = lru_cache(maxsize=10_000)(spreadsheet_cell)
    count = 0
    for row in rows:
        writer.writerow([cell_of(value) if isinstance(value, str) else value for value in row])
        count += 1
    text.detach()
    return count


def _write_jsonl(file: BinaryIO, columns: Columns, rows: Rows) -> int:
    count = 0
    for row in rows:
        file.write(f"{_json_line(dict(zip(columns, row, strict=True)))}\n".encode())
        count += 1
    return count


def _write_parquet_rows(file: BinaryIO, columns: Columns, rows: Rows) -> int:
    # Groups fit into memory, however long their texts are.
    groups = batches(rows, tuple, _GROUP_ROWS, _GROUP_CHARACTERS)
    return write_parquet(file, columns, (zip(*group, strict=True) for group in groups))


def write_parquet(file: BinaryIO, columns: Columns, batches: Iterable[Iterable[Sequence[Any]]]) -> int:
    """Write batches of rows, each as its columns, as Parquet, and return how many rows there are."""
    # Imported here: pyarrow costs 0.1 s and 100 MB.
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    count = 0
    with pq.ParquetWriter(file, schema) as writer:
        for cells in batches:
            arrays = [pa.array(each, field.type) for each, field in zip(cells, schema, strict=True)]
            writer.write_table(pa.table(arrays, schema=schema))
            count += len(arrays[0])
    return count


def _json_line(row: Mapping[str, Any]) -> str:
    """Return a row as JSON with all unprintable characters escaped."""
    line = json.dumps(row, ensure_ascii=False, allow_nan=False)
    if line.isprintable():
        return line
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in line)
