"""What a page is, a part of a long list, and tables to take away."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Row

from predibot.errors import UsageError
from predibot.reports.table import Table

PAGE = 50
"""Rows of a list."""
MOST_PAGES = 10**6
Rows = Iterator[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class WebPage:
    """A template, by its name without the ending, and what it shows."""

    template: str
    shown: Mapping[str, Any]
    tables: Mapping[str, Callable[[], Rows]] = field(default_factory=dict)
    """What of it can be taken away as CSV, by name, besides its `grids`."""

    @property
    def downloads(self) -> dict[str, Callable[[], Rows]]:
        """Return all that can be taken away, tables as the terminal has them by their place."""
        grids: Sequence[Table] = self.shown.get("grids", ())
        return {**{str(n): partial(_under_headers, grid) for n, grid in enumerate(grids, start=1)}, **self.tables}


def grids_page(title: str, found: Sequence[Table], **more: Any) -> WebPage:
    """Return a page of tables, as the terminal has them; those without a row are left out."""
    return WebPage("grids", {"title": title, "grids": [grid for grid in found if grid.rows], **more})


def _under_headers(table: Table) -> Rows:
    headers = [column.header for column in table.columns]
    return (dict(zip(headers, row, strict=True)) for row in table.rows)


def records(rows: Sequence[Any]) -> Callable[[], Rows]:
    """Return the rows of a list as what can be taken away, texts whole."""
    return lambda: (each._asdict() if isinstance(each, Row) else asdict(each) for each in rows)


def part_of(total: int, number: int, path: str, **asked: object) -> dict[str, Any]:
    """Return which part of a list is shown, and what its neighbours are asked for with.

    Args:
        total: How many rows the whole list has.
        number: Which part, from 1; the nearest one where there is none.
        path: Of the page.
        asked: What the list was asked for with, without the number.
    """
    pages = max(1, -(-total // PAGE))
    kept = {name: value for name, value in asked.items() if value}
    number = min(max(1, number), pages)
    return {"total": total, "page": number, "pages": pages, "list_path": path, "list_asked": kept}


def paged(rows: Sequence[Any], number: int, path: str, **asked: object) -> dict[str, Any]:
    """Return a part of a list that is here whole, likewise."""
    part = part_of(len(rows), number, path, **asked)
    return {"rows": rows[(part["page"] - 1) * PAGE : part["page"] * PAGE], **part}


def day_of(text: str) -> datetime | None:
    """Return the first instant of a day as an address names it; None where it names none.

    Raises:
        UsageError: If it is no day.
    """
    if not text:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise UsageError(f"{text[:20]!r} is no day; write it as 2026-01-31") from None


def end_of_day(text: str) -> datetime | None:
    """Return the first instant after a day; None where an address names none, or the last day that can be held.

    Raises:
        UsageError: If it is no day.
    """
    day = day_of(text)
    return None if day is None or day.date() == date.max else day + timedelta(days=1)
