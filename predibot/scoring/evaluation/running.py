"""Running sums: an edge, a gain or an account slot by slot, each point with its interval."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.accounts.score import is_curve, returns_of
from predibot.scoring.arguments import Floats, instance_of, within_floats
from predibot.scoring.evaluation.averages import Average
from predibot.scoring.evaluation.book import Book
from predibot.scoring.evaluation.horizon_series import edge_average, horizon_averages
from predibot.scoring.inference.blocks import draw_curves, growth_estimate
from predibot.scoring.inference.draws import at_least
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.records.daily_marks import record_marks
from predibot.scoring.records.edge import edges
from predibot.scoring.records.horizon_returns import horizon_returns
from predibot.scoring.records.track_record import TrackRecord

MOST_POINTS = 40
EDGE = "edge"
GAIN = "mean_return"
GAIN_AT_QUOTE = "quote_mean_return"
RUNNING = (EDGE, GAIN, GAIN_AT_QUOTE)
_DRAWS = 2_000
"""Enough draws for a line in a picture."""


@dataclass(frozen=True, slots=True)
class RunningPoint:
    """The sum after one slot."""

    slot_at: float
    total: float
    low: float | None
    high: float | None
    n: int
    clusters: int


@within_floats
def running_sums(
    record: TrackRecord, *, confidence: float = 0.95, most: int = MOST_POINTS, wanted: Sequence[str] = RUNNING
) -> Mapping[str, Mapping[str, tuple[RunningPoint, ...]]]:
    """Return running sums over slots, by their name in `RUNNING` and then by bot; bots without values are absent.

    `edge` sums the edges of event-slots. `mean_return` sums gains at the mid in dollars, a dollar a decision.
    `quote_mean_return` sums gains against the book with fees. A point counts everything decided by its slot, as known
    at the record's instant. Its interval is that of the mean over these decisions times their number, for one look at
    this point; the intervals together are no band for the whole curve.

    At most `most` points are returned, evenly spread over the slots, with the last. Raises `ValueError` if it is no
    record, or an argument is out of range.
    """
    instance_of("record", record, TrackRecord)
    at_least("most", most, 2)
    book = Book.of(record, record_marks(record))
    averages = {EDGE: edge_average(edges(record), book)} if EDGE in wanted else {}
    if gains := [name for name in (GAIN, GAIN_AT_QUOTE) if name in wanted]:
        averages |= horizon_averages(horizon_returns(record, ())[0], book, gains)
    slots = record.slots()
    points = _spread(np.unique(slots[record.scored_mask()]), most)
    found: dict[str, Mapping[str, tuple[RunningPoint, ...]]] = {name: {} for name in wanted}
    for name, average in averages.items():
        of_bots: list[list[RunningPoint]] = [[] for _ in record.bots]
        slot, value = slots[average.decision], average.value
        for slot_at, dependences in zip(points.tolist(), _dependences(average, slots, points), strict=True):
            # A decision has the same value in every sum.
            known, made = np.where(slot <= slot_at, value, np.nan), slots[book.record.bet_decision] <= slot_at
            until = replace(average, value=known, made=np.flatnonzero(made))
            for before, estimate in zip(of_bots, until.of_each(confidence, dependences), strict=True):
                if estimate is None or (before and before[-1].n == estimate.n):
                    continue
                low, high = (None if end is None else end * estimate.n for end in (estimate.low, estimate.high))
                total = estimate.estimate * estimate.n
                before.append(RunningPoint(slot_at, total, low, high, estimate.n, estimate.clusters))
        found[name] = {bot: tuple(of_bot) for bot, of_bot in zip(record.bots, of_bots, strict=True) if of_bot}
    return found


def running_value(
    at: Sequence[float],
    values: Floats,
    uncertainty: Uncertainty,
    *,
    implied: Callable[[int], float] = lambda _: 0.0,
) -> tuple[RunningPoint, ...]:
    """Return the value of an account over its slots, with intervals by the scatter of its returns: at most
    `MOST_POINTS` points, evenly spread, with the last.

    The interval of a point is that of the cumulative return up to it; the last one is that of the account's score.

    Args:
        at: Increasing instants in seconds since 1970, (n,).
        values: The account's values in dollars, (n,) (otherwise `ValueError`).
        implied: The standard deviation of log growth up to a row that prices imply.
    """
    if len(at) != values.size:
        raise ValueError(f"there are {len(at)} instants of {values.size} values; give one of each")
    found = []
    drawn = replace(uncertainty, resamples=min(uncertainty.resamples, _DRAWS))
    for row in _spread(np.arange(values.size), MOST_POINTS).tolist():
        low = high = None
        if row >= 2 and is_curve(values[: row + 1]):
            estimate = growth_estimate(draw_curves(returns_of(values[: row + 1])[:, None], drawn), 0, implied(row))
            if estimate.low is not None and estimate.high is not None:
                low, high = (float(values[0] * (1.0 + end)) for end in (estimate.low, estimate.high))
        found.append(RunningPoint(float(at[row]), float(values[row]), low, high, row, row))
    return tuple(found)


def _dependences(average: Average, slots: Floats, points: Floats) -> list[list[float]]:
    """Return the dependence of each bot's gains up to each point, from what was bought since the point before."""
    book, shares = average.book, average.counted_shares()
    rows = np.flatnonzero(shares)
    point = np.full(shares.size, points.size)
    point[rows] = np.searchsorted(points, slots[book.record.bet_decision[rows]])
    found = np.ones((points.size, len(book.record.bots)))
    for bot, (start, end) in enumerate(pairwise(book.ends_of_bots.tolist())):
        gained, last = np.zeros(book.daily.day_of_cell.size), 1.0
        for number in range(points.size):
            bought = start + np.flatnonzero(point[start:end] == number)
            if bought.size:
                gained += average.later.daily_gains(bought, shares[bought])
                last = book.daily.dependence(gained)
            found[number, bot] = last
    return found.tolist()


def _spread(values: NDArray[Any], most: int) -> NDArray[Any]:
    if values.size <= most:
        return values
    return values[np.unique(np.linspace(0, values.size - 1, most).round().astype(np.int64))]
