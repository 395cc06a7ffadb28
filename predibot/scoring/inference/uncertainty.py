"""Uncertainty: the intervals of many scores at once, from one set of draws, or from a formula for many clusters."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypeVar

import numpy as np

from predibot.rows import grouped
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.bootstrap import (
    Estimate,
    check_draws,
    estimate_of,
    finite_ends,
    studentised_distances_of_each,
)
from predibot.scoring.inference.clusters import ClusterSums, cluster_codes, cluster_sums
from predibot.scoring.inference.comparison import Comparison, comparison_of
from predibot.scoring.inference.draws import at_least
from predibot.scoring.inference.student_t import t_two_sided

CORRECTED = "skewness-corrected t over clusters"
SYMMETRIC_T = "t over clusters"

_DRAWN_BELOW = 300
"""With fewer clusters intervals are always drawn."""
_EXPANDED_FROM = 2_000
"""With this many clusters intervals are never drawn: 10,000 draws take seconds a score."""
_MAX_SHIFT = 0.15
"""In between, the formula serves corrections of at most so many standard errors; larger ones would leave a rest."""


def expands(sums: ClusterSums, confidence: float) -> bool:
    """Return whether the formula replaces draws: it agrees with them, or they would take too long.

    With a small correction its ends lie within 0.06 standard errors of those of endless
    draws; those of 10,000 draws have a deviation of 0.03. With 2,000 clusters of
    long odds it may be 0.1. docs/coverage.md has how often such intervals hold the truth.
    """
    if sums.clusters < _DRAWN_BELOW or np.isnan(sums.standard_error):
        return False
    return sums.clusters >= _EXPANDED_FROM or abs(_shift(sums, sums.t_quantile(confidence))) <= _MAX_SHIFT


def expand_estimate(sums: ClusterSums, n: int, confidence: float) -> Estimate:
    """Return a ratio with the interval of its studentised bootstrap, up to the rest of an expansion.

    The quantiles of the studentised ratio are those of Student's t, moved by its
    skewness: (-g (2 q^2 + 1) / 6 + k q^2) / sqrt(K) standard errors, where q is
    the quantile, g the skewness of the clusters' residuals, and k their
    covariance with the denominators over deviation and mean, zero where all
    clusters weigh the same. There must be at least two clusters, and they must differ.

    Source:
        Hall (1992), chapters 2.4 and 2.6, for a mean; the term of the denominators is ours, by the same expansion.
    """
    quantile = sums.t_quantile(confidence)
    shift = _shift(sums, quantile)
    low, high = finite_ends(*(sums.ratio - end * sums.standard_error for end in (quantile + shift, shift - quantile)))
    return Estimate(sums.ratio, low, high, confidence, n, sums.clusters, CORRECTED, 0, 0, sums.standard_error)


def expand_comparison(sums: ClusterSums, n: int, confidence: float) -> Comparison:
    """Return a mean difference with the interval and p-value of Student's t: two-sided, skewness cancels."""
    half = sums.t_quantile(confidence) * sums.standard_error
    low, high = finite_ends(sums.ratio - half, sums.ratio + half)
    p_value = t_two_sided(sums.ratio / sums.standard_error, sums.clusters - 1)
    found = Estimate(sums.ratio, low, high, confidence, n, sums.clusters, SYMMETRIC_T, 0, 0, sums.standard_error)
    return Comparison(**asdict(found), p_value=p_value)


def _shift(sums: ClusterSums, quantile: float) -> float:
    shares = sums.denominators / sums.denominators.mean()
    # Scaled, because the shift has no unit.
    residuals = sums.residuals / np.sqrt(np.mean(sums.residuals**2))
    skewness = np.mean(residuals**3)
    weighing = np.mean(residuals * shares)
    moved = weighing * quantile**2 - skewness * (2.0 * quantile**2 + 1.0) / 6.0
    return float(moved / np.sqrt(sums.clusters))


_Found = TypeVar("_Found", bound=Estimate)

AT_ONCE = 100
"""Scores that share a set of draws; more would not fit into memory."""
MOST_WITH_INTERVALS = 1_000
"""The most forecasters or bots with intervals, those with the most values: each takes milliseconds."""


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """The number and seed of the draws behind intervals, and their confidence."""

    seed: int = 0
    resamples: int = 10_000
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Refuse a confidence that is no share, and too few draws for it."""
        check_draws(self.resamples, self.confidence)
        at_least("seed", self.seed, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A score that is a ratio of sums over rows; a mean has denominators of one."""

    numerators: Floats
    denominators: Floats
    clusters: Ints
    limits: tuple[float, float] = (-math.inf, math.inf)
    """The least and the most that is possible; ends are cut there."""


def mean_of(values: Floats, clusters: Ints, limits: tuple[float, float] = (-math.inf, math.inf)) -> Ratio:
    """Return a mean as a ratio."""
    return Ratio(values, np.ones_like(values), clusters, limits)


def intervals_of_each(
    scores: Sequence[Mapping[str, Ratio]], uncertainty: Uncertainty | None
) -> list[Mapping[str, Estimate]]:
    """Return each forecaster's intervals by score; none without rows, or above the limit of forecasters."""
    found: list[dict[str, Estimate]] = [{} for _ in scores]
    if uncertainty is None:
        return list(found)
    values = np.array([max((ratio.numerators.size for ratio in named.values()), default=0) for named in scores])
    rows = fullest(values, MOST_WITH_INTERVALS).tolist()
    asked = [(row, name, ratio) for row in rows for name, ratio in scores[row].items()]
    for (row, name, _), estimate in zip(asked, estimates([ratio for *_, ratio in asked], uncertainty), strict=True):
        if estimate is not None:
            found[row][name] = estimate
    return list(found)


def fullest(values: Ints, most: int) -> Ints:
    """Return the numbers of the `most` with the most values, in order; of equals the later, which are references."""
    return np.sort(np.argsort(values, kind="stable")[max(0, values.size - most) :])


def estimates(ratios: Sequence[Ratio], uncertainty: Uncertainty) -> list[Estimate | None]:
    """Return each score with its interval, None without rows.

    Each is as by `cluster_bootstrap_ratio` alone, or for many clusters as by `expand_estimate`, cut at its limits.
    """
    return _each(ratios, uncertainty, estimate_of, expand_estimate)


def comparisons(differences: Sequence[Ratio], uncertainty: Uncertainty) -> list[Comparison | None]:
    """Return each pair's mean difference with its interval and p-value, None without rows.

    Each is as by `paired_difference` alone, or for many clusters as by `expand_comparison`, cut at its limits.
    """
    return _each(differences, uncertainty, comparison_of, expand_comparison)


def _each(
    ratios: Sequence[Ratio],
    uncertainty: Uncertainty,
    of_draws: Callable[[ClusterSums, int, Floats, float], _Found],
    of_formula: Callable[[ClusterSums, int, float], _Found],
) -> list[_Found | None]:
    summed = {
        row: cluster_sums(ratio.numerators, ratio.denominators, cluster_codes(ratio.clusters))
        for row, ratio in enumerate(ratios)
        if ratio.numerators.size
    }
    confidence = uncertainty.confidence
    drawn = {row: sums for row, sums in summed.items() if not expands(sums, confidence)}
    found: list[_Found | None] = [None] * len(ratios)
    for row in summed.keys() - drawn.keys():
        found[row] = _cut(of_formula(summed[row], ratios[row].numerators.size, confidence), ratios[row].limits)
    for rows in _alike(drawn):
        # Keeps few distances in memory at once.
        many = [drawn[row] for row in rows]
        distances = studentised_distances_of_each(many, uncertainty.resamples, uncertainty.seed)
        for row, own in zip(rows, distances, strict=True):
            found[row] = _cut(of_draws(drawn[row], ratios[row].numerators.size, own, confidence), ratios[row].limits)
    return found


def _cut(found: _Found, limits: tuple[float, float]) -> _Found:
    if found.low is None or found.high is None:
        return found
    least, most = min(limits[0], found.estimate), max(limits[1], found.estimate)
    return replace(found, low=max(found.low, least), high=min(found.high, most))


def _alike(summed: Mapping[int, ClusterSums]) -> Iterator[list[int]]:
    """Yield rows with equally many clusters, which share a set of draws, some at a time."""
    rows_of = grouped((sums.clusters, row) for row, sums in summed.items())
    for rows in rows_of.values():
        for start in range(0, len(rows), AT_ONCE):
            yield rows[start : start + AT_ONCE]
