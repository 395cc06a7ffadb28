"""Bad rows: what is wrong in somebody's file, for a person and for a program."""

from collections.abc import Iterator, Sequence

from rich.console import Console

from predibot.jobs.table_file import BadRow
from predibot.reports.terminal import print_line
from predibot.reports.text import plain
from predibot.reports.views import Document

_SHOWN = 20


def bad_row_documents(bad_rows: Sequence[BadRow], place: str) -> list[Document]:
    """Return every bad row with its `line`, or its `row` of a Parquet file, and the reason."""
    return [{place: row.number, "reason": row.reason} for row in bad_rows]


def bad_row_lines(bad_rows: Sequence[BadRow], place: str) -> Iterator[str]:
    """Yield a line a bad row, the first twenty of them, as text that can only be read.

    Examples:
        >>> list(bad_row_lines([BadRow(3, "probability is '70%'; write 0.7")], "line"))
        ["bad row: line 3: probability is '70%'; write 0.7"]
    """
    for row in bad_rows[:_SHOWN]:
        yield f"bad row: {place} {row.number}: {plain(row.reason)}"
    if len(bad_rows) > _SHOWN:
        yield f"bad rows: {len(bad_rows) - _SHOWN:,} more; --json has them all"


def print_bad_rows(console: Console, bad_rows: Sequence[BadRow], place: str) -> None:
    """Print those lines after a report; nothing where every row was good."""
    if bad_rows:
        console.print()
    for line in bad_row_lines(bad_rows, place):
        print_line(console, line)
