"""Study tables: the numbers of a table of a paper, before they are written."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

Cell = str | float | int | None


def number_of(cell: Cell) -> float | None:
    """Return a cell's number, None where it holds none."""
    return None if cell is None or isinstance(cell, str) else float(cell)


@dataclass(frozen=True, slots=True)
class StudyTable:
    """A table: its number in the paper, what it shows, its columns and rows; a missing value is None."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    @classmethod
    def of(
        cls, name: str, title: str, columns: tuple[str, ...], rows: Iterable[tuple[Cell, ...]], note: str = ""
    ) -> Self:
        """Return a table with None for NaN: the value is missing, and not zero."""
        known = (tuple(None if isinstance(cell, float) and math.isnan(cell) else cell for cell in row) for row in rows)
        return cls(name, title, columns, tuple(known), note)
