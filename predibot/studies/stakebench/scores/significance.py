"""Significance: tests of hits against chance, of two samples, and of many such tests at once."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, floats, indices, numbers, refuse, same_length
from predibot.scoring.inference.comparison import benjamini_hochberg
from predibot.scoring.inference.draws import between_0_and_1


def binomial_p_values(hits: ArrayLike, trials: ArrayLike, *, chance: float) -> Floats:
    """Return the chance of at least so many hits by guessing, for each of several tests, shape (m,).

    Args:
        hits: Whole numbers, shape (m,).
        trials: At least as many, shape (m,).
        chance: Of one hit, in (0, 1).

    Returns:
        Exact one-sided p-values; NaN where there was no trial.

    Raises:
        ValueError: If there are more hits than trials, or fewer than none.

    Examples:
        >>> binomial_p_values([4, 0], [4, 0], chance=0.5).tolist()
        [0.0625, nan]
    """
    between_0_and_1("chance", chance)
    found, tried = indices("hits", hits), indices("trials", trials)
    same_length(hits=found, trials=tried)
    refuse("hits", found, (found < 0) | (found > tried), "there are from none to as many hits as trials")
    # Imported here: it takes a third of a second.
    from scipy.special import bdtrc

    p_values = np.full(found.size, np.nan)
    happened = tried > 0
    p_values[happened] = bdtrc(found[happened] - 1, tried[happened], chance)
    return p_values


@dataclass(frozen=True, slots=True)
class Discoveries:
    """How many of many tests find something, before and after their number is allowed for."""

    tests: int
    """Those with a p-value."""
    raw: int
    retained: int

    @property
    def retention(self) -> float:
        """Return the share that is retained, NaN where nothing was found."""
        return self.retained / self.raw if self.raw else math.nan


def discoveries(p_values: ArrayLike) -> Discoveries:
    """Return what many tests find at 0.05, raw and by Benjamini and Hochberg's rate of false discoveries.

    Args:
        p_values: Of all bots and splits of one score, NaN where one could not be made, shape (m,).

    Examples:
        >>> found = discoveries([0.001, 0.04, 0.9, float("nan")])
        >>> found.tests, found.raw, found.retained
        (3, 2, 1)
    """
    given = floats("p_values", p_values)
    known = given[~np.isnan(given)]
    retained = int((benjamini_hochberg(known) < 0.05).sum()) if known.size else 0
    return Discoveries(known.size, int((known < 0.05).sum()), retained)


@dataclass(frozen=True, slots=True)
class RankSum:
    """Mann and Whitney's test of two samples."""

    u: float
    """How many pairs have the first above the second, a tie counting half."""
    greater: float
    """The chance of so large a U were both from one population."""
    two_sided: float


def mann_whitney(first: ArrayLike, second: ArrayLike) -> RankSum:
    """Return whether the values of one sample tend to be larger than those of another.

    Args:
        first: Finite numbers, shape (n,).
        second: Finite numbers, shape (m,).

    Returns:
        By the normal approximation with the correction for ties and that for
        continuity; NaN where a sample is empty or all values are the same.

    Source:
        Mann and Whitney (1947), Annals of Mathematical Statistics 18(1), 50-60.

    Examples:
        >>> found = mann_whitney([4, 5, 6], [1, 2, 3])
        >>> found.u, round(found.greater, 4)
        (9.0, 0.0404)
    """
    one, other = numbers("first", first), numbers("second", second)
    n, m = one.size, other.size
    if not n or not m:
        return RankSum(math.nan, math.nan, math.nan)
    _, places, counts = np.unique(np.concatenate((one, other)), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[places]
    u = float(ranks[:n].sum()) - n * (n + 1) / 2.0
    total = n + m
    variance = n * m / 12.0 * (total + 1 - float((counts.astype(float) ** 3 - counts).sum()) / (total * (total - 1)))
    if len(counts) == 1:
        return RankSum(u, math.nan, math.nan)
    above, deviation = u - n * m / 2.0, math.sqrt(variance)
    return RankSum(u, upper_tail((above - 0.5) / deviation), min(1.0, 2.0 * upper_tail((abs(above) - 0.5) / deviation)))


def upper_tail(z: float) -> float:
    """Return the chance that a standard normal number is above z."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))
