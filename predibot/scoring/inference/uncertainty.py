"""Uncertainty: the intervals of many scores at once, and of the difference of two, from draws or from a formula."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from predibot.rows import grouped
from predibot.scoring.arguments import (
    Floats,
    Ints,
    floats,
    not_empty,
    numbers,
    refuse,
    same_length,
    shares,
    within_floats,
)
from predibot.scoring.inference.bootstrap import (
    MAX_RESAMPLES,
    Estimate,
    at_least,
    at_most,
    check_draws,
    estimate_of,
    finite_ends,
    generator,
    resample_sums,
    studentised_distances,
    studentised_distances_of_each,
)
from predibot.scoring.inference.clusters import (
    ROUNDING,
    ClusterSums,
    cluster_codes,
    cluster_starts,
    cluster_sums,
    difference,
)
from predibot.scoring.inference.student_t import t_two_sided

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
