"""Intervals: how far a mean could vary, by the differences of its clusters and by the prices that were paid.

They are formulas, without draws; docs/coverage.md has how often they hold the truth.
"""

import math
from dataclasses import asdict, dataclass, replace

from predibot.scoring.arguments import none_if_nan
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.clusters import ClusterSums
from predibot.scoring.inference.student_t import t_two_sided
from predibot.scoring.inference.uncertainty import Comparison

BY_PRICES = "t, the larger of cluster and price-implied standard error, times the root of the dependence"
ON_LOGITS = "logit t, the larger of cluster and price-implied standard error"


@dataclass(frozen=True, slots=True)
class Spread:
    """The spread of a mean by prices and days, besides that of its clusters."""

    variance: float
    """The variance of its sum that prices imply."""
    lowest: float
    highest: float
    dependence: float = 1.0
    """D, the factor on its variance because clusters moved together."""


def estimate_by_prices(sums: ClusterSums, n: int, spread: Spread, confidence: float) -> Estimate:
    """Return a mean with the interval m +- t se, cut at the least and the most that is possible.

    se is the larger of the standard errors over clusters and by prices, times the square
    root of D; t has one degree of freedom less than clusters. There is no interval for fewer
    than two clusters, or if an uncertain mean has no standard error.
    """
    of_clusters, of_prices = _standard_errors(sums, spread.variance)
    error = max(of_clusters, of_prices) * math.sqrt(spread.dependence)
    low = high = None
    if spread.lowest >= spread.highest:
        # Nothing was held, so the mean is certain.
        low, high = (sums.ratio, sums.ratio) if sums.clusters > 1 else (None, None)
    elif error > 0.0:
        half = sums.t_quantile(confidence) * error
        low = max(sums.ratio - half, min(spread.lowest, sums.ratio))
        high = min(sums.ratio + half, max(spread.highest, sums.ratio))
    return Estimate(
        estimate=sums.ratio,
        low=low,
        high=high,
        confidence=confidence,
        n=n,
        clusters=sums.clusters,
        method=BY_PRICES,
        cluster_standard_error=none_if_nan(of_clusters),
        price_standard_error=none_if_nan(of_prices),
        dependence=spread.dependence,
        without_best=_without_best(sums, ahead=True),
    )


def comparison_by_prices(sums: ClusterSums, n: int, spread: Spread, confidence: float) -> Comparison:
    """Return a mean difference with the interval and two-sided p-value of Student's t, as `estimate_by_prices`.

    The best cluster is the one that speaks most for the leader. Without a standard error the p-value is 1.
    """
    found = estimate_by_prices(sums, n, spread, confidence)
    error = found.standard_error
    p_value = t_two_sided(found.estimate / error, sums.clusters - 1) if error and sums.clusters > 1 else 1.0
    without_best = _without_best(sums, ahead=found.estimate >= 0.0)
    return Comparison(**{**asdict(found), "without_best": without_best}, p_value=p_value)


def estimate_of_brier(sums: ClusterSums, n: int, variance: float, confidence: float) -> Estimate:
    """Return a Brier score with its interval on the logit scale, which needs no cut at the ends.

    The upper end is at most the score plus 2 t s, and at least the score plus t s. There is
    no interval at 0, at 1, for fewer than two clusters, or without a standard error.
    `variance` is that of the sum of squared errors, as the forecasts imply it.
    """
    found = estimate_by_prices(sums, n, Spread(variance, 0.0, 1.0), confidence)
    error, score = found.standard_error, found.estimate
    low = high = None
    if error and 0.0 < score < 1.0:
        reach = sums.t_quantile(confidence) * error
        low, above = (_shift_logit(score, sign * reach / (score * (1.0 - score))) for sign in (-1.0, 1.0))
        # Rounding can put an end of a tiny interval on the wrong side.
        low, high = min(low, score), min(max(min(above, score + 2.0 * reach), score + reach), 1.0)
    return replace(found, low=low, high=high, method=ON_LOGITS, without_best=None)


def _standard_errors(sums: ClusterSums, variance: float) -> tuple[float, float]:
    """Return the standard errors over clusters and by prices; NaN for fewer than two clusters."""
    if sums.clusters < 2 or math.isnan(sums.ratio):
        return math.nan, math.nan
    of_clusters = sums.standard_error
    return 0.0 if math.isnan(of_clusters) else of_clusters, math.sqrt(variance) / float(sums.denominators.sum())


def _shift_logit(share: float, by: float) -> float:
    logit = math.log(share) - math.log1p(-share) + by
    # This form overflows at neither end.
    odds = math.exp(-abs(logit))
    return (1.0 if logit >= 0.0 else odds) / (1.0 + odds)


def _without_best(sums: ClusterSums, *, ahead: bool) -> float | None:
    """Return the mean without the cluster that lifts it most, or lowers it most."""
    rest = sums.denominators.sum() - sums.denominators
    means = (sums.numerators.sum() - sums.numerators)[rest > 0.0] / rest[rest > 0.0]
    return float(means.min() if ahead else means.max()) if means.size else None
