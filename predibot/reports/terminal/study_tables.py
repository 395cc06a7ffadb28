"""Tables of studies: on a screen, as JSON, and as CSV."""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from predibot.domain.untrusted_text import spreadsheet_cell
from predibot.reports.study import Study, StudyTables
from predibot.reports.table import Column, Table, table_of
from predibot.reports.terminal.terminal import plain, print_grids, print_line
from predibot.scoring.study_table import StudyTable
from predibot.whole_file import blame_path, whole_file


def print_tables(console: Console, study: Study, found: StudyTables, *, full: bool) -> None:
    """Print the tables that have a row, all or only the first ones, and the notes."""
    print_line(console, f"run {plain(found.run)}")
    shown = (table for table in found.tables if table.rows and (full or table.name in found.first))
    print_grids(console, (table_grid(study, table) for table in shown))
    for note in found.notes:
        print_line(console, f"note: {plain(note)}")
    if not full:
        print_line(console, found.more)


def tables_document(found: StudyTables) -> dict[str, Any]:
    """Return the tables as JSON has them: rows by column, null for a missing value."""
    tables = [
        {
            "name": table.name,
            "title": table.title,
            "note": table.note,
            "rows": [dict(zip(table.columns, row, strict=True)) for row in table.rows],
        }
        for table in found.tables
    ]
    return {"run": found.run, "tables": tables, "notes": list(found.notes)}


def write_tables(found: StudyTables, folder: Path) -> Iterator[Path]:
    """Write a CSV file for each table, and yield its path; raise `UsageError` if the folder cannot be written."""
    with blame_path(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for table in found.tables:
            path = folder / f"table_{table.name}.csv"
            text = io.StringIO(newline="")
            writer = csv.writer(text)
            writer.writerow(table.columns)
            for row in table.rows:
                writer.writerow([spreadsheet_cell(cell) if isinstance(cell, str) else cell for cell in row])
            with whole_file(path) as file:
                file.write(text.getvalue().encode())
            yield path


def table_grid(study: Study, table: StudyTable) -> Table:
    """Return a table of a study as it is shown."""
    columns = []
    for place, name in enumerate(table.columns):
        column = replace(study.columns.get(name) or Column(name), of=str(place), write=_write_cell)
        columns.append(replace(column, kind="name") if place == 0 else column)
    number = f"Table {table.name}. " if table.name.isdigit() else ""
    found = table_of(f"{number}{table.title}", columns, table.rows, [table.note])
    order = list(study.columns)
    meant = [each for each in columns if each.meaning]
    return replace(found, legend=tuple(sorted(meant, key=lambda each: order.index(each.header))))


def _write_cell(cell: str | float) -> str:
    if isinstance(cell, str):
        return plain(cell)
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:,.3f}" if abs(cell) < 1_000 else f"{cell:,.0f}"
