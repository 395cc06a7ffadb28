"""What a page is, and a part of a long list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from predibot.reports.terminal.grid import Grid

PAGE = 50
"""Rows of a list."""


@dataclass(frozen=True, slots=True)
class Page:
    """A template, by its name without the ending, and what it shows."""

    template: str
    shown: Mapping[str, Any]


def grids_page(title: str, found: Sequence[Grid], said: Sequence[str] = (), **more: Any) -> Page:
    """Return a page of tables, as the terminal has them; those without a row are left out."""
    return Page("grids", {"title": title, "grids": [grid for grid in found if grid.rows], "said": said, **more})


def paged(rows: Sequence[Any], number: int, path: str, **asked: object) -> dict[str, Any]:
    """Return a part of a list, and what its neighbours are asked for with.

    Args:
        rows: The whole list.
        number: Which part, from 1; the nearest one where there is none.
        path: Of the page.
        asked: What the list was asked for with, without the number.
    """
    pages = max(1, -(-len(rows) // PAGE))
    number = min(max(1, number), pages)
    shown = rows[(number - 1) * PAGE : number * PAGE]
    kept = {name: value for name, value in asked.items() if value}
    return {"rows": shown, "total": len(rows), "page": number, "pages": pages, "list_path": path, "list_asked": kept}
