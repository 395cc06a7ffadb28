"""The interval of a Sharpe ratio, from the scatter of its dates and the overlap of their returns."""

import math

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, instance_of, numbers, same_length, scalar, within_floats
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.draws import between_0_and_1
from predibot.scoring.inference.student_t import t_quantile
from predibot.scoring.metrics.conventions import Convention
from predibot.scoring.metrics.risk import sharpe_ratio

MERTENS = "delta method over dates"
NEWEY_WEST = "delta method over dates, Newey-West"


@within_floats
def sharpe_interval(
    returns: ArrayLike, days: ArrayLike, *, horizon_days: float, convention: Convention, confidence: float = 0.95
) -> Estimate | None:
    """Return a Sharpe ratio with its interval by the delta method.

    The influence of a date on the ratio is u = z - SR / 2 (z^2 - 1), with z the
    standardised return. If the horizon is h times the median gap between the
    dates, with h above 1, returns overlap: then the variance of u is its long-run
    variance with Bartlett's weights up to ceil(1.3 h) dates, and t has one degree
    of freedom less than there are horizons.

    Args:
        returns: One a date, shape (n,).
        days: The date of each, in units of 24 hours, shape (n,), in any order.
        horizon_days: Over how long each return is, above zero.
        convention: How the ratio is made annual.
        confidence: The share of such intervals that should hold the truth.

    Returns:
        None where the ratio or its convention has no value: fewer than two
        returns, or all alike. Its rows and its clusters are the dates.

    Raises:
        ValueError: If lengths differ, nothing is given, or an argument is out of range.

    Source:
        Mertens (2002), Opdyke (2007) for independent returns; Newey and West (1987) for overlapping ones.

    Examples:
        >>> from predibot.scoring import CONVENTIONS
        >>> ours = CONVENTIONS["predibot"]
        >>> daily = sharpe_interval([0.1, -0.1, 0.2, 0.1], [1, 2, 3, 4], horizon_days=1, convention=ours)
        >>> round(daily.estimate, 2), daily.method
        (11.39, 'delta method over dates')
    """
    instance_of("convention", convention, Convention)
    series, at = numbers("returns", returns), numbers("days", days)
    same_length(returns=series, days=at)
    confidence, horizon = between_0_and_1("confidence", confidence), scalar("horizon_days", horizon_days)
    periods = convention.periods_per_year(horizon)
    if periods is None or series.size < 2:
        return None
    order = np.lexsort((series, at))
    series, at = series[order], at[order]
    annual = sharpe_ratio(series, periods, convention.ddof, convention.risk_free_rate)
    if math.isnan(annual):
        return None
    influence = _influence(series, annual / math.sqrt(periods))
    overlap = horizon / _gap_days(at)
    dates = series.size
    lags = min(math.ceil(min(1.3 * overlap, dates)), dates - 1) if overlap > 1.0 else 0
    error = math.sqrt(_long_run_variance(influence, lags) / (dates - 1) * periods)
    freedom = max(1.0, dates / overlap - 1.0) if overlap > 1.0 else dates - 1.0
    half = t_quantile((1.0 + confidence) / 2.0, freedom) * error
    return Estimate(
        estimate=annual,
        low=annual - half if error > 0.0 else None,
        high=annual + half if error > 0.0 else None,
        confidence=confidence,
        n=dates,
        clusters=dates,
        method=MERTENS if lags == 0 else NEWEY_WEST,
        cluster_standard_error=error,
    )


def _influence(series: Floats, ratio: float) -> Floats:
    """Return how much each return moves the ratio, centred."""
    z = (series - series.mean()) / series.std(ddof=1)
    u = z - ratio / 2.0 * (z**2 - 1.0)
    centred: Floats = u - u.mean()
    return centred


def _gap_days(at: Floats) -> float:
    """Return the median gap between dates; where most share one, the mean gap."""
    median = float(np.median(np.diff(at)))
    mean = float(at[-1] - at[0]) / (at.size - 1)
    # Returns at one instant overlap wholly.
    return median or mean or math.ulp(0.0)


def _long_run_variance(influence: Floats, lags: int) -> float:
    """Return the mean square plus twice the covariances over so many dates, with Bartlett's falling weights."""
    # By a Fourier transform, twice as long so that the end does not meet the beginning.
    transformed = np.abs(np.fft.rfft(influence, 2 * influence.size)) ** 2
    covariances = np.fft.irfft(transformed)[: lags + 1] / influence.size
    weights = 1.0 - np.arange(lags + 1) / (lags + 1.0)
    return max(float(covariances[0] + 2.0 * np.sum(weights[1:] * covariances[1:])), 0.0)
