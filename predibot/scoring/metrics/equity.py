"""Equity: growth, depth of falls and risk figures of an account's values."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, instance_of, instants_of, not_empty, numbers, refuse, within_floats
from predibot.scoring.inference.bootstrap import at_least
from predibot.scoring.metrics.conventions import Convention, Periods, check_periods_per_year, choose_periods
from predibot.scoring.metrics.risk import (
    VALUE_AT_RISK_LEVEL,
    longest_losing_run,
    sharpe_ratio,
    sortino_ratio,
    value_at_risk,
    volatility,
    win_rate,
)


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


_FLOAT_ROUNDING = 4.5e-16


@dataclass(frozen=True, slots=True, kw_only=True)
class EquityScore:
    """The figures of an account; None where one has no value."""

    n_values: int
    n_returns: int
    """Less after a total loss, which leaves nothing to gain with; 0 for an account that owed."""
    first_value: float
    last_value: float
    cumulative_return: float
    annualized_return: float | None = None
    volatility: float | None = None
    """Annual, like the two ratios below."""
    sharpe: float | None = None
    sortino: float | None = None
    max_drawdown: float
    """A positive share of the running peak; above 1 for an account that owed."""
    calmar: float | None = None
    win_rate: float | None = None
    value_at_risk: float | None = None
    """For one period, a loss being positive."""
    longest_losing_run: int | None = None
    periods_per_year: float | None = None
    """For the annual figures, like the next two; 1 means not annual, None means no annual figures."""
    ddof: int
    risk_free_rate: float
    value_at_risk_level: float


@dataclass(frozen=True, slots=True)
class ScoredCurve:
    """A curve's figures, and why a year has so many periods."""

    score: EquityScore
    periods: Periods


def score_of_curve(
    instants: Sequence[datetime],
    values: ArrayLike,
    convention: Convention,
    *,
    periods_per_year: float | None = None,
    risk_free_rate: float | None = None,
) -> ScoredCurve:
    """Return the figures of an account's values at some instants, by a convention.

    All accounts get their figures here, from a ledger or from a file.

    Args:
        instants: The instants of the values, each later than the one before.
        values: The account's values, as for `equity_score`.
        convention: How figures are made.
        periods_per_year: Replaces the number of the convention and of the instants.
        risk_free_rate: The annual return without risk; replaces the convention's for prediction markets.

    Raises:
        ValueError: As `choose_periods` and `equity_score`; and if there is not one value an instant.

    Examples:
        >>> from predibot.scoring.metrics.conventions import CONVENTIONS
        >>> days = [datetime(2026, 3, day) for day in (1, 2, 3)]
        >>> found = score_of_curve(days, [100.0, 110.0, 99.0], CONVENTIONS["livetradebench_paper"])
        >>> found.score.win_rate, found.periods.per_year
        (0.0, 1.0)
    """
    instance_of("convention", convention, Convention)
    if len(checked := instants_of("instants", instants)) != len(account := account_values(values)):
        raise ValueError(f"there are {len(checked)} instants and {len(account)} values; give one value an instant")
    # Where a convention gives any spacing a number of periods, the dates say more.
    asked = convention if convention.days_per_year is None else None
    periods = choose_periods(checked, convention=asked, periods_per_year=periods_per_year)
    rate = convention.risk_free_rate if risk_free_rate is None else risk_free_rate
    score = equity_score(
        account, periods.per_year, ddof=convention.ddof, risk_free_rate=rate, first_win=convention.first_win
    )
    return ScoredCurve(score, periods)


@within_floats
def equity_score(
    values: ArrayLike,
    periods_per_year: float | None,
    *,
    ddof: int = 1,
    risk_free_rate: float = 0.0,
    value_at_risk_level: float = VALUE_AT_RISK_LEVEL,
    first_win: int = 1,
) -> EquityScore:
    """Return all the figures of growth and risk of one curve.

    Each is the result of the function of that name for the values, or for their returns (`equity_returns`). The numbers
    of a `Convention` reproduce the figures of others.

    Args:
        values: What the account was worth, in the order of time, one value a period, shape (n,), zero or more, the
            first above zero, and zero for good once it is wiped out.
        periods_per_year: How many such periods a year has, above zero; `choose_periods` tells it from the dates. None
            leaves out the annual figures: the annualised return, volatility and the ratios.
        ddof: The deviation divides by n - ddof.
        risk_free_rate: The annual return without risk.
        value_at_risk_level: The share of periods that may lose more, in (0, 1).
        first_win: The first return that counts in the win rate, 1 for all.

    Raises:
        ValueError: If there is no value, or a value or argument is NaN, infinite or out of range.

    Examples:
        >>> score = equity_score([100.0, 110.0, 99.0, 108.9], 365)
        >>> round(score.cumulative_return, 6), round(score.max_drawdown, 6), score.longest_losing_run
        (0.089, 0.1, 1)
    """
    account = account_values(values)
    returns = _without_rounding(account, equity_returns(account))
    at_least("first_win", first_win, 1)
    annual = {} if periods_per_year is None else _annual(account, returns, periods_per_year, ddof, risk_free_rate)
    return EquityScore(
        n_values=account.size,
        n_returns=returns.size,
        first_value=float(account[0]),
        last_value=float(account[-1]),
        cumulative_return=cumulative_return(account),
        max_drawdown=max_drawdown(account),
        **annual,
        win_rate=_figure(win_rate, returns[first_win - 1 :]),
        value_at_risk=_figure(lambda r: value_at_risk(r, value_at_risk_level), returns),
        longest_losing_run=longest_losing_run(returns) if returns.size else None,
        periods_per_year=periods_per_year,
        ddof=ddof,
        risk_free_rate=risk_free_rate,
        value_at_risk_level=value_at_risk_level,
    )


@within_floats
def equity_returns(values: ArrayLike) -> Floats:
    """Return the return of an account in each period, as a share of its value before.

    value / value before - 1. A period that loses everything returns -1 and is the last: from zero there is no return. A
    rise from zero is money paid in, and refused.

    Args:
        values: What the account was worth, in the order of time, shape (n,), zero or more, the first above zero, and
            zero for good once it is wiped out.

    Returns:
        Shares, shape (n - 1,), or fewer if it was wiped out before the end.

    Raises:
        ValueError: If there is none, or a value is NaN, infinite or out of range.

    Examples:
        >>> equity_returns([100.0, 150.0, 75.0, 0.0, 0.0])
        array([ 0.5, -0.5, -1. ])
    """
    account = account_values(values)
    wiped_out = np.maximum.accumulate(account == 0.0)
    refuse("values", account, wiped_out & (account > 0.0), "an account that was wiped out stays at zero")
    before, after = account[:-1], account[1:]
    return after[before > 0.0] / before[before > 0.0] - 1.0


def _without_rounding(account: Floats, returns: Floats) -> Floats:
    """Return returns, all made alike if the values differ from steady growth by rounding: that is no risk."""
    if returns.size < 2 or account[-1] <= 0.0:
        return returns
    rate = math.log(account[-1] / account[0]) / returns.size
    steady = account[0] * np.exp(rate * np.arange(account.size))
    digits = max(-min(int(Decimal(repr(value)).normalize().as_tuple().exponent), 0) for value in account.tolist())
    # Computed numbers have the last digit of a float, once for each step.
    last_digit = np.maximum(10.0**-digits, account * _FLOAT_ROUNDING * account.size)
    return np.full(returns.shape, math.expm1(rate)) if (np.abs(account - steady) <= last_digit).all() else returns


def owing_score(values: Floats, convention: Convention) -> EquityScore:
    """Return the figures of an account that was worth less than nothing, or came back from nothing.

    These are its return on its first value and its deepest fall; figures of returns do not exist from zero and less.

    Args:
        values: In the order of time, shape (n,), finite, the first above zero (otherwise `ValueError`): a ledger that
            predibot did not write may have another.
        convention: How figures would be made.
    """
    refuse("values", values[:1], values[:1] <= 0.0, "an account must start above zero")
    return EquityScore(
        n_values=values.size,
        n_returns=0,
        first_value=float(values[0]),
        last_value=float(values[-1]),
        cumulative_return=float(values[-1]) / float(values[0]) - 1.0,
        max_drawdown=float(np.max(1.0 - values / np.maximum.accumulate(values))),
        ddof=convention.ddof,
        risk_free_rate=convention.risk_free_rate,
        value_at_risk_level=VALUE_AT_RISK_LEVEL,
    )


def _annual(account: Floats, returns: Floats, per_year: float, ddof: int, rate: float) -> Mapping[str, float | None]:
    return {
        "annualized_return": _finite(annualized_return(account, per_year)),
        "volatility": _figure(lambda r: volatility(r, per_year, ddof), returns),
        "sharpe": _figure(lambda r: sharpe_ratio(r, per_year, ddof, rate), returns),
        "sortino": _figure(lambda r: sortino_ratio(r, per_year, rate), returns),
        "calmar": _finite(calmar_ratio(account, per_year)),
    }


def _figure(figure: Callable[[Floats], float], returns: Floats) -> float | None:
    return _finite(figure(returns)) if returns.size else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
