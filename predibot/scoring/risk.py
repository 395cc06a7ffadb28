"""Risk: how large a series of returns is beside how much it moves."""

import math

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import numbers

_ROUNDING = 1e-12
"""Returns that differ by less, relative to the largest, differ by rounding only."""


def sharpe_ratio(returns: ArrayLike, periods_per_year: float, ddof: int = 1, risk_free_rate: float = 0.0) -> float:
    """Return the annual excess return for each unit of annual deviation.

    (mean * periods - risk_free_rate) / (deviation * sqrt(periods)). Higher is
    better. Overlapping returns make it look better than it is.

    Args:
        returns: One return a period, shape (n,), 0.01 being one percent.
        periods_per_year: How many such periods a year has, above zero.
        ddof: What the deviation divides by: n - ddof.
        risk_free_rate: The annual return that needs no risk.

    Returns:
        NaN where it has no value: of fewer than two returns (or no more than
        ddof), and of returns that are all the same.

    Raises:
        ValueError: If a return is NaN or infinite, or an argument is out of range.

    Source:
        Sharpe (1994), with the rate annual and subtracted after annualising.

    Examples:
        >>> round(sharpe_ratio([0.01, 0.03], 365), 3)
        27.019
        >>> sharpe_ratio([0.1, 0.1, 0.1], 365)
        nan
    """
    series = numbers("returns", returns)
    if not 0.0 < periods_per_year < np.inf:
        raise ValueError(f"periods_per_year is {periods_per_year!r}; it must be above zero")
    if ddof < 0:
        raise ValueError(f"ddof is {ddof!r}; it must be zero or more")
    if not np.isfinite(risk_free_rate):
        raise ValueError(f"risk_free_rate is {risk_free_rate!r}; it must be a finite number")
    # The deviation of equal returns is seldom exactly zero in floating point.
    if series.size < 2 or series.size <= ddof or np.ptp(series) <= _ROUNDING * np.abs(series).max():
        return float("nan")
    excess = float(np.mean(series)) * periods_per_year - risk_free_rate
    return excess / (float(np.std(series, ddof=ddof)) * math.sqrt(periods_per_year))
