"""Expansion: what a studentised cluster bootstrap gives, from a formula where many clusters make draws needless."""

from dataclasses import asdict

import numpy as np

from predibot.scoring.inference.bootstrap import Estimate, finite_ends
from predibot.scoring.inference.clusters import ClusterSums
from predibot.scoring.inference.comparison import Comparison
from predibot.scoring.inference.student_t import t_two_sided

CORRECTED = "skewness-corrected t over clusters"
SYMMETRIC_T = "t over clusters"

_DRAWN_BELOW = 300
"""Below so many clusters there are always draws."""
_EXPANDED_FROM = 2_000
"""From so many clusters on there are never draws: 10,000 of them take seconds a score."""
_MAX_SHIFT = 0.15
"""Between the two the formula is for corrections of so many standard errors at most: larger ones leave a rest."""


def expands(sums: ClusterSums, confidence: float) -> bool:
    """Return whether the formula says of a ratio what draws would, or draws would take too long.

    Where the correction is small its ends lie within 0.06 standard errors of
    those of endless draws; those of 10,000 draws have a deviation of 0.03. With
    2,000 clusters of long odds it may be 0.1. docs/coverage.md has how often such
    intervals hold the truth.
    """
    if sums.clusters < _DRAWN_BELOW or np.isnan(sums.standard_error):
        return False
    return sums.clusters >= _EXPANDED_FROM or abs(_shift(sums, sums.t_quantile(confidence))) <= _MAX_SHIFT


def expanded_estimate(sums: ClusterSums, n: int, confidence: float) -> Estimate:
    """Return a ratio with the interval its studentised bootstrap would have, but for the rest of an expansion.

    The quantiles of the studentised ratio are those of Student's t, moved by its
    skewness: (-g (2 q^2 + 1) / 6 + k q^2) / sqrt(K) standard errors, where q is
    the quantile, g the skewness of the clusters' residuals, and k their
    covariance with the denominators over deviation and mean, zero where all
    clusters weigh the same.

    Args:
        sums: Of at least two clusters that differ.
        n: How many rows they are of.
        confidence: The share of such intervals that should hold the truth.

    Source:
        Hall (1992), chapters 2.4 and 2.6, for a mean; the term of the
        denominators is ours, by the same expansion.
    """
    quantile = sums.t_quantile(confidence)
    shift = _shift(sums, quantile)
    low, high = finite_ends(*(sums.ratio - end * sums.standard_error for end in (quantile + shift, shift - quantile)))
    return Estimate(sums.ratio, low, high, confidence, n, sums.clusters, CORRECTED, 0, 0, sums.standard_error)


def expanded_comparison(sums: ClusterSums, n: int, confidence: float) -> Comparison:
    """Return a mean difference with the interval and p-value of Student's t: with either sign, skewness falls out.

    Args:
        sums: Of at least two clusters that differ.
        n: How many rows they are of.
        confidence: The share of such intervals that should hold the truth.
    """
    half = sums.t_quantile(confidence) * sums.standard_error
    low, high = finite_ends(sums.ratio - half, sums.ratio + half)
    p_value = t_two_sided(sums.ratio / sums.standard_error, sums.clusters - 1)
    found = Estimate(sums.ratio, low, high, confidence, n, sums.clusters, SYMMETRIC_T, 0, 0, sums.standard_error)
    return Comparison(**asdict(found), p_value=p_value)


def _shift(sums: ClusterSums, quantile: float) -> float:
    """Return how far both quantiles are moved, in standard errors."""
    shares = sums.denominators / sums.denominators.mean()
    # The shift has no unit.
    residuals = sums.residuals / np.sqrt(np.mean(sums.residuals**2))
    skewness = np.mean(residuals**3)
    weighing = np.mean(residuals * shares)
    moved = weighing * quantile**2 - skewness * (2.0 * quantile**2 + 1.0) / 6.0
    return float(moved / np.sqrt(sums.clusters))
