"""Uncertainty: the intervals of many scores at once, from one set of draws."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.bootstrap import Estimate, estimate_of, studentised_distances_of_each
from predibot.scoring.clusters import ClusterSums, cluster_codes, cluster_sums
from predibot.scoring.comparison import Comparison, comparison_of

_AT_ONCE = 100
"""How many scores share a set of draws: more would not fit into memory beside each other."""


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """How intervals are made: the draws, and how sure one wants to be."""

    seed: int = 0
    resamples: int = 10_000
    confidence: float = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A score that is a ratio of sums over rows, such as a mean: its denominators are all one."""

    numerators: Floats
    """Shape (n,)."""
    denominators: Floats
    """Shape (n,), each zero or more."""
    clusters: Ints
    """Which rows belong together, shape (n,), whole numbers."""


def mean_of(values: Floats, clusters: Ints) -> Ratio:
    """Return a mean as a ratio."""
    return Ratio(values, np.ones_like(values), clusters)


def intervals_of_each(
    scores: Sequence[Mapping[str, Ratio]], uncertainty: Uncertainty | None
) -> list[Mapping[str, Estimate]]:
    """Return the interval of each named score of each forecaster; nothing of one without rows."""
    found: list[dict[str, Estimate]] = [{} for _ in scores]
    if uncertainty is None:
        return list(found)
    asked = [(row, name, ratio) for row, named in enumerate(scores) for name, ratio in named.items()]
    for (row, name, _), estimate in zip(asked, estimates([ratio for *_, ratio in asked], uncertainty), strict=True):
        if estimate is not None:
            found[row][name] = estimate
    return list(found)


def estimates(ratios: Sequence[Ratio], uncertainty: Uncertainty) -> list[Estimate | None]:
    """Return the estimate of each score with its interval, None of one without rows.

    Each is what `cluster_bootstrap_ratio` gives for it alone.
    """
    return [
        None if sums is None else estimate_of(sums, n, distances, uncertainty.confidence)
        for sums, n, distances in _resampled(ratios, uncertainty)
    ]


def comparisons(differences: Sequence[Ratio], uncertainty: Uncertainty) -> list[Comparison | None]:
    """Return the mean difference of each pair with its interval and p-value, None of one without rows.

    Each is what `paired_difference` gives for it alone.
    """
    return [
        None if sums is None else comparison_of(sums, n, distances, uncertainty.confidence)
        for sums, n, distances in _resampled(differences, uncertainty)
    ]


def _resampled(ratios: Sequence[Ratio], uncertainty: Uncertainty) -> Iterator[tuple[ClusterSums | None, int, Floats]]:
    """Yield the sums of each ratio, its number of rows, and its studentised distances; nothing of one without rows."""
    summed = [_summed(each) for each in ratios]
    distances: dict[int, Floats] = {}
    for rows in _alike(summed):
        parts = [summed[row][0] for row in rows]
        drawn = studentised_distances_of_each(
            [part for part in parts if part is not None], uncertainty.resamples, uncertainty.seed
        )
        distances.update(zip(rows, drawn, strict=True))
    for row, (sums, n) in enumerate(summed):
        yield sums, n, distances.get(row, np.zeros(0))


def _summed(ratio: Ratio) -> tuple[ClusterSums | None, int]:
    n = ratio.numerators.size
    if n == 0:
        return None, 0
    return cluster_sums(ratio.numerators, ratio.denominators, cluster_codes(ratio.clusters)), n


def _alike(summed: Sequence[tuple[ClusterSums | None, int]]) -> Iterator[list[int]]:
    """Yield the rows that have equally many clusters, which one set of draws serves, some at a time."""
    rows_of: dict[int, list[int]] = {}
    for row, (sums, _) in enumerate(summed):
        if sums is not None:
            rows_of.setdefault(sums.clusters, []).append(row)
    for rows in rows_of.values():
        for start in range(0, len(rows), _AT_ONCE):
            yield rows[start : start + _AT_ONCE]
