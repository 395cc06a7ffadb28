"""Risk: the size of a series of returns beside how much it moves, and the interval of a Sharpe ratio."""

import math

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, instance_of, not_empty, numbers, same_length, scalar, within_floats
from predibot.scoring.inference.bootstrap import Estimate, at_least, between_0_and_1
from predibot.scoring.inference.student_t import t_quantile
from predibot.scoring.metrics.conventions import Convention, check_periods_per_year

VALUE_AT_RISK_LEVEL = 0.05
_ROUNDING = 1e-12
"""Returns that differ by less, relative to 1 or to the largest, differ by rounding only."""


@within_floats
def volatility(returns: ArrayLike, periods_per_year: float, ddof: int = 1) -> float:
    """Return the annual deviation of returns.

    deviation * sqrt(periods). Lower is calmer; zero is the same return in every period. Returns that depend on each
    other, or overlap, make it look lower than it is.

    Args:
        returns: One return a period, shape (n,), 0.01 for one percent.
        periods_per_year: How many such periods a year has, above zero.
        ddof: The deviation divides by n - ddof.

    Returns:
        NaN for fewer than two returns, or no more than ddof.

    Raises:
        ValueError: If there is none, a return is NaN or infinite, or an argument is out of range.

    Examples:
        >>> round(volatility([0.01, 0.03], 100), 6)
        0.141421
    """
    return _deviation(_series(returns), ddof) * _root_of_periods(periods_per_year)


@within_floats
def sharpe_ratio(returns: ArrayLike, periods_per_year: float, ddof: int = 1, risk_free_rate: float = 0.0) -> float:
    """Return the annual excess return for each unit of annual deviation.

    (mean * periods - risk_free_rate) / (deviation * sqrt(periods)). Higher is
    better. Overlapping returns make it look better than it is.

    Args:
        returns: One return a period, shape (n,), 0.01 for one percent.
        periods_per_year: How many such periods a year has, above zero.
        ddof: The deviation divides by n - ddof.
        risk_free_rate: The annual return without risk.

    Returns:
        NaN for fewer than two returns (or no more than ddof), and for returns that are all the same.

    Raises:
        ValueError: If there is none, a return is NaN or infinite, or an argument is out of range.

    Source:
        Sharpe (1994), with the rate annual and subtracted after annualising.

    Examples:
        >>> round(sharpe_ratio([0.01, 0.03], 365), 3)
        27.019
        >>> sharpe_ratio([0.1, 0.1, 0.1], 365)
        nan
    """
    series = _series(returns)
    deviation = _deviation(series, ddof) * _root_of_periods(periods_per_year)
    return _ratio(_annual_excess(series, periods_per_year, risk_free_rate), deviation)


@within_floats
def sortino_ratio(returns: ArrayLike, periods_per_year: float, risk_free_rate: float = 0.0) -> float:
    """Return the annual excess return for each unit of annual downside deviation.

    (mean * periods - risk_free_rate) / (downside * sqrt(periods)), where
    downside = sqrt(mean(min(r - risk_free_rate / periods, 0)^2)) over all n
    returns. Higher is better. Like the Sharpe ratio, but returns above the
    risk-free rate are no risk.

    Args:
        returns: One return a period, shape (n,), 0.01 for one percent.
        periods_per_year: How many such periods a year has, above zero.
        risk_free_rate: The annual return without risk; the part of one period is the target that returns fall short of.

    Returns:
        NaN for fewer than two returns, and if none falls short.

    Raises:
        ValueError: If there is none, a return is NaN or infinite, or an argument is out of range.

    Source:
        Sortino and Price (1994). Others differ: LiveTradeBench's code takes the standard deviation of the negative
        returns alone, around their own mean, and says infinity where there is none.

    Examples:
        >>> round(sortino_ratio([0.03, -0.01], 100), 6)
        14.142136
    """
    series = _series(returns)
    excess = _annual_excess(series, periods_per_year, risk_free_rate)
    target = _rate(risk_free_rate) / check_periods_per_year(periods_per_year)
    shortfall = np.minimum(series - target, 0.0)
    if series.size < 2 or -shortfall.min() <= _ROUNDING * max(np.abs(series).max(), abs(target)):
        return math.nan
    downside = math.sqrt(float(np.mean(shortfall**2)))
    return _ratio(excess, downside * _root_of_periods(periods_per_year))


def win_rate(returns: ArrayLike) -> float:
    """Return the share of returns that are above zero.

    Higher is better. A return of zero is no win, and counts among all returns:
    a bot that never bets has a win rate of zero, not one half and not none.

    Args:
        returns: One return a period, shape (n,), 0.01 for one percent.

    Returns:
        The share, in [0, 1].

    Raises:
        ValueError: If there is none, or a return is NaN or infinite.

    Examples:
        >>> win_rate([0.02, -0.01, 0.0, 0.01])
        0.5
    """
    return float(np.mean(_series(returns) > 0.0))


@within_floats
def value_at_risk(returns: ArrayLike, level: float = VALUE_AT_RISK_LEVEL) -> float:
    """Return the loss that is exceeded in a share `level` of the periods.

    Minus the `level` quantile of the actual returns, interpolated linearly between the two nearest; no distribution is
    assumed and nothing is annualised. Lower is better. A loss is positive: 0.02 says that 95 % of the periods lost no
    more than two percent. It is negative where even that quantile is a gain.

    Args:
        returns: One return a period, shape (n,), 0.01 for one percent.
        level: The share of periods that may be worse, in (0, 1).

    Raises:
        ValueError: If there is none, a return is NaN or infinite, or the level is out of range.

    Source:
        Historical simulation; the quantile is Hyndman and Fan's (1996) seventh. LiveTradeBench's code gives the
        quantile itself, so that losses are negative.

    Examples:
        >>> round(value_at_risk([-0.04, 0.0, 0.01, 0.02, 0.03], level=0.25), 6)
        0.0
        >>> round(value_at_risk([-0.04, 0.0, 0.01, 0.02, 0.03], level=0.05), 6)
        0.032
    """
    series = _series(returns)
    share = between_0_and_1("level", level)
    # Adding zero turns -0.0 into 0.0.
    return -float(np.quantile(series, share, method="linear")) + 0.0


def longest_losing_run(returns: ArrayLike) -> int:
    """Return the length of the longest run of returns below zero.

    Lower is better. A return of zero ends a run.

    Args:
        returns: One return a period, in the order of time, shape (n,).

    Raises:
        ValueError: If there is none, or a return is NaN or infinite.

    Examples:
        >>> longest_losing_run([-0.01, -0.02, 0.0, -0.01])
        2
    """
    losing = np.concatenate([[False], _series(returns) < 0.0, [False]])
    ends = np.flatnonzero(losing[1:] != losing[:-1])
    return int((ends[1::2] - ends[::2]).max(initial=0))


def _series(returns: ArrayLike) -> Floats:
    series = numbers("returns", returns)
    not_empty("returns", series)
    return series


def _deviation(series: Floats, ddof: int) -> float:
    at_least("ddof", ddof, 0)
    if series.size < 2 or series.size <= ddof:
        return math.nan
    # The deviation of equal returns is seldom exactly zero in floating point; they are quotients of numbers about 1.
    if np.ptp(series) <= _ROUNDING * max(1.0, float(np.abs(series).max())):
        return 0.0
    return float(np.std(series, ddof=ddof))


def _root_of_periods(periods_per_year: float) -> float:
    return math.sqrt(check_periods_per_year(periods_per_year))


def _annual_excess(series: Floats, periods_per_year: float, risk_free_rate: float) -> float:
    return float(np.mean(series)) * check_periods_per_year(periods_per_year) - _rate(risk_free_rate)


def _rate(risk_free_rate: float) -> float:
    rate = scalar("risk_free_rate", risk_free_rate)
    if not math.isfinite(rate):
        raise ValueError(f"risk_free_rate is {risk_free_rate!r}; it must be a finite number")
    return rate


def _ratio(excess: float, deviation: float) -> float:
    return excess / deviation if deviation != 0.0 else math.nan


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
