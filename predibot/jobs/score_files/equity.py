"""Equity files: what somebody's account was worth, date by date, and the rows that cannot be counted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from predibot.domain.clock import format_instant
from predibot.jobs.score_files.cells import CellRefused, amount_of, instant_of
from predibot.jobs.score_files.table import BadRow, Columns, FileRows, InputTable

COLUMNS = Columns(required=("date", "value"))


class Point(NamedTuple):
    """What the account was worth at an instant."""

    at: datetime
    number: int
    """Where in the file this is said."""
    value: float


@dataclass(frozen=True, slots=True)
class EquityFile:
    """What a file says."""

    file: FileRows
    points: tuple[Point, ...]
    """In the order of time, each later than the one before."""
    sorted_here: bool
    """Whether the file has them in another order."""

    def uneven_steps(self) -> int:
        """Return how many steps are not about as long as most: each counts as one period all the same.

        Weekends are no surprise where values are a day apart.
        """
        steps = [after.at - before.at for before, after in pairwise(self.points)]
        if not steps:
            return 0
        usual = sorted(steps)[len(steps) // 2]
        over_weekends = usual <= timedelta(days=1) and all(point.at.isoweekday() <= 5 for point in self.points)
        longest = timedelta(days=3) if over_weekends else usual
        return sum(not usual / 2 <= step <= longest * 1.5 for step in steps)


def read_equity(table: InputTable) -> EquityFile:
    """Return what a file of an account's values says; bad rows are told, never fixed.

    Raises:
        UsageError: If the file is not what it is taken for, a column is missing, or it is too much.
    """
    points: list[Point] = []
    file = FileRows(table.label, table.place)
    for row in table.rows(COLUMNS):
        if isinstance(row, BadRow):
            file.add(row)
            continue
        try:
            at, value = row.cells
            points.append(Point(instant_of("date", at), row.number, amount_of("value", value)))
        except CellRefused as error:
            file.add(BadRow(row.number, str(error)))
    file.rows = len(points) + file.n_bad_rows
    kept = file.sifted(points, _repeated(points, file.place))
    in_order = sorted(kept)
    return EquityFile(
        file=file,
        points=tuple(file.sifted(in_order, _rises_from_nothing(in_order, file.place))),
        sorted_here=in_order != kept,
    )


def _repeated(points: Sequence[Point], place: str) -> Iterator[tuple[Point, BadRow]]:
    """Yield every row of an instant that another row has before it, and what is wrong: the first counts."""
    seen: dict[datetime, int] = {}
    for point in points:
        before = seen.setdefault(point.at, point.number)
        if before != point.number:
            why = f"date {format_instant(point.at)} is in {place} {before} already; keep one value a date"
            yield point, BadRow(point.number, why)


def _rises_from_nothing(points: Sequence[Point], place: str) -> Iterator[tuple[Point, BadRow]]:
    """Yield every row above zero after one that is zero, and why: from nothing there is no return, it was paid in."""
    wiped_out: Point | None = None
    for point in points:
        if wiped_out is None:
            wiped_out = point if point.value == 0.0 else None
        elif point.value > 0.0:
            why = f"value is {point.value:g} after the account was worth nothing in {place} {wiped_out.number}"
            yield point, BadRow(point.number, f"{why}; an account that was wiped out stays at zero")
