"""Comparison: whether one forecaster is better than another, or only luckier."""

from dataclasses import asdict, dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, floats, not_empty, numbers, refuse, same_length, shares, within_floats
from predibot.scoring.inference.bootstrap import Estimate, check_draws, estimate_of, finite_ends, studentised_distances
from predibot.scoring.inference.clusters import (
    ROUNDING,
    ClusterSums,
    cluster_codes,
    cluster_starts,
    cluster_sums,
    difference,
)
from predibot.scoring.inference.draws import MAX_RESAMPLES, at_least, at_most, generator, resample_sums

SYMMETRIC = "symmetric studentised cluster bootstrap"


@dataclass(frozen=True, slots=True)
class Comparison(Estimate):
    """A difference of two means on the same rows, with its interval and its p-value."""

    p_value: float = field(kw_only=True)

    @property
    def difference(self) -> float:
        """Return the mean of a less the mean of b."""
        return self.estimate


@within_floats
def paired_difference(
    values_a: ArrayLike,
    values_b: ArrayLike,
    clusters: ArrayLike,
    *,
    seed: int,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> Comparison:
    """Return the mean of a less the mean of b on the rows both have, with its interval and p-value.

    Studentised as in `cluster_bootstrap_ratio`, but symmetric: which of the two is called a is chance, so the distance
    of a resample counts with either sign. The interval reaches as far to both sides of the difference as the given
    share of the distances does. The p-value is the share of distances at least as large as the estimate's own from
    zero, in either direction, with one added in numerator and denominator. It is at most 1 - confidence if zero lies
    outside the interval. Unequal tails would call equals different too often (docs/coverage.md). Resamples without a
    value count as beyond, so that unknown values never speak for a difference. Swapping a and b changes the sign and
    nothing else.

    Args:
        values_a: Such as the scores of one forecaster, shape (n,).
        values_b: Of another on the same rows, shape (n,).
        clusters: Which rows belong together, words or whole numbers, shape (n,).
        seed: Of the draws, zero or more.
        resamples: How many draws, from 2 / (1 - confidence) to 1,000,000.
        confidence: The share of such intervals that should hold the truth.

    Returns:
        Without an interval and with a p-value of 1 for a single cluster, or if all differences are alike, as when both
        always forecast the same. The interval is also missing if more than 1 % of the resamples have no value.

    Raises:
        ValueError: If there is no row, the lengths differ, a value is NaN or infinite, or an argument is out of range.

    Source:
        Hall (1992), chapter 3.6, for the symmetric interval; Davison and Hinkley
        (1997), chapter 4.4, for the studentised test.

    Examples:
        >>> a, b = np.array([0.1, 0.2, 0.3, 0.1, 0.2, 0.3]), np.array([0.2, 0.1, 0.6, 0.3, 0.4, 0.4])
        >>> both = paired_difference(a, b, [1, 2, 3, 4, 5, 6], seed=1)
        >>> round(both.difference, 4), both.low < both.difference < both.high
        (-0.1333, True)
    """
    confidence = check_draws(resamples, confidence)
    of_a, of_b, codes = numbers("values_a", values_a), numbers("values_b", values_b), cluster_codes(clusters)
    same_length(values_a=of_a, values_b=of_b, clusters=codes)
    sums = cluster_sums(difference(of_a, of_b), np.ones_like(of_a), codes)
    return comparison_of(sums, codes.size, studentised_distances(sums, resamples, seed), confidence)


def comparison_of(sums: ClusterSums, n: int, distances: Floats, confidence: float) -> Comparison:
    """Return the mean difference with its interval and p-value from the distances of its resamples."""
    found = estimate_of(sums, n, distances, confidence)
    low = high = None
    if found.low is not None:
        half = float(np.nanquantile(np.abs(distances), confidence)) * sums.standard_error
        low, high = finite_ends(sums.ratio - half, sums.ratio + half)
    own = abs(sums.ratio / sums.standard_error)
    # The negation counts NaN, a resample without a value, as beyond.
    beyond = int(np.sum(~(np.abs(distances) < own)))
    p_value = (1 + beyond) / (1 + distances.size)
    return Comparison(**asdict(replace(found, low=low, high=high, method=SYMMETRIC)), p_value=p_value)


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Return the p-values adjusted for their number, in the given order.

    If all pairs with a value of at most q are called different, at most a share q of these calls is expected to be
    wrong. If no difference is real, at most a share q of all leaderboards has any call.

    Args:
        p_values: One for each comparison shown, shape (m,), each in [0, 1].

    Raises:
        ValueError: If there is none, or one is NaN or outside [0, 1].

    Source:
        Benjamini and Hochberg (1995).

    Examples:
        >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
        [0.03, 0.04, 0.04]
    """
    given = shares("p_values", p_values)
    not_empty("p_values", given)
    order = np.argsort(given)[::-1]
    ranks = np.arange(given.size, 0, -1)
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum.accumulate(given[order] * (given.size / ranks))
    return np.minimum(adjusted, 1.0)


@within_floats
def probability_of_being_best(scores: ArrayLike, clusters: ArrayLike, *, seed: int, resamples: int = 10_000) -> Floats:
    """Return how often each forecaster has the lowest mean score when clusters are drawn anew.

    Lower is better, as with Brier and log scores; pass gains with a minus sign. Forecasters that tie for best share the
    draw. It describes the draw of questions and is no test: one of two equals may well have 0.9.

    Args:
        scores: One column a forecaster, shape (n, forecasters); NaN where it was silent. A mean covers the forecaster's
            own scores in a draw, so forecasters of different questions are compared as if these were equally hard; keep
            only common rows if that is too much to assume. A forecaster without a score in a draw is not the best
            there.
        clusters: Which rows belong together, words or whole numbers, shape (n,).
        seed: Of the draws, zero or more.
        resamples: How many draws, from 1 to 1,000,000.

    Returns:
        Shape (forecasters,), adding up to one.

    Raises:
        ValueError: If there is no row, the lengths differ, a score is infinite,
            a forecaster has none at all, or an argument is out of range.

    Examples:
        >>> probability_of_being_best([[0.1, 0.2], [0.1, 0.3], [0.2, 0.4]], [1, 2, 3], seed=1).tolist()
        [1.0, 0.0]
    """
    at_least("resamples", resamples, 1)
    at_most("resamples", resamples, MAX_RESAMPLES)
    table, codes, rng = _table(scores), cluster_codes(clusters), generator(seed)
    same_length(scores=table, clusters=codes)
    order = np.argsort(codes, kind="stable")
    silent = np.isnan(table[order])
    columns = np.hstack([np.where(silent, 0.0, table[order]), ~silent])
    (drawn,) = resample_sums([np.add.reduceat(columns, cluster_starts(codes[order]))], resamples, rng)
    sums, counts = np.hsplit(drawn, 2)
    means = np.divide(sums, counts, out=np.full_like(sums, np.inf), where=counts > 0.0)
    best = means <= means.min(axis=1, keepdims=True) + ROUNDING * np.nanmax(np.abs(table))
    spoken = np.isfinite(means).any(axis=1)
    chances: Floats = (best / best.sum(axis=1, keepdims=True))[spoken].mean(axis=0)
    return chances


def _table(scores: ArrayLike) -> Floats:
    table = floats("scores", scores)
    if table.ndim != 2 or table.size == 0:
        raise ValueError(f"scores have shape {table.shape}; give at least one row and one column, (n, forecasters)")
    refuse("scores", table, np.isinf(table), "each must be a finite number, or NaN for silence")
    silent = np.isnan(table).all(axis=0)
    if silent.any():
        raise ValueError(f"scores[:, {int(np.argmax(silent))}] are all NaN; leave out who never spoke")
    return table
