"""Uncertainty: the intervals of many scores at once, from one set of draws."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.bootstrap import Estimate, check_draws, estimate_of, studentised_distances_of_each
from predibot.scoring.inference.clusters import ClusterSums, cluster_codes, cluster_sums
from predibot.scoring.inference.comparison import Comparison, comparison_of
from predibot.scoring.inference.draws import at_least
from predibot.scoring.inference.expansion import expanded_comparison, expanded_estimate, expands

_Found = TypeVar("_Found", bound=Estimate)

AT_ONCE = 100
"""How many scores share a set of draws: more would not fit into memory beside each other."""
MOST_WITH_INTERVALS = 1_000
"""How many forecasters or bots have intervals, those with the most values: each takes some milliseconds."""


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """How intervals are made: the draws, and how sure one wants to be."""

    seed: int = 0
    resamples: int = 10_000
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Refuse a confidence that is no share, and draws too few for it."""
        check_draws(self.resamples, self.confidence)
        at_least("seed", self.seed, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A score that is a ratio of sums over rows, such as a mean: its denominators are all one."""

    numerators: Floats
    """Shape (n,)."""
    denominators: Floats
    """Shape (n,), each zero or more."""
    clusters: Ints
    """Which rows belong together, shape (n,), whole numbers."""
    limits: tuple[float, float] = (-math.inf, math.inf)
    """The least and the most that is possible: no end lies outside."""


def mean_of(values: Floats, clusters: Ints, limits: tuple[float, float] = (-math.inf, math.inf)) -> Ratio:
    """Return a mean as a ratio."""
    return Ratio(values, np.ones_like(values), clusters, limits)


def intervals_of_each(
    scores: Sequence[Mapping[str, Ratio]], uncertainty: Uncertainty | None
) -> list[Mapping[str, Estimate]]:
    """Return the interval of each named score of each forecaster; nothing of one without rows, or of too many."""
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
    """Return those with the most values, in their order; of equals the later, where references stand.

    Args:
        values: How many each has, shape (n,).
        most: How many are returned.
    """
    return np.sort(np.argsort(values, kind="stable")[max(0, values.size - most) :])


def estimates(ratios: Sequence[Ratio], uncertainty: Uncertainty) -> list[Estimate | None]:
    """Return the estimate of each score with its interval, None of one without rows.

    Each is what `cluster_bootstrap_ratio` gives for it alone, or, where many
    clusters make draws needless, what `expanded_estimate` does, cut at its limits.
    """
    return _each(ratios, uncertainty, estimate_of, expanded_estimate)


def comparisons(differences: Sequence[Ratio], uncertainty: Uncertainty) -> list[Comparison | None]:
    """Return the mean difference of each pair with its interval and p-value, None of one without rows.

    Each is what `paired_difference` gives for it alone, or, where many clusters
    make draws needless, what `expanded_comparison` does, cut at its limits.
    """
    return _each(differences, uncertainty, comparison_of, expanded_comparison)


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
        # Only so many distances are kept at once.
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
    """Yield the rows that have equally many clusters, which one set of draws serves, some at a time."""
    rows_of: dict[int, list[int]] = {}
    for row, sums in summed.items():
        rows_of.setdefault(sums.clusters, []).append(row)
    for rows in rows_of.values():
        for start in range(0, len(rows), AT_ONCE):
            yield rows[start : start + AT_ONCE]
