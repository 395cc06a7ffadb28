"""Bad rows: what is wrong in somebody's file, for a person and for a program."""

from collections.abc import Iterator

from rich.console import Console

from predibot.jobs.score_files.table import FileRows
from predibot.reports.document import Document
from predibot.reports.terminal.terminal import print_line
from predibot.reports.terminal.text import plain

_SHOWN = 20


def bad_rows_document(file: FileRows) -> Document:
    """Return how many rows are bad, and each that is listed with its `line`, or its `row` of a Parquet file."""
    listed = [{file.place: row.number, "reason": row.reason} for row in file.bad_rows]
    return {"n_bad_rows": file.n_bad_rows, "bad_rows": listed}


def bad_row_lines(file: FileRows) -> Iterator[str]:
    """Yield a line a bad row, the first twenty of them, as text that can only be read.

    Examples:
        >>> from predibot.jobs.score_files.table import BadRow
        >>> file = FileRows("f.csv", "line")
        >>> file.add(BadRow(3, "probability is '70%'; write 0.7"))
        >>> list(bad_row_lines(file))
        ["bad row: line 3: probability is '70%'; write 0.7"]
    """
    for row in file.bad_rows[:_SHOWN]:
        yield f"bad row: {file.place} {row.number}: {plain(row.reason)}"
    if file.n_bad_rows > _SHOWN:
        listed = "them all" if file.n_bad_rows == len(file.bad_rows) else f"the first {len(file.bad_rows):,}"
        yield f"bad rows: {file.n_bad_rows - _SHOWN:,} more; --json has {listed}"


def print_bad_rows(console: Console, file: FileRows) -> None:
    """Print those lines after a report; nothing where every row was good."""
    if file.bad_rows:
        console.print()
    for line in bad_row_lines(file):
        print_line(console, line)
