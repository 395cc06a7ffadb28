"""Running sums: how an edge, a gain or an account stood slot by slot, each time with the interval it had."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.accounts.score import is_curve, returns_of
from predibot.scoring.arguments import Floats, instance_of, within_floats
from predibot.scoring.evaluation.averages import Average
from predibot.scoring.evaluation.book import Book
from predibot.scoring.evaluation.horizon_series import edge_average, horizon_averages
from predibot.scoring.inference.blocks import drawn_curves, growth_estimate
from predibot.scoring.inference.draws import at_least
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.records.edge import edges
from predibot.scoring.records.horizon_returns import horizon_returns
from predibot.scoring.records.track_record import TrackRecord

MOST_POINTS = 40
"""Each has an interval of its own, which takes time."""
EDGE = "edge"
GAIN = "mean_return"
GAIN_AT_QUOTE = "quote_mean_return"
RUNNING = (EDGE, GAIN, GAIN_AT_QUOTE)
_DRAWS = 2_000
"""So many are enough for a line that is drawn."""


@dataclass(frozen=True, slots=True)
class RunningPoint:
    """A sum as it stood after one slot."""

    slot_at: float
    """In seconds since 1970."""
    total: float
    low: float | None
    """The ends of the interval of the total; None where there is none."""
    high: float | None
    n: int
    """How many values it is the sum of."""
    clusters: int
    """How many events, or dates, these are of."""


@within_floats
def running_sums(
    record: TrackRecord, *, confidence: float = 0.95, most: int = MOST_POINTS
) -> Mapping[str, Mapping[str, tuple[RunningPoint, ...]]]:
    """Return how sums added up over slots, by their name in `RUNNING` and then by bot; a bot without any is absent.

    `edge` is the sum of the edges of event-slots, `mean_return` what was gained at
    the mid in dollars, a dollar a decision, and `quote_mean_return` the same
    against the book with fees. A point is all that was decided by its slot, as
    it stood as of the record's instant; its interval is that of the mean over
    just those decisions, times their number, as if it were looked at once: it is
    no band that holds the whole curve.

    Args:
        record: What was done; of it what counts (`TrackRecord.scored`).
        confidence: Of the intervals.
        most: How many points at most, at least 2; of more slots evenly spread ones are taken, the last among them.

    Raises:
        ValueError: If it is no record, or an argument is out of range.
    """
    instance_of("record", record, TrackRecord)
    at_least("most", most, 2)
    found: dict[str, dict[str, list[RunningPoint]]] = {name: {} for name in RUNNING}
    slots = record.slots()
    for slot_at in _spread(np.unique(slots[record.scored()]), most).tolist():
        part = record.only(slots <= slot_at)
        for name, average in _averages(part).items():
            for bot, estimate in zip(record.bots, average.of_each(confidence), strict=True):
                before = found[name].setdefault(bot, [])
                if estimate is None or (before and before[-1].n == estimate.n):
                    continue
                low, high = (None if end is None else end * estimate.n for end in (estimate.low, estimate.high))
                total = estimate.estimate * estimate.n
                before.append(RunningPoint(slot_at, total, low, high, estimate.n, estimate.clusters))
    return {name: {bot: tuple(points) for bot, points in of.items() if points} for name, of in found.items()}


def running_value(
    at: Sequence[float],
    values: Floats,
    uncertainty: Uncertainty,
    *,
    most: int = MOST_POINTS,
    implied: Callable[[int], float] = lambda _: 0.0,
) -> tuple[RunningPoint, ...]:
    """Return what an account was worth over its slots, and what it might have been by the scatter of its returns.

    The interval of a point is that of the cumulative return up to it: the last
    one is that of the account's score.

    Args:
        at: The instants in seconds since 1970, increasing, (n,).
        values: Its values in dollars, (n,).
        uncertainty: Seed and confidence of the intervals.
        most: How many points at most, at least 2.
        implied: How far log growth up to a row may come out otherwise by the prices.

    Raises:
        ValueError: If the lengths differ, or an argument is out of range.
    """
    at_least("most", most, 2)
    if len(at) != values.size:
        raise ValueError(f"there are {len(at)} instants of {values.size} values; give one of each")
    found = []
    drawn = replace(uncertainty, resamples=min(uncertainty.resamples, _DRAWS))
    for row in _spread(np.arange(values.size), most).tolist():
        low = high = None
        if row >= 2 and is_curve(values[: row + 1]):
            estimate = growth_estimate(drawn_curves(returns_of(values[: row + 1])[:, None], drawn), 0, implied(row))
            if estimate.low is not None and estimate.high is not None:
                low, high = (float(values[0] * (1.0 + end)) for end in (estimate.low, estimate.high))
        found.append(RunningPoint(float(at[row]), float(values[row]), low, high, row, row))
    return tuple(found)


def _averages(record: TrackRecord) -> Mapping[str, Average]:
    book, (now, _) = Book.of(record), horizon_returns(record, ())
    return {EDGE: edge_average(edges(record), book), **horizon_averages(now, book, (GAIN, GAIN_AT_QUOTE))}


def _spread(values: NDArray[Any], most: int) -> NDArray[Any]:
    """Return so many of some values, evenly spread, the last among them."""
    if values.size <= most:
        return values
    return values[np.unique(np.linspace(0, values.size - 1, most).round().astype(np.int64))]
