"""Raters: how far those agree who rated the same things, and what most of them say."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, floats
from predibot.scoring.metrics.agreement import linear_correlation
from predibot.scoring.relatedness.relevance import relevance_class


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """The agreement of k raters; NaN for a missing value."""

    pearson: tuple[tuple[int, int, float, int], ...]
    """Of every two raters: both, their correlation, and the number of things that both rated."""
    icc: float
    """ICC(2,1): absolute agreement of one rater, over things that all rated."""
    icc_of_mean: float
    """ICC(2,k): of the mean of all raters."""
    n: int
    """Things that all rated."""


def rater_agreement(ratings: ArrayLike) -> RaterAgreement:
    """Return the agreement of raters.

    Args:
        ratings: Shape (n, k) for n things and k raters, k at least 2; NaN for a missing rating.

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
        value = linear_correlation(table[both, one], table[both, other]) if both.any() else math.nan
        pairs.append((one, other, value, int(both.sum())))
    whole = table[~np.isnan(table).any(axis=1)]
    return RaterAgreement(tuple(pairs), *_icc(whole), len(whole))


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


def most_say(ratings: ArrayLike) -> float:
    """Return the mean of the ratings in the class that more than half name; the mean of all where none is.

    Args:
        ratings: Of one thing by k raters, shape (k,), each in [0, 1]; NaN for a missing one.

    Raises:
        ValueError: If nobody rated it.

    Source:
        BeliefBench, appendix G.2: the majority, and the mean of the three where all disagree.

    Examples:
        >>> round(most_say([0.5, 0.58, 0.9]), 2), most_say([0.25, 0.5, 0.75])
        (0.54, 0.5)
    """
    values = floats("ratings", ratings)
    values = values[~np.isnan(values)]
    if not values.size:
        raise ValueError("nobody rated it; give at least one rating")
    classes = relevance_class(values)
    counts = np.bincount(classes)
    if 2 * counts.max() > values.size:
        values = values[classes == counts.argmax()]
    return float(values.mean())
