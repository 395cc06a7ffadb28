"""Scoring: anybody's forecasts, or the value of anybody's account, from a file that is no ledger."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from predibot.domain.spelling import counted, did_you_mean, first_of
from predibot.domain.untrusted_text import one_line
from predibot.errors import UsageError
from predibot.jobs.score_files.equity import EquityFile, read_equity
from predibot.jobs.score_files.forecasts import ForecastFile, Layout, read_forecasts
from predibot.jobs.score_files.table import FileRows, InputTable
from predibot.scoring.evaluation.evaluation import Evaluation, Question, evaluation_of_forecasts
from predibot.scoring.evaluation.pairs import Pair, brier_pairs
from predibot.scoring.evaluation.references import with_market, with_pools
from predibot.scoring.metrics.conventions import Convention
from predibot.scoring.metrics.equity import EquityScore, score_of_curve
from predibot.scoring.metrics.periods import Periods
from predibot.scoring.metrics.pooling import PoolingMethod
from predibot.scoring.records.forecasts import Forecasts

_MOST_NAMED = 10
MAX_FORECASTERS = 20_000
"""Each costs some kilobytes of figures, and seconds go by for a thousand."""


class FileRefused(UsageError):
    """A file is not scored: it has bad rows and none were to be accepted, or nothing else."""

    def __init__(self, message: str, file: FileRows) -> None:
        """Keep the bad rows beside the message, which has room for one."""
        super().__init__(message)
        self.file = file


@dataclass(frozen=True, slots=True)
class SettledForecasts:
    """A file's forecasts on settled questions, with pools of them and the market beside them."""

    found: ForecastFile
    forecasts: Forecasts
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScoredEquity:
    """How the account of a file did."""

    file: FileRows
    score: EquityScore
    periods: Periods
    convention: Convention
    first_at: datetime
    last_at: datetime
    notes: tuple[str, ...]


def settled_forecasts(
    file: InputTable,
    layout: Layout | None = None,
    *,
    pools: Sequence[PoolingMethod] = (),
    extremize: float = 1.0,
    strict: bool,
) -> SettledForecasts:
    """Return the forecasts of a file that can be scored, with pools of them and the market beside them.

    Args:
        file: With the columns of a forecast file.
        layout: What its columns are called; None for the names of a forecast file.
        pools: Which are wanted.
        extremize: What the log-odds of pools are multiplied by.
        strict: Whether bad rows refuse the file.

    Raises:
        FileRefused: If nothing in it can be scored, or bad rows were not to be
            accepted.
        UsageError: If it is not what it is taken for, a column is missing, or a
            forecaster has the name of a pool.
    """
    found = read_forecasts(file, layout)
    _check(found.file, strict=strict)
    settled = found.settled()
    if settled.probability.size == 0:
        raise FileRefused(_nothing_settled(found), found.file)
    if len(settled.forecasters) > MAX_FORECASTERS:
        raise UsageError(
            f"{file.label} has {len(settled.forecasters):,} forecasters, and at most {MAX_FORECASTERS:,} are scored. "
            "Score it in parts"
        )
    try:
        pooled = with_pools(settled, pools, extremize=extremize)
    except ValueError as error:
        raise UsageError(f"{file.label}: {error}") from None
    beside = with_market(pooled.forecasts)
    remarks = (*file.remarks, *_remarks(found), *pooled.remarks, *beside.remarks, *_on_comparisons(found))
    return SettledForecasts(found, beside.forecasts, remarks)


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
    """Return which of two forecasters of a file is better on what both answered, by Brier score.

    Args:
        settled: The file's forecasts.
        names: Of two forecasters; `market`, and pools that are asked for, are among them.
        asked: How the interval is made.

    Raises:
        UsageError: If there is no such forecaster, or both are the same.
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
    # Alone: of more than two, p-values are corrected for pairs that nobody asked for here.
    (pair,) = brier_pairs(replace(both, forecasters=names, forecaster=own), asked.uncertainty)
    return pair


def score_equity(
    file: InputTable,
    convention: Convention,
    *,
    periods_per_year: float | None = None,
    risk_free_rate: float | None = None,
    strict: bool,
) -> ScoredEquity:
    """Return how the account of a file did.

    Args:
        file: With the columns of an equity file.
        convention: How annual figures are made.
        periods_per_year: How many values a year has; None follows from the dates.
        risk_free_rate: A year's; None is the convention's.
        strict: Whether bad rows refuse the file.

    Raises:
        FileRefused: If nothing in it can be scored, bad rows were not to be
            accepted, or there is no number of periods a year.
        UsageError: If it is not what it is taken for, or a column is missing.
    """
    found = read_equity(file)
    _check(found.file, strict=strict)
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
    return ScoredEquity(
        file=found.file,
        score=curve.score,
        periods=curve.periods,
        convention=convention,
        first_at=points[0].at,
        last_at=points[-1].at,
        notes=tuple(_on_equity(found)),
    )


def _check(file: FileRows, *, strict: bool) -> None:
    if file.rows == 0:
        raise UsageError(f"{file.label} has no row below its header. Give one row a line")
    if strict and file.bad_rows:
        first = file.bad_rows[0]
        raise FileRefused(
            f"{file.label} has {counted(file.n_bad_rows, 'bad row')} of {file.rows:,}, and --strict accepts none. "
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
    return f"{file.label} has nothing to score: of {counted(file.rows, 'row')}, {seen}. Give outcomes of 1 or 0{first}"


def _remarks(found: ForecastFile) -> Iterator[str]:
    """Yield what is left out of the scores, and why."""
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
    settled = {said.question for said in found.said if said.outcome is not None}
    if left_out := sum(said.outcome is None and said.question in settled for said in found.said):
        yield f"{counted(left_out, 'open forecast')} on questions that other rows give an outcome of: not scored."


def _on_comparisons(found: ForecastFile) -> Iterator[str]:
    """Yield that dates keep forecasters apart, where they do."""
    own = len({said.forecaster for said in found.said})
    shared = len({(said.question, said.at) for said in found.said}) < len(found.said)
    if own > 1 and not shared and any(said.at is not None for said in found.said):
        yield (
            "No two forecasters answered a question at the same instant: nobody is compared, pools are of one. "
            "Give dates without a time of day if forecasts of one day belong together."
        )


def _on_equity(found: EquityFile) -> Iterator[str]:
    if found.file.bad_rows:
        yield (
            f"Bad rows: {found.file.n_bad_rows:,} of {found.file.rows:,}; "
            "the return across one that is left out counts as that of a single period."
        )
    if found.sorted_here:
        yield "The rows were not in the order of time: they are sorted by date here."
    if uneven := found.uneven_steps():
        yield (
            f"{counted(uneven, 'step')} of {len(found.points) - 1:,} between values: not as long as most; "
            "each counts as one period all the same."
        )
