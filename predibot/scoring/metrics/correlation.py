"""Correlations of two figures over the same bots, with intervals."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import atanh, sqrt, tanh
from statistics import NormalDist

from predibot.scoring.metrics.agreement import linear_correlation, rank_correlation

FEWEST_FOR_A_CORRELATION = 4
"""Fisher's transformation has a variance of 1 / (n - 3)."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation coefficient, in [-1, 1], and its interval."""

    value: float | None
    """None below `FEWEST_FOR_A_CORRELATION` pairs, or where one figure is the same everywhere."""
    low: float | None = None
    high: float | None = None
    """The ends; None at -1 and 1, where the transformation has none: few points in order are no certainty."""


@dataclass(frozen=True, slots=True)
class Correlations:
    """Correlations of two figures over the bots that have both."""

    n: int
    pearson: Correlation
    spearman: Correlation


def correlations(one: Mapping[str, float], other: Mapping[str, float], *, confidence: float = 0.95) -> Correlations:
    """Return Pearson's and Spearman's correlation of two figures by bot, finite each, over the bots that have both.

    The interval is for bots like these: it takes each bot as one draw, and
    does not know that bots played the same markets.

    Source:
        Fisher (1921), Metron 1, 3-32; for ranks with the variance of Bonett and
        Wright (2000), Psychometrika 65(1), 23-28.

    Examples:
        >>> found = correlations({"a": 1, "b": 2, "c": 3, "d": 4}, {"a": 2, "b": 1, "c": 4, "d": 3, "e": 9})
        >>> found.n, round(found.spearman.value, 3), round(found.pearson.low, 3)
        (4, 0.6, -0.853)
    """
    common = [key for key in one if key in other]
    a, b = [one[key] for key in common], [other[key] for key in common]
    n, z = len(common), NormalDist().inv_cdf((1 + confidence) / 2)
    if n < FEWEST_FOR_A_CORRELATION:
        return Correlations(n, Correlation(None), Correlation(None))
    pearson, spearman = linear_correlation(a, b), rank_correlation(a, b)
    return Correlations(
        n, _with_ends(pearson, z / sqrt(n - 3)), _with_ends(spearman, z * sqrt((1 + spearman**2 / 2) / (n - 3)))
    )


def _with_ends(value: float, width: float) -> Correlation:
    """Return a coefficient with its ends, `width` away on the scale of Fisher's transformation."""
    if value != value:
        return Correlation(None)
    if abs(value) > 1 - 1e-12:
        return Correlation(round(value))
    return Correlation(value, tanh(atanh(value) - width), tanh(atanh(value) + width))
