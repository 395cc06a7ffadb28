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
from predibot.scoring.inference.draws import MAX_RESAMPLES, at_least, at_most, generator, resampled_sums

SYMMETRIC = "symmetric studentised cluster bootstrap"


@dataclass(frozen=True, slots=True)
class Comparison(Estimate):
    """A difference of two means on the same rows, with its interval and how easily luck alone gives as much."""

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

    Studentised as in `cluster_bootstrap_ratio`, with tails of equal reach: which
    of two is called a is chance, so that a resample's distance counts with
    either sign. The interval is the difference and as much to either side as
    holds the asked share of the distances. The p-value is twice the smaller
    tail beyond the estimate's own distance from zero, which is the share of
    distances at least as large in either direction, with one added in numerator
    and denominator; it is at most 1 - confidence where zero lies outside the
    interval. Tails taken as they fall would call equals different too often
    (docs/coverage.md). Resamples without a value count as beyond: what is not
    known never speaks for a difference. Swapping a and b turns the sign, and
    nothing else.

    Args:
        values_a: Such as the scores of one forecaster, shape (n,).
        values_b: Of another on the same rows, shape (n,).
        clusters: Which rows belong together, words or whole numbers, shape (n,).
        seed: Of the draws, zero or more.
        resamples: How many draws, from 2 / (1 - confidence) to 1,000,000.
        confidence: The share of such intervals that should hold the truth.

    Returns:
        Without an interval and with a p-value of 1 where the clusters tell
        nothing: one cluster, or differences all alike, as when both always say
        the same. The interval is also missing where more than 1 % of the
        resamples have no value.

    Raises:
        ValueError: If there is no row, the lengths differ, a value is NaN or
            infinite, or an argument is out of range.

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
    distances = studentised_distances(sums, resamples, seed)
    return comparison_of(sums, codes.size, distances, confidence)


def comparison_of(sums: ClusterSums, n: int, distances: Floats, confidence: float) -> Comparison:
    """Return the mean difference with the interval and the p-value that the distances of its resamples give."""
    found = estimate_of(sums, n, distances, confidence)
    low = high = None
    if found.low is not None:
        half = float(np.nanquantile(np.abs(distances), confidence)) * sums.standard_error
        low, high = finite_ends(sums.ratio - half, sums.ratio + half)
    own = abs(sums.ratio / sums.standard_error)
    # Written so that NaN, a resample without a value, counts as beyond.
    beyond = int(np.sum(~(np.abs(distances) < own)))
    p_value = (1 + beyond) / (1 + distances.size)
    return Comparison(**asdict(replace(found, low=low, high=high, method=SYMMETRIC)), p_value=p_value)


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Return the p-values adjusted for how many were looked at, in the order given.

    Calling those at most q differences, at most a share q of the calls is
    expected to be wrong; where no difference is real, a call is made in at most
    a share q of all leaderboards.

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

    Lower is better, as with Brier and log scores; pass gains with a minus.
    Those that tie for best share the draw. It describes the draw of questions,
    and is no test: of two equals one may well have 0.9.

    Args:
        scores: One column a forecaster, shape (n, forecasters); NaN where it
            was silent. Its mean is over what it has in a draw, so that
            forecasters who answered other questions are compared as if theirs
            had been equally hard; keep the rows all have where that is too much
            to assume. Without a score in a draw it is not the best there.
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
    (drawn,) = resampled_sums([np.add.reduceat(columns, cluster_starts(codes[order]))], resamples, rng)
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
