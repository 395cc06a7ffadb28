"""Ratios by split: a score is sum(earned) / sum(counted) in each split, averaged over splits."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, Ints, floats, indices, one_dimensional, refuse, same_length
from predibot.scoring.inference.bootstrap import generator, resample_counts
from predibot.scoring.inference.clusters import cluster_codes

REFUSED = -99
"""Stands for an unreadable answer: never right, and no side."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What each answer earns, and its weight."""

    earned: Floats
    """Shape (n,), from zero to `counted`."""
    counted: Floats
    """Shape (n,), zero or more; 0 where the answer is not scored."""

    def by_split(self, splits: Ints, number: int) -> Floats:
        """Return the score of each split, shape (number,); NaN where nothing counts."""
        same_length(earned=self.earned, splits=splits)
        earned, counted = (np.bincount(splits, each, minlength=number) for each in (self.earned, self.counted))
        # Weights that vanish in a sum are no weights.
        found: Floats = np.divide(earned, counted, out=np.full(number, np.nan), where=counted > 0.0)
        return found

    def over_all(self) -> float:
        """Return the score of all answers as one split; NaN where nothing counts."""
        return float(self.by_split(np.zeros(self.earned.size, dtype=np.int64), 1)[0])


@dataclass(frozen=True, slots=True)
class MacroEstimate:
    """A mean over splits with a bootstrap interval over markets."""

    estimate: float
    low: float | None
    """None with fewer than two markets, or with resamples without a value."""
    high: float | None
    splits: int
    """Only those with a value."""
    markets: int
    n: int
    """Answers that count."""

    @property
    def width(self) -> float | None:
        """Return the width of the interval."""
        return None if self.low is None or self.high is None else self.high - self.low


def macro_average(by_split: ArrayLike) -> float:
    """Return the unweighted mean over splits with a value; NaN without any.

    Examples:
        >>> macro_average([0.4, float("nan"), 0.6])
        0.5
    """
    values = one_dimensional("by_split", floats("by_split", by_split))
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan


def macro_estimate(
    marks: Tally, splits: ArrayLike, markets: ArrayLike, *, minus: Tally | None = None, resamples: int = 2_000
) -> MacroEstimate:
    """Return a macro average with its 95 % percentile interval, markets drawn anew within each split.

    A market is drawn with all its comments, as they share a question and often a crowd.

    Args:
        splits: Whole numbers from zero, shape (n,).
        markets: Words or whole numbers, shape (n,); a market lies in one split.
        minus: Subtracted in each split, such as a baseline or the lowest quartile.

    Raises:
        ValueError: If lengths differ, or a split is below zero.
    """
    rows = indices("splits", splits)
    refuse("splits", rows, rows < 0, "each must be zero or more")
    if not rows.size:
        return MacroEstimate(math.nan, None, None, 0, 0, 0)
    number = int(rows.max()) + 1
    parts = (marks,) if minus is None else (marks, minus)
    codes = cluster_codes(markets, "markets")
    same_length(splits=rows, markets=codes, **{f"marks_{at}": each.earned for at, each in enumerate(parts)})
    columns = [column for each in parts for column in (each.earned, each.counted)]
    rng = generator(0)
    found, drawn, several = np.full(number, np.nan), np.full((resamples, number), np.nan), True
    for split in range(number):
        inside = rows == split
        if not inside.any():
            continue
        _, local = np.unique(codes[inside], return_inverse=True)
        sums = np.stack([np.bincount(local, column[inside]) for column in columns], axis=1)
        found[split] = _ratio_difference(sums.sum(axis=0)[np.newaxis, :])[0]
        if math.isnan(found[split]):
            continue
        several &= len(sums) > 1
        counts = resample_counts(len(sums), resamples, rng)
        drawn[:, split] = np.concatenate([_ratio_difference(block @ sums) for block in counts])
    known = ~np.isnan(found)
    low = high = None
    if known.any() and several:
        # A draw without a value in some split has no value: leaving the split out would change the average.
        means = drawn[:, known].mean(axis=1)
        if np.isnan(means).mean() <= 0.01:
            ends = np.nanquantile(means, [(1.0 - 0.95) / 2.0, (1.0 + 0.95) / 2.0])
            low, high = float(ends[0]), float(ends[1])
    counting = np.any([each.counted > 0.0 for each in parts], axis=0) & known[rows]
    markets_known = int(np.unique(codes[known[rows]]).size)
    return MacroEstimate(macro_average(found), low, high, int(known.sum()), markets_known, int(counting.sum()))


def _ratio_difference(sums: Floats) -> Floats:
    """Return the ratio earned/counted, less that of the next two columns if there are any; NaN for 0/0."""
    values = np.full(len(sums), np.nan)
    usable = (sums[:, 1::2] > 0.0).all(axis=1)
    ratios = sums[usable, ::2] / sums[usable, 1::2]
    values[usable] = ratios[:, 0] - ratios[:, 1:].sum(axis=1)
    return values
