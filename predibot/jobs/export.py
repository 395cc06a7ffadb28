"""Exporting: the ledger's rows as CSV, JSON lines or Parquet, whole files or a stream of lines."""

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from predibot.errors import UsageError
from predibot.ledger.export import CANONICAL_TABLES, TABLES, export_columns, export_rows
from predibot.ledger.store import Store

Format = Literal["csv", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = ("csv", "jsonl", "parquet")


def tables_of(*, canonical: bool) -> tuple[str, ...]:
    """Return the tables an export has."""
    return CANONICAL_TABLES if canonical else TABLES


def export_lines(store: Store, tables: Sequence[str], *, canonical: bool) -> Iterator[str]:
    """Yield each row as a line of JSON that names its table."""
    with store.read() as connection:
        for table in tables:
            for row in export_rows(connection, table, canonical=canonical):
                yield json.dumps({"table": table, **row}, ensure_ascii=False, allow_nan=False)


def export_files(
    store: Store, folder: Path, tables: Sequence[str], file_format: Format, *, canonical: bool
) -> dict[Path, int]:
    """Write one file a table, and return how many rows each holds.

    A file appears under its name when it is whole.

    Raises:
        UsageError: If the folder cannot be written.
    """
    write = {"csv": _write_csv, "jsonl": _write_jsonl, "parquet": _write_parquet}[file_format]
    written = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with store.read() as connection:
            for table in tables:
                rows = [dict(row) for row in export_rows(connection, table, canonical=canonical)]
                path = folder / f"{table}.{file_format}"
                unfinished = path.with_name(f".unfinished-{path.name}")
                write(unfinished, export_columns(table, canonical=canonical), rows)
                unfinished.replace(path)
                written[path] = len(rows)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}; name another folder") from error
    return written


def _write_csv(path: Path, columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=columns)
        writer.writeheader()
        writer.writerows(rows)


def _write_jsonl(path: Path, _columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n" for row in rows)


def _write_parquet(path: Path, columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    # pyarrow costs 0.1 s and 100 MB, which only this pays.
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({name: [row[name] for row in rows] for name in columns}), path)
