"""Raters: how far people who rate the same pairs agree among themselves, and with a score."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, floats, numbers, same_length


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """How far k raters agree; NaN is a number that has no value."""

    pearson: tuple[tuple[int, int, float, int], ...]
    """Of every two raters: who, their correlation, and over how many things both rated."""
    icc: float
    """ICC(2,1): of one rater, in absolute agreement; over what all rated, as the next one."""
    icc_of_mean: float
    """ICC(2,k): of the mean of all k."""
    n: int
    """Things that all rated."""


def rater_agreement(ratings: ArrayLike) -> RaterAgreement:
    """Return how far raters agree.

    Args:
        ratings: Of each thing by each rater, shape (n, k), k at least 2; NaN where one did not rate it.

    Raises:
        ValueError: If there are fewer than two raters.

    Source:
        Shrout and Fleiss (1979), Psychological Bulletin 86(2), 420-428.

    Examples:
        >>> found = rater_agreement(
        ...     [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
        ... )
        >>> round(found.icc, 2), round(found.icc_of_mean, 2)
        (0.29, 0.62)
    """
    table = floats("ratings", ratings)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(f"ratings have shape {table.shape}; give a column for each of at least two raters")
    pairs = []
    for one, other in combinations(range(table.shape[1]), 2):
        both = ~np.isnan(table[:, [one, other]]).any(axis=1)
        pairs.append((one, other, pearson(table[both, one], table[both, other]), int(both.sum())))
    whole = table[~np.isnan(table).any(axis=1)]
    return RaterAgreement(tuple(pairs), *_icc(whole), len(whole))


def pearson(a: ArrayLike, b: ArrayLike) -> float:
    """Return Pearson's correlation; NaN below two things, or where one series is the same throughout.

    Args:
        a: Finite numbers, shape (n,).
        b: Of the same things, shape (n,).

    Examples:
        >>> round(pearson([1, 2, 3], [2, 4, 7]), 4)
        0.9934
    """
    one, other = numbers("a", a), numbers("b", b)
    same_length(a=one, b=other)
    if one.size < 2 or np.ptp(one) == 0.0 or np.ptp(other) == 0.0:
        return math.nan
    return float(np.corrcoef(one, other)[0, 1])


def _icc(table: Floats) -> tuple[float, float]:
    n, k = table.shape
    if n < 2:
        return math.nan, math.nan
    mean = table.mean()
    of_things = k * ((table.mean(axis=1) - mean) ** 2).sum()
    of_raters = n * ((table.mean(axis=0) - mean) ** 2).sum()
    rest = max(((table - mean) ** 2).sum() - of_things - of_raters, 0.0)
    things, raters, error = of_things / (n - 1), of_raters / (k - 1), rest / ((n - 1) * (k - 1))
    one = things + (k - 1) * error + k * (raters - error) / n
    mean_of_all = things + (raters - error) / n
    return (
        float((things - error) / one) if one else math.nan,
        float((things - error) / mean_of_all) if mean_of_all else math.nan,
    )
