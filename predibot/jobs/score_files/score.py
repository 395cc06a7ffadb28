"""Scoring files: a user's forecasts, or the values of an account, without a ledger."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from predibot.domain.clock import format_instant
from predibot.domain.spelling import count_noun, did_you_mean, first_of
from predibot.domain.untrusted_text import one_line
from predibot.errors import UsageError
from predibot.jobs.score_files.forecasts import ForecastFile, Layout, read_forecasts
from predibot.jobs.score_files.table import (
    BadRow,
    Columns,
    FileRow,
    FileRows,
    InputTable,
    parse_amount,
    parse_cell_instant,
)
from predibot.scoring.evaluation.evaluation import Evaluation, Question, evaluation_of_forecasts
from predibot.scoring.evaluation.pairs import Pair, brier_pairs
from predibot.scoring.evaluation.references import with_market, with_pools
from predibot.scoring.metrics.conventions import Convention, Periods
from predibot.scoring.metrics.equity import EquityScore, score_of_curve
from predibot.scoring.metrics.pooling import PoolingMethod
from predibot.scoring.records.track_record import Forecasts

COLUMNS = Columns(required=("date", "value"))


class Point(NamedTuple):
    """An account's value at an instant."""

    at: datetime
    number: int
    value: float


@dataclass(frozen=True, slots=True)
class EquityFile:
    """The content of an equity file."""

    file: FileRows
    points: tuple[Point, ...]
    """In order of time, each later than the one before."""
    sorted_here: bool
    """Whether the file has them in another order."""

    def uneven_steps(self) -> int:
        """Return how many steps are not as long as most, weekends between daily values aside; each is one period."""
        steps = [after.at - before.at for before, after in pairwise(self.points)]
        if not steps:
            return 0
        usual = sorted(steps)[len(steps) // 2]
        over_weekends = usual <= timedelta(days=1) and all(point.at.isoweekday() <= 5 for point in self.points)
        longest = timedelta(days=3) if over_weekends else usual
        return sum(not usual / 2 <= step <= longest * 1.5 for step in steps)


def read_equity(table: InputTable) -> EquityFile:
    """Return the content of an equity file; bad rows are reported. Raises `UsageError` as `read_forecasts`."""

    def point_of(row: FileRow) -> Point:
        at, value = row.cells
        return Point(parse_cell_instant("date", at), row.number, parse_amount("value", value))

    file = FileRows(table.label, table.place)
    points = file.parse(table.rows(COLUMNS), point_of)
    kept = file.drop_refused(points, _repetitions(points, file.place))
    in_order = sorted(kept)
    return EquityFile(
        file=file,
        points=tuple(file.drop_refused(in_order, _rises_from_zero(in_order, file.place))),
        sorted_here=in_order != kept,
    )


def _repetitions(points: Sequence[Point], place: str) -> Iterator[tuple[Point, BadRow]]:
    """Yield every row with the date of an earlier one: the first counts."""
    seen: dict[datetime, int] = {}
    for point in points:
        before = seen.setdefault(point.at, point.number)
        if before != point.number:
            why = f"date {format_instant(point.at)} is in {place} {before} already; keep one value a date"
            yield point, BadRow(point.number, why)


def _rises_from_zero(points: Sequence[Point], place: str) -> Iterator[tuple[Point, BadRow]]:
    """Yield every row above zero after one of zero: such a gain has no return, it was paid in."""
    wiped_out: Point | None = None
    for point in points:
        if wiped_out is None:
            wiped_out = point if point.value == 0.0 else None
        elif point.value > 0.0:
            why = f"value is {point.value:g} after the account was worth nothing in {place} {wiped_out.number}"
            yield point, BadRow(point.number, f"{why}; an account that was wiped out stays at zero")


_MOST_NAMED = 10
MAX_FORECASTERS = 20_000
"""Each needs some kilobytes of figures, and a thousand take seconds."""


class FileRefused(UsageError):
    """A file is not scored: bad rows were refused, or there is nothing else."""

    def __init__(self, message: str, file: FileRows) -> None:
        """Keep the bad rows; the message has room for one."""
        super().__init__(message)
        self.file = file


@dataclass(frozen=True, slots=True)
class SettledForecasts:
    """A file's forecasts on settled questions, with pools of them and the market."""

    found: ForecastFile
    forecasts: Forecasts
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EquityReport:
    """The score of an equity file."""

    file: FileRows
    score: EquityScore
    periods: Periods
    convention: Convention
    first_at: datetime
    last_at: datetime
    notes: tuple[str, ...]


def read_settled_forecasts(
    file: InputTable,
    layout: Layout | None = None,
    *,
    pools: Sequence[PoolingMethod] = (),
    extremize: float = 1.0,
    strict: bool,
) -> SettledForecasts:
    """Return the forecasts of a file that can be scored, with pools of them and the market.

    Args:
        layout: None for the column names of a forecast file.
        extremize: A factor for the log-odds of pools.

    Raises:
        FileRefused: If nothing can be scored, or bad rows are refused.
        UsageError: If it has another format, lacks a column, or a forecaster has the name of a pool.
    """
    found = read_forecasts(file, layout)
    _check_rows(found.file, strict=strict)
    settled = found.to_arrays()
    if settled.probability.size == 0:
        raise FileRefused(_nothing_settled(found), found.file)
    if len(settled.forecasters) > MAX_FORECASTERS:
        raise UsageError(
            f"{file.label} has {len(settled.forecasters):,} forecasters, and at most {MAX_FORECASTERS:,} are scored. "
            "Score it in parts"
        )
    try:
        settled, on_pools = with_pools(settled, pools, extremize=extremize)
    except ValueError as error:
        raise UsageError(f"{file.label}: {error}") from None
    settled, on_market = with_market(settled)
    remarks = (*file.remarks, *_remarks(found), *on_pools, *on_market, *_remark_on_dates(found))
    return SettledForecasts(found, settled, remarks)


def score_forecasts(settled: SettledForecasts, asked: Question) -> Evaluation:
    """Return how good the forecasters of a file are; open and void forecasts are counted beside the scores."""
    evaluation = evaluation_of_forecasts(settled.forecasts, asked, settled.remarks)
    n_open, n_void = settled.found.n_open, settled.found.n_void
    cards = (
        replace(
            card,
            forecasts=card.forecasts + n_open.get(card.bot, 0) + n_void.get(card.bot, 0),
            void=n_void.get(card.bot, 0),
        )
        for card in evaluation.cards
    )
    return replace(evaluation, cards=tuple(cards))


def compare_forecasters(settled: SettledForecasts, names: tuple[str, str], asked: Question) -> Pair:
    """Return which of two forecasters is better on the questions both answered, by Brier score.

    Raises:
        UsageError: If both names are the same, or one is no forecaster, requested pool or `market`.
    """
    forecasts, label = settled.forecasts, settled.found.file.label
    for name in names:
        if name not in forecasts.forecasters:
            known = [one_line(each)[:40] for each in forecasts.forecasters[:40]]
            raise UsageError(f"{label} has no forecaster {name[:80]!r}. {did_you_mean(name, known)}")
    if names[0] == names[1]:
        raise UsageError(f"{names[0][:80]!r} cannot be compared with itself. Name two forecasters")
    numbers = [forecasts.forecasters.index(name) for name in names]
    both = forecasts.only(np.isin(forecasts.forecaster, numbers))
    own = np.where(both.forecaster == numbers[0], 0, 1)
    # Only these two: with more, p-values would be corrected for further pairs.
    (pair,) = brier_pairs(replace(both, forecasters=names, forecaster=own), asked.uncertainty)
    return pair


def score_equity(
    file: InputTable,
    convention: Convention,
    *,
    periods_per_year: float | None = None,
    risk_free_rate: float | None = None,
    strict: bool,
) -> EquityReport:
    """Return how the account of a file did.

    Args:
        periods_per_year: Values in a year; None derives it from the dates.
        risk_free_rate: For a year; None is the convention's.

    Raises:
        FileRefused: If nothing can be scored, bad rows are refused, or the number of periods a year is unknown.
        UsageError: If it has another format, or lacks a column.
    """
    found = read_equity(file)
    _check_rows(found.file, strict=strict)
    points = found.points
    if not points:
        raise FileRefused(f"{file.label} has no row that can be scored. Fix them", found.file)
    if points[0].value == 0.0:
        raise UsageError(
            f"{file.label}, {file.place} {points[0].number}: value is 0 at the beginning. "
            "Begin where the account has something to lose"
        )
    try:
        curve = score_of_curve(
            [point.at for point in points],
            [point.value for point in points],
            convention,
            periods_per_year=periods_per_year,
            risk_free_rate=risk_free_rate,
        )
    except ValueError as error:
        raise FileRefused(f"{file.label}: {error}. See --periods-per-year", found.file) from None
    return EquityReport(
        file=found.file,
        score=curve.score,
        periods=curve.periods,
        convention=convention,
        first_at=points[0].at,
        last_at=points[-1].at,
        notes=tuple(_equity_remarks(found)),
    )


def _check_rows(file: FileRows, *, strict: bool) -> None:
    if file.rows == 0:
        raise UsageError(f"{file.label} has no row below its header. Give one row a line")
    if strict and file.bad_rows:
        first = file.bad_rows[0]
        raise FileRefused(
            f"{file.label} has {count_noun(file.n_bad_rows, 'bad row')} of {file.rows:,}, and --strict accepts none. "
            f"Fix them, or leave --strict out; the first: {file.place} {first.number}: {first.reason}",
            file,
        )


def _nothing_settled(found: ForecastFile) -> str:
    file = found.file
    parts = (
        (file.n_bad_rows, "bad"),
        (sum(found.n_open.values()), "on questions without an outcome"),
        (sum(found.n_void.values()), "on void questions"),
    )
    seen = ", ".join(f"{n:,} {what}" for n, what in parts if n)
    first = f"; the first: {file.place} {bad[0].number}: {bad[0].reason}" if (bad := file.bad_rows) else ""
    return (
        f"{file.label} has nothing to score: of {count_noun(file.rows, 'row')}, {seen}. Give outcomes of 1 or 0{first}"
    )


def _remarks(found: ForecastFile) -> Iterator[str]:
    file = found.file
    if file.bad_rows:
        yield f"Bad rows: {file.n_bad_rows:,} of {file.rows:,}; they are in no number here."
    for counts, what, ending in (
        (found.n_open, "open", "their questions have no outcome yet"),
        (found.n_void, "void", "their questions ended neither with 1 nor with 0"),
    ):
        if counts:
            who = first_of([f"{name} {n:,}" for name, n in counts.items()], _MOST_NAMED)
            yield f"Forecasts {what}: {sum(counts.values()):,} ({who}); {ending}."
    settled = {forecast.question for forecast in found.forecasts if forecast.outcome is not None}
    if left_out := sum(forecast.outcome is None and forecast.question in settled for forecast in found.forecasts):
        yield f"{count_noun(left_out, 'open forecast')} on questions that other rows give an outcome of: not scored."


def _remark_on_dates(found: ForecastFile) -> Iterator[str]:
    """Yield a remark if dates keep all forecasters apart."""
    own = len({forecast.forecaster for forecast in found.forecasts})
    shared = len({(forecast.question, forecast.at) for forecast in found.forecasts}) < len(found.forecasts)
    if own > 1 and not shared and any(forecast.at is not None for forecast in found.forecasts):
        yield (
            "No two forecasters answered a question at the same instant: nobody is compared, pools are of one. "
            "Give dates without a time of day if forecasts of one day belong together."
        )


def _equity_remarks(found: EquityFile) -> Iterator[str]:
    if found.file.bad_rows:
        yield (
            f"Bad rows: {found.file.n_bad_rows:,} of {found.file.rows:,}; "
            "the return across one that is left out counts as that of a single period."
        )
    if found.sorted_here:
        yield "The rows were not in the order of time: they are sorted by date here."
    if uneven := found.uneven_steps():
        yield (
            f"{count_noun(uneven, 'step')} of {len(found.points) - 1:,} between values: not as long as most; "
            "each counts as one period all the same."
        )
