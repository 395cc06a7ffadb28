"""Grids: rows of figures that stay whole on any screen, side by side or one below the other."""

from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

_GAP = 2
_NARROWEST_TEXT = 12


@dataclass(frozen=True, slots=True)
class Column:
    """What a column is called, and what it holds."""

    header: str
    kind: Literal["number", "key", "text"] = "number"
    """Numbers are right-aligned; keys, to be copied, are left-aligned; neither is ever broken. Text may be wrapped."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of cells that are already written; every text in it is plain."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        """Refuse rows of another length than the header."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row has {len(row)} cells, the header {len(self.columns)}: {row}")


def print_grid(console: Console, grid: Grid) -> None:
    """Print a grid as a table where it fits, else each row as a block of lines.

    Where nothing is left but to lose something, text is wrapped and numbers
    stand on lines of their own: a number is never cut.
    """
    console.print(Text(grid.title, style="bold"), soft_wrap=not console.is_terminal)
    if _least_width(grid) <= console.width:
        console.print(_table(grid))
    else:
        _print_blocks(console, grid)


def _least_width(grid: Grid) -> int:
    widths = (
        min(width, _NARROWEST_TEXT) if column.kind == "text" else width
        for column, width in zip(grid.columns, _widths(grid), strict=True)
    )
    return sum(widths) + _GAP * (len(grid.columns) - 1)


def _widths(grid: Grid) -> list[int]:
    cells = [[column.header, *(row[index] for row in grid.rows)] for index, column in enumerate(grid.columns)]
    return [max(cell_len(cell) for cell in column) for column in cells]


def _table(grid: Grid) -> Table:
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="", show_edge=False)
    for column in grid.columns:
        table.add_column(
            Text(column.header, style="dim"),
            justify="right" if column.kind == "number" else "left",
            no_wrap=column.kind != "text",
            overflow="fold",
        )
    for row in grid.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _print_blocks(console: Console, grid: Grid) -> None:
    heads = [index for index, column in enumerate(grid.columns) if column.kind != "number"]
    numbers = [index for index, column in enumerate(grid.columns) if column.kind == "number"]
    headers = max((cell_len(grid.columns[index].header) for index in numbers), default=0)
    for row in grid.rows:
        head = "  ".join(row[index] for index in heads if row[index])
        console.print(Text(head, overflow="fold"), soft_wrap=not console.is_terminal)
        width = max((cell_len(row[index]) for index in numbers), default=0)
        for index in numbers:
            console.print(Text(_line(grid.columns[index].header, headers, row[index], width)), soft_wrap=True)


def _line(header: str, headers: int, cell: str, width: int) -> str:
    return f"  {header}{' ' * (headers - cell_len(header) + _GAP + width - cell_len(cell))}{cell}"
