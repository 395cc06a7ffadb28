"""Grids: rows of figures that stay a table on any screen, with fewer columns where there is little room."""

from dataclasses import dataclass, replace
from typing import Literal

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from predibot.reports import figures

_GAPS = (2, 1)
_NARROWEST = {"text": 12, "name": 14}


@dataclass(frozen=True, slots=True)
class Column:
    """What a column is called, and what it holds."""

    header: str
    kind: Literal["number", "key", "text", "name"] = "number"
    """Numbers are right-aligned; keys, to be copied, are left-aligned; neither is ever broken.

    Text may be wrapped, a name shortened in its middle.
    """


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of cells that are already written; every text in it is plain."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    below: tuple[str, ...] = ()
    """What has to be said for it to be read, a line each."""
    dropped_first: tuple[str, ...] = ()
    """Headers of columns in the order in which they go where there is no room; then the others from the right.

    Before all of them go those that have a value nowhere.
    """
    kept: tuple[str, ...] = ()
    """Headers of columns that never go, as the first column: what the table is asked for."""
    legend: tuple[tuple[str, str], ...] = ()
    """What headers mean, each a sentence without its stop; it stands below as far as their columns are shown."""

    def __post_init__(self) -> None:
        """Refuse rows of another length than the header, and a header that is there twice."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row has {len(row)} cells, the header {len(self.columns)}: {row}")
        headers = [column.header for column in self.columns]
        if len(set(headers)) < len(headers):
            raise ValueError(f"a header is there twice: {', '.join(headers)}")

    def legend_lines(self) -> tuple[str, ...]:
        """Return what the headers of this grid mean, in a line; nothing where there is nothing to say."""
        headers = {column.header for column in self.columns}
        said = " ".join(f"{header}: {meaning}." for header, meaning in self.legend if header in headers)
        return (said,) if said else ()

    def without(self, header: str) -> "Grid":
        """Return the grid without a column."""
        kept = [index for index, column in enumerate(self.columns) if column.header != header]
        return replace(
            self,
            columns=tuple(self.columns[index] for index in kept),
            rows=tuple(tuple(row[index] for index in kept) for row in self.rows),
        )


def print_grid(console: Console, grid: Grid) -> None:
    """Print a grid as one table; columns that there is no room for are left out and named below it.

    Where room is short, gaps get narrower, texts are wrapped and names
    shortened before a column goes. A number is never cut; what is kept and
    still too wide goes on below.
    """
    if grid.title:
        _print(console, grid.title, "bold")
    shown, dropped = fitted(grid, console.width)
    console.print(_table(shown, console.width))
    if dropped:
        _print(console, f"no room for: {', '.join(dropped)}; a wider screen shows them", "dim")
    for line in (*grid.below, *shown.legend_lines()):
        _print(console, line, "dim")


def fitted(grid: Grid, room: int) -> tuple[Grid, tuple[str, ...]]:
    """Return a grid with the columns there is room for, and the headers of the others in the order in which they go."""
    shown, dropped = grid, []
    while _fit(shown, room) is None and (header := _next_to_go(shown)) is not None:
        dropped.append(header)
        shown = shown.without(header)
    return shown, tuple(dropped)


def shortened(name: str, cells: int) -> str:
    """Return a name that takes no more than some cells, without its middle: names differ at the ends.

    Examples:
        >>> shortened("a_bot_with_a_rather_long_name", 14)
        'a_bot_wi…_name'
    """
    if cell_len(name) <= cells:
        return name
    tail = max(0, (cells - 1) * 2 // 5)
    end = name
    while cell_len(end) > tail:
        end = end[1:]
    return set_cell_size(name, max(cells - 1 - cell_len(end), 0)).rstrip() + "…" + end


def _next_to_go(grid: Grid) -> str | None:
    """Return the header of the column that goes next; None where all others are kept."""
    headers = [column.header for column in grid.columns]
    loose = [header for header in headers[1:] if header not in grid.kept]
    empty = [header for header in loose if all(row[headers.index(header)] == figures.MISSING for row in grid.rows)]
    return next((header for header in (*empty, *grid.dropped_first, *reversed(loose)) if header in loose), None)


def _fit(grid: Grid, room: int) -> tuple[int, bool] | None:
    """Return how far apart the columns stand and whether names stay whole; None where there is too little room."""
    gaps = len(grid.columns) - 1
    # Names stay whole for as long as a narrower gap is enough.
    for pliable, whole, wide in ((("text",), True, _GAPS), (("text", "name"), False, _GAPS[-1:])):
        least = sum(_least(column, width, pliable) for column, width in _sized(grid))
        for gap in wide:
            if least + gap * gaps <= room:
                return gap, whole
    return None


def _least(column: Column, width: int, pliable: tuple[str, ...]) -> int:
    return min(width, max(_NARROWEST[column.kind], cell_len(column.header))) if column.kind in pliable else width


def _sized(grid: Grid) -> list[tuple[Column, int]]:
    """Return each column with the width it would take."""
    return [
        (column, max(cell_len(cell) for cell in (column.header, *(row[index] for row in grid.rows))))
        for index, column in enumerate(grid.columns)
    ]


def _table(grid: Grid, room: int) -> Table:
    fit = _fit(grid, room)
    gap, whole = fit or (_GAPS[-1], False)
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="", show_edge=False)
    for column in grid.columns:
        table.add_column(
            Text(column.header, style="dim"),
            justify="right" if column.kind == "number" else "left",
            # What is kept and still too wide has nowhere to go but below.
            no_wrap=column.kind != "text" and fit is not None,
            overflow="fold",
        )
    names = room if whole else _name_width(grid, room, gap)
    for row in grid.rows:
        table.add_row(
            *(
                Text(shortened(cell, names) if column.kind == "name" else cell)
                for column, cell in zip(grid.columns, row, strict=True)
            )
        )
    return table


def _name_width(grid: Grid, room: int, gap: int) -> int:
    """Return how many cells each name may take, so that all the others have what they need."""
    names = sum(column.kind == "name" for column in grid.columns)
    others = sum(_least(column, width, ("text",)) for column, width in _sized(grid) if column.kind != "name")
    left = room - others - gap * (len(grid.columns) - 1)
    return max(left // max(names, 1), 1)


def _print(console: Console, line: str, style: str) -> None:
    console.print(Text(line, style=style, overflow="fold"), soft_wrap=not console.is_terminal)
