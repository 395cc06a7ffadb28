"""Bootstrap: how far a number could vary, if other clusters had been drawn from a seed."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, Ints, numbers, refuse, same_length, scalar, within_floats
from predibot.scoring.inference.clusters import ROUNDING, ClusterSums, cluster_codes, cluster_starts, cluster_sums

MAX_RESAMPLES = 1_000_000
"""More would change nothing and fill the memory."""

_BLOCK_CELLS = 32_768


def resample_counts(clusters: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield how often each cluster is drawn in each resample, in blocks of shape (some resamples, clusters).

    A resample draws as many clusters as there are, with replacement.
    """
    block = max(1, _BLOCK_CELLS // clusters)
    for done in range(0, resamples, block):
        size = min(block, resamples - done)
        drawn = (rng.random((size, clusters)) * clusters).astype(np.int64)
        drawn += clusters * np.arange(size)[:, np.newaxis]
        counts = np.bincount(drawn.ravel(), minlength=size * clusters)
        yield counts.reshape(size, clusters).astype(np.float64)


def resample_sums(tables: Sequence[Floats], resamples: int, rng: np.random.Generator) -> list[Floats]:
    """Return the column sums of each table (clusters, columns) in each resample, shape (resamples, columns).

    All tables have equally many clusters and share the draws; the sums of each are the same as if it were alone.
    """
    blocks = [[counts @ table for table in tables] for counts in resample_counts(len(tables[0]), resamples, rng)]
    return [np.concatenate(of_table) for of_table in zip(*blocks, strict=True)]


def generator(seed: int) -> np.random.Generator:
    """Return the random generator of a seed, a whole number of zero or more; raise `ValueError` otherwise."""
    at_least("seed", seed, 0)
    return np.random.default_rng(seed)


def is_whole(number: object) -> bool:
    """Return whether it is one whole number; truth values and timedelta64 are none."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool | np.timedelta64)


def at_least(name: str, number: Any, least: int) -> None:
    """Raise `ValueError` unless it is a whole number that is large enough."""
    if not is_whole(number) or number < least:
        raise ValueError(f"{name} is {number!r}; it must be a whole number of at least {least}")


def at_most(name: str, number: int, most: int) -> None:
    """Raise `ValueError` for a number that would fill the memory."""
    if number > most:
        raise ValueError(f"{name} is {number:,}; it must be at most {most:,}")


def between_0_and_1(name: str, number: float) -> float:
    """Return a number strictly between 0 and 1; raise `ValueError` otherwise."""
    share = scalar(name, number)
    if not 0.0 < share < 1.0:
        raise ValueError(f"{name} is {number!r}; it must be above 0 and below 1")
    return share


FEW_CLUSTERS = 30
"""With fewer clusters an interval carries a warning, and nobody is ranked by it."""

FEWEST_FOR_AN_INTERVAL = 5
"""For joined events: with fewer clusters t has nearly no degrees of freedom."""

MAX_WITHOUT_VALUE = 0.01
"""An interval allows at most this share of resamples without a value."""

PERCENTILE = "percentile cluster bootstrap"
STUDENTISED = "studentised cluster bootstrap"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval under other draws of clusters."""

    estimate: float
    low: float | None
    """None without an interval: too few clusters, all alike, or too many resamples without a value."""
    high: float | None
    confidence: float
    n: int
    clusters: int
    method: str
    resamples: int = 0
    """0 where the interval follows a formula."""
    resamples_without_value: int = 0
    cluster_standard_error: float | None = None
    """From the differences between clusters; None where the method does not use it."""
    price_standard_error: float | None = None
    """From the prices that were paid, which know the long odds that did not come in."""
    without_best: float | None = None
    """The mean without the cluster that lifts it most; None for one cluster, or if it is no mean of gains."""
    dependence: float = 1.0
    """D: how many clusters moved as one, by their gains on the same days; 1 where it is not measured."""

    @property
    def standard_error(self) -> float | None:
        """Return the larger of both standard errors, times the square root of D; None where neither is known."""
        known = [each for each in (self.cluster_standard_error, self.price_standard_error) if each is not None]
        return max(known) * math.sqrt(self.dependence) if known else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return both ends, None without an interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def few_clusters(self) -> bool:
        """Return whether there are too few clusters to rank anyone by it."""
        return self.clusters < FEW_CLUSTERS


def cluster_bootstrap(
    statistic: Callable[[Ints], float],
    clusters: ArrayLike,
    *,
    seed: int,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> Estimate:
    """Return any statistic with its percentile interval under resampling of clusters.

    Whole clusters are drawn with replacement, as many as there are; the interval lies between two percentiles of the
    statistic. With 30 clusters it is too narrow (docs/coverage.md): for means and ratios of means use
    `cluster_bootstrap_mean` and `cluster_bootstrap_ratio`.

    Args:
        statistic: A function of row numbers, shape (m,), repeats included. NaN
            (or infinity) means that it has no value on those rows.
        clusters: Which rows belong together, words or whole numbers, shape (n,).
        seed: Of the draws, zero or more. The same seed and rows draw the same
            clusters in whatever order the rows are given.
        resamples: How many draws, from 2 / (1 - confidence) to 1,000,000.
        confidence: The share of such intervals that should hold the truth.

    Returns:
        Without an interval for fewer than two clusters, if all resamples give the
        same, or if more than 1 % of them have no value.

    Raises:
        ValueError: If there is no row, or an argument is out of range.

    Source:
        Efron (1979); Field and Welsh (2007) for clusters.

    Examples:
        >>> scores = np.array([0.1, 0.2, 0.4, 0.3, 0.8, 0.6])
        >>> of = ["a", "a", "b", "c", "d", "e"]
        >>> median = cluster_bootstrap(lambda rows: np.median(scores[rows]), of, seed=1, resamples=400)
        >>> round(median.estimate, 3), median.low, median.high
        (0.35, 0.2, 0.8)
    """
    confidence = check_draws(resamples, confidence)
    if not callable(statistic):
        raise ValueError(f"statistic is {statistic!r}; give a function of row numbers")
    codes, rng = cluster_codes(clusters), generator(seed)
    estimate = scalar("statistic", statistic(np.arange(codes.size)))
    values = np.full(resamples, np.nan)
    if np.isfinite(estimate) and codes.any():
        values = _resample_values(statistic, codes, resamples, rng)
    has_value = np.isfinite(values)
    kept = values[has_value]
    quantiles = None
    if not _too_many_without_value(values) and _differ(kept):
        quantiles = _tails(kept, confidence)
    low, high = quantiles or (None, None)
    without = int(np.count_nonzero(~has_value))
    return Estimate(estimate, low, high, confidence, codes.size, int(codes.max()) + 1, PERCENTILE, resamples, without)


@within_floats
def cluster_bootstrap_mean(
    values: ArrayLike,
    clusters: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    seed: int,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> Estimate:
    """Return a mean, or a weighted mean, with its studentised interval under resampling of clusters.

    sum(w v) / sum(w); see `cluster_bootstrap_ratio` for how and how well.

    Args:
        values: Such as scores or gains, shape (n,).
        clusters: Which rows belong together, words or whole numbers, shape (n,).
        weights: Shape (n,), each zero or more; by default all the same.
        seed: Of the draws, zero or more.
        resamples: How many draws, from 2 / (1 - confidence) to 1,000,000.
        confidence: The share of such intervals that should hold the truth.

    Raises:
        ValueError: If there is no row, the lengths differ, a value or a weight
            is NaN, infinite or below zero, or an argument is out of range.

    Examples:
        >>> mean = cluster_bootstrap_mean([0.1, 0.2, 0.4, 0.3, 0.8, 0.6], ["a", "a", "b", "c", "d", "e"], seed=1)
        >>> round(mean.estimate, 3), mean.clusters, mean.few_clusters
        (0.4, 5, True)
    """
    series, codes = numbers("values", values), cluster_codes(clusters)
    heavy = np.ones_like(series) if weights is None else _not_negative("weights", weights)
    same_length(values=series, weights=heavy, clusters=codes)
    return cluster_bootstrap_ratio(heavy * series, heavy, codes, seed=seed, resamples=resamples, confidence=confidence)


@within_floats
def cluster_bootstrap_ratio(
    numerators: ArrayLike,
    denominators: ArrayLike,
    clusters: ArrayLike,
    *,
    seed: int,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> Estimate:
    """Return a ratio of means with its studentised interval under resampling of clusters.

    sum(numerators) / sum(denominators). In each resample the distance to the estimate is measured in the resample's own
    standard error (linearised, over clusters). The interval is the estimate less the quantiles of these distances times
    the estimate's standard error. So it follows skew and learns its width; docs/coverage.md says how often it holds the
    truth.

    A skill 1 - sum(a) / sum(b) is the ratio of b - a to b.

    Args:
        numerators: Shape (n,).
        denominators: Shape (n,), each zero or more.
        clusters: Which rows belong together, words or whole numbers, shape (n,).
        seed: Of the draws, zero or more. The same seed and rows give the same interval in whatever order the rows are
            given; other names of the clusters are other draws.
        resamples: How many draws, from 2 / (1 - confidence) to 1,000,000.
        confidence: The share of such intervals that should hold the truth.

    Returns:
        The estimate is NaN if all denominators are zero. There is no interval then, for clusters that are fewer than
        two or all alike, and if more than 1 % of the resamples have no value. That is so below five clusters, where too
        many resamples repeat a single one.

    Raises:
        ValueError: If there is no row, the lengths differ, a number is NaN or
            infinite, a denominator is below zero, or an argument is out of range.

    Source:
        Efron and Tibshirani (1993), chapter 12.5; the standard error of a ratio as in Cochran (1977), chapter 6.

    Examples:
        >>> ratio = cluster_bootstrap_ratio([1, 2, 0, 4, 3, 2], [2, 2, 1, 4, 5, 3], [0, 1, 2, 3, 4, 5], seed=1)
        >>> round(ratio.estimate, 4), ratio.method
        (0.7059, 'studentised cluster bootstrap')
    """
    confidence = check_draws(resamples, confidence)
    sums, n = ratio_sums(numerators, denominators, clusters)
    return estimate_of(sums, n, studentised_distances(sums, resamples, seed), confidence)


def ratio_sums(numerators: ArrayLike, denominators: ArrayLike, clusters: ArrayLike) -> tuple[ClusterSums, int]:
    """Return the sums of each cluster and the number of rows, with the errors of `cluster_bootstrap_ratio`."""
    above, below = numbers("numerators", numerators), _not_negative("denominators", denominators)
    codes = cluster_codes(clusters)
    same_length(numerators=above, denominators=below, clusters=codes)
    return cluster_sums(above, below, codes), codes.size


def studentised_distances(sums: ClusterSums, resamples: int, seed: int) -> Floats:
    """Return (resampled ratio - ratio) / resampled standard error, shape (resamples,).

    NaN for a resample whose denominators are all zero, or whose clusters are all alike.
    """
    return studentised_distances_of_each([sums], resamples, seed)[0]


def studentised_distances_of_each(many: Sequence[ClusterSums], resamples: int, seed: int) -> list[Floats]:
    """Return the distances of each ratio as if it were alone; all have equally many clusters and share one set of
    draws.
    """
    rng = generator(seed)
    telling = [index for index, sums in enumerate(many) if not np.isnan(sums.standard_error)]
    distances = [np.full(resamples, np.nan) for _ in many]
    if telling:
        drawn = resample_sums([_moments(many[index]) for index in telling], resamples, rng)
        for index, moments in zip(telling, drawn, strict=True):
            distances[index] = _distances(moments, many[index].clusters)
    return distances


def estimate_of(sums: ClusterSums, n: int, distances: Floats, confidence: float) -> Estimate:
    """Return the ratio with the interval from the distances of its resamples."""
    low = high = None
    has_value = np.isfinite(distances)
    if not _too_many_without_value(distances):
        lower, upper = _tails(distances[has_value], confidence)
        low, high = finite_ends(sums.ratio - upper * sums.standard_error, sums.ratio - lower * sums.standard_error)
    without = int(np.count_nonzero(~has_value))
    error = None if np.isnan(sums.standard_error) else sums.standard_error
    return Estimate(sums.ratio, low, high, confidence, n, sums.clusters, STUDENTISED, distances.size, without, error)


def finite_ends(low: float, high: float) -> tuple[float, float] | tuple[None, None]:
    """Return both ends of an interval, or None twice where no float holds one."""
    return (low, high) if math.isfinite(low) and math.isfinite(high) else (None, None)


def check_draws(resamples: int, confidence: float) -> float:
    """Return a confidence that is a share; raise `ValueError` if it needs more draws, or there are too many."""
    share = between_0_and_1("confidence", confidence)
    # With fewer draws, none would lie beyond the percentile.
    at_least("resamples", resamples, round(2.0 / (1.0 - share)))
    at_most("resamples", resamples, MAX_RESAMPLES)
    return share


def _moments(sums: ClusterSums) -> Floats:
    """Return the terms of each cluster in a resampled ratio and its standard error, shape (clusters, 5)."""
    e, b = sums.residuals, sums.denominators / sums.denominators.sum()
    return np.column_stack([e, b, e * e, e * b, b * b])


def _distances(moments: Floats, clusters: int) -> Floats:
    e_sum, b_sum, ee_sum, eb_sum, bb_sum = moments.T
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        beyond = e_sum / b_sum
        squares = ee_sum - 2.0 * beyond * eb_sum + beyond**2 * bb_sum
        error = np.sqrt(clusters / (clusters - 1) * squares) / b_sum
        known = (squares > ROUNDING * ee_sum) & np.isfinite(error)
        distances: Floats = np.where(known, beyond / error, np.nan)
    return distances


def _resample_values(
    statistic: Callable[[Ints], float], codes: Ints, resamples: int, rng: np.random.Generator
) -> Floats:
    order = np.argsort(codes, kind="stable")
    starts = cluster_starts(codes[order])
    sizes = np.diff(starts, append=codes.size)
    values = np.empty(resamples)
    for index in range(resamples):
        drawn = rng.integers(0, starts.size, starts.size)
        lengths = sizes[drawn]
        ends = np.cumsum(lengths)
        within = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
        values[index] = float(statistic(order[np.repeat(starts[drawn], lengths) + within]))
    return values


def _tails(values: Floats, confidence: float) -> tuple[float, float]:
    low, high = np.quantile(values, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    return float(low), float(high)


def _differ(values: Floats) -> bool:
    # Halved, so that the distance between any two floats is a float.
    return bool(values.max() / 2.0 - values.min() / 2.0 > ROUNDING * np.abs(values / 2.0).max())


def _too_many_without_value(values: Floats) -> bool:
    return bool(np.mean(~np.isfinite(values)) > MAX_WITHOUT_VALUE)


def _not_negative(name: str, values: ArrayLike) -> Floats:
    array = numbers(name, values)
    refuse(name, array, array < 0.0, "each must be zero or more")
    return array
