"""Growth: what the value of an account did from its first to its last, and how deep it fell on the way."""

import math

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, not_empty, numbers, refuse
from predibot.scoring.metrics.conventions import check_periods_per_year


def cumulative_return(values: ArrayLike) -> float:
    """Return the return of an account from its first value to its last.

    last / first - 1. Higher is better; -1 is a total loss. Money paid in or
    taken out counts as gain or loss: leave it out of the values.

    Args:
        values: What the account was worth, in the order of time, shape (n,), zero or more, the first above zero.

    Returns:
        Zero of a single value.

    Raises:
        ValueError: If there is none, or a value is NaN, infinite or out of range.

    Examples:
        >>> cumulative_return([100.0, 80.0, 150.0])
        0.5
    """
    account = account_values(values)
    return float(account[-1]) / float(account[0]) - 1.0


def annualized_return(values: ArrayLike, periods_per_year: float) -> float:
    """Return the return of an account in a year if it went on like this.

    (last / first) ^ (periods / (n - 1)) - 1: geometric, because n values are
    n - 1 periods. Higher is better; -1 is a total loss. After a few days it can
    be a very large number that means nothing.

    Args:
        values: What the account was worth, in the order of time, one value a
            period, shape (n,), zero or more, the first above zero.
        periods_per_year: How many such periods a year has, above zero.

    Returns:
        NaN of a single value, infinity where it is too large for a float.

    Raises:
        ValueError: If there is none, or a value or argument is NaN, infinite or out of range.

    Source:
        The compound annual growth rate. Others differ: LiveTradeBench's code
        divides by the number of values, not of periods.

    Examples:
        >>> round(annualized_return([100.0, 105.0, 110.0], 4), 6)
        0.21
    """
    account = account_values(values)
    periods = check_periods_per_year(periods_per_year)
    if account.size < 2:
        return math.nan
    if account[-1] == 0.0:
        return -1.0
    per_period = (math.log(account[-1]) - math.log(account[0])) / (account.size - 1)
    try:
        return math.expm1(per_period * periods)
    except OverflowError:
        return math.inf


def max_drawdown(values: ArrayLike) -> float:
    """Return the deepest fall of an account below its highest value until then, as a share of it.

    max over t of (peak_t - value_t) / peak_t, where peak_t is the highest value up
    to t, the first included. Lower is better: zero never fell, one lost all.

    Args:
        values: What the account was worth, in the order of time, shape (n,), zero or more, the first above zero.

    Returns:
        The share, positive, in [0, 1]; zero of a single value.

    Raises:
        ValueError: If there is none, or a value is NaN, infinite or out of range.

    Examples:
        >>> max_drawdown([100.0, 120.0, 90.0, 130.0, 117.0])
        0.25
    """
    account = account_values(values)
    # One minus a quotient cannot overflow or leave [0, 1].
    return float(np.max(1.0 - account / np.maximum.accumulate(account)))


def calmar_ratio(values: ArrayLike, periods_per_year: float) -> float:
    """Return the annualised return for each unit of maximum drawdown.

    Higher is better. Both cover the whole curve; the original covers its last three years.

    Args:
        values: What the account was worth, in the order of time, one value a
            period, shape (n,), zero or more, the first above zero.
        periods_per_year: How many such periods a year has, above zero.

    Returns:
        NaN for a single value, and for a curve that never fell.

    Raises:
        ValueError: If there is none, or a value or argument is NaN, infinite or out of range.

    Source:
        Young (1991), Futures 20(12). Where nothing fell, others say infinity (LiveTradeBench's code).

    Examples:
        >>> round(calmar_ratio([100.0, 75.0, 110.0], 4), 6)
        0.84
    """
    annual = annualized_return(values, periods_per_year)
    deepest = max_drawdown(values)
    return annual / deepest if deepest != 0.0 else math.nan


def account_values(values: ArrayLike) -> Floats:
    """Return an account's values, shape (n,), each 0 or more, the first above 0; raise `ValueError` otherwise."""
    account = numbers("values", values)
    not_empty("values", account)
    refuse("values", account, account < 0.0, "an account is worth zero or more")
    refuse("values", account[:1], account[:1] == 0.0, "an account must start above zero")
    return account
