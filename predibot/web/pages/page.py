"""What pages are made of: templates, parts of long lists, and downloads as CSV."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

from sqlalchemy import Row

from predibot.errors import UsageError
from predibot.reports.table import Table
from predibot.rows import grouped

PAGE = 50
"""Rows of a list."""
Rows = Iterator[Mapping[str, Any]]
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class WebPage:
    """A template, by its name without the ending, and its values."""

    template: str
    shown: Mapping[str, Any]
    tables: Mapping[str, Callable[[], Rows]] = field(default_factory=dict)
    """Downloads as CSV by name, besides those of the `grids`."""

    @property
    def downloads(self) -> dict[str, Callable[[], Rows]]:
        """Return all downloads by name; grids are named by their place, from 1."""
        grids: Sequence[Table] = self.shown.get("grids", ())
        return {**{str(n): partial(_grid_rows, grid) for n, grid in enumerate(grids, start=1)}, **self.tables}


def grids_page(title: str, found: Sequence[Table], **more: Any) -> WebPage:
    """Return a page of tables; those without a row are left out."""
    return WebPage("grids", {"title": title, "grids": [grid for grid in found if grid.rows], **more})


def message_page(title: str, said: str, onward: Sequence[tuple[str, str, str]] = ()) -> WebPage:
    """Return a page that says something in place of what was asked for.

    Args:
        title: Of the page.
        said: One sentence or two; words between backticks are shown as code.
        onward: Address, name and description of each page to go to.
    """
    return WebPage("message", {"title": title, "said": said, "onward": onward})


def _grid_rows(table: Table) -> Rows:
    headers = [column.header for column in table.columns]
    return (dict(zip(headers, row, strict=True)) for row in table.rows)


def records(rows: Sequence[Any]) -> Callable[[], Rows]:
    """Return a download of rows, with whole texts."""
    return lambda: (each._asdict() if isinstance(each, Row) else asdict(each) for each in rows)


def pagination(total: int, number: int, path: str, **asked: object) -> dict[str, Any]:
    """Return which part of a list is shown, and the parameters of links to the other parts.

    `number` counts parts from 1; the nearest one is shown if there is none. `asked` has the list's other parameters.
    """
    pages = max(1, -(-total // PAGE))
    kept = {name: value for name, value in asked.items() if value}
    number = min(max(1, number), pages)
    return {"total": total, "page": number, "pages": pages, "list_path": path, "list_asked": kept}


def paginate(rows: Sequence[Any], number: int, path: str, **asked: object) -> dict[str, Any]:
    """Return the rows of a part of a list, with the same; the whole list is `rows`."""
    part = pagination(len(rows), number, path, **asked)
    return {"rows": rows[(part["page"] - 1) * PAGE : part["page"] * PAGE], **part}


def alike(rows: Iterable[_Row], key: Callable[[_Row], Hashable]) -> list[list[_Row]]:
    """Return rows in groups of the same key, in the order of the first of each.

    Examples:
        >>> alike(["b1", "a1", "b2"], lambda each: each[0])
        [['b1', 'b2'], ['a1']]
    """
    found = grouped((key(each), each) for each in rows)
    return list(found.values())


def alike_neighbours(days: Mapping[date, Sequence[str]]) -> list[list[tuple[date, Sequence[str]]]]:
    """Return days with their texts, newest first; days that follow each other with the same texts are one group.

    Examples:
        >>> of = {date(2026, 3, day): ["away"] for day in (1, 2, 30)}
        >>> [[day.day for day, _ in group] for group in alike_neighbours(of)]
        [[30], [2, 1]]
    """
    ordered = sorted(days.items(), reverse=True)
    # Within days that follow each other, the sum of a day's number and its place is the same.
    groups = groupby(enumerate(ordered), lambda each: (each[0] + each[1][0].toordinal(), each[1][1]))
    return [[day for _, day in group] for _, group in groups]


def day_of(text: str) -> datetime | None:
    """Return the first instant of a day, None for an empty text; raise `UsageError` if it is no day."""
    if not text:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise UsageError(f"{text[:20]!r} is no day; write it as 2026-01-31") from None


def end_of_day(text: str) -> datetime | None:
    """Return the first instant after a day; None for an empty text or the last day.

    Raises `UsageError` if it is no day.
    """
    day = day_of(text)
    return None if day is None or day.date() == date.max else day + timedelta(days=1)
