"""Risk: how large a series of returns is beside how much it moves."""

import itertools
import math
import statistics

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from predibot.scoring.metrics.risk import (
    longest_losing_run,
    sharpe_ratio,
    sortino_ratio,
    value_at_risk,
    volatility,
)

RETURN = st.floats(-1, 1).map(lambda x: round(x, 6))
RETURNS = st.lists(RETURN, min_size=2, max_size=20)
SOME_RETURNS = st.lists(RETURN, min_size=1, max_size=20)
PERIODS = st.sampled_from([1.0, 52.0, 252.0, 365.0])
RATES = st.sampled_from([0.0, 0.04])
LEVELS = st.floats(0.01, 0.99)


@given(RETURNS, PERIODS, RATES)
def test_sharpe_agrees_with_the_statistics_module(returns: list[float], periods: float, rate: float) -> None:
    assume(len(set(returns)) > 1)
    expected = (statistics.fmean(returns) * periods - rate) / (statistics.stdev(returns) * periods**0.5)
    assert sharpe_ratio(returns, periods, risk_free_rate=rate) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_sharpe_by_hand() -> None:
    # Mean 0.02, deviations -0.01 and 0.01: variance 0.0002 with ddof 1, 0.0001 with ddof 0.
    assert sharpe_ratio([0.01, 0.03], 100) == pytest.approx(2.0 / (math.sqrt(0.0002) * 10))
    assert sharpe_ratio([0.01, 0.03], 100, ddof=0) == pytest.approx(2.0 / (0.01 * 10))
    assert sharpe_ratio([0.01, 0.03], 100, ddof=0, risk_free_rate=0.5) == pytest.approx(1.5 / 0.1)


@pytest.mark.parametrize("returns", [[0.1], [0.1, 0.1, 0.1], [0.0, 0.0], [0.1 + 0.2, 0.3]])
def test_too_few_or_equal_returns_have_no_sharpe(returns: list[float]) -> None:
    assert math.isnan(sharpe_ratio(returns, 365))


def test_as_many_returns_as_ddof_have_no_deviation() -> None:
    assert math.isnan(sharpe_ratio([0.1, 0.2], 365, ddof=2))
    assert math.isnan(volatility([0.1, 0.2], 365, ddof=2))


@given(RETURNS, PERIODS)
def test_volatility_agrees_with_the_statistics_module(returns: list[float], periods: float) -> None:
    assume(len(set(returns)) > 1)
    assert volatility(returns, periods) == pytest.approx(statistics.stdev(returns) * math.sqrt(periods))
    assert volatility(returns, periods, ddof=0) == pytest.approx(statistics.pstdev(returns) * math.sqrt(periods))


def test_equal_returns_have_no_volatility_at_all_and_one_an_unknown_one() -> None:
    assert volatility([0.1, 0.1, 0.1], 365) == 0.0
    assert volatility([0.1 + 0.2, 0.3], 365) == 0.0
    assert math.isnan(volatility([0.1], 365, ddof=0))


@given(RETURNS, PERIODS, RATES)
def test_sortino_agrees_with_a_loop(returns: list[float], periods: float, rate: float) -> None:
    squares = [(one - rate / periods) ** 2 for one in returns if one < rate / periods]
    assume(sum(squares) > 1e-9)
    downside = math.sqrt(sum(squares) / len(returns)) * math.sqrt(periods)
    expected = (statistics.fmean(returns) * periods - rate) / downside
    assert sortino_ratio(returns, periods, rate) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("returns", "rate"), [([0.1], 0.0), ([-0.1], 0.0), ([0.1, 0.2], 0.0), ([0.0, 0.0], 0.0), ([0.1 / 365] * 3, 0.1)]
)
def test_where_nothing_falls_short_there_is_no_sortino(returns: list[float], rate: float) -> None:
    assert math.isnan(sortino_ratio(returns, 365, rate))


def test_value_at_risk_by_hand() -> None:
    # Sorted, -0.05 is at place 0 and -0.02 at 1 of 0 to 4: 5 % lies at 0.05 * 4 = 0.2 between them.
    assert value_at_risk([0.01, -0.05, 0.0, -0.02, 0.03]) == pytest.approx(0.05 - 0.2 * 0.03)


@given(SOME_RETURNS, LEVELS)
def test_value_at_risk_agrees_with_a_hand_made_quantile(returns: list[float], level: float) -> None:
    place = level * (len(returns) - 1)
    below, above = sorted(returns)[math.floor(place)], sorted(returns)[math.ceil(place)]
    expected = -(below + (place - math.floor(place)) * (above - below))
    assert value_at_risk(returns, level) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(SOME_RETURNS)
def test_the_longest_losing_run_agrees_with_grouping(returns: list[float]) -> None:
    runs = [len(list(run)) for losing, run in itertools.groupby(returns, lambda one: one < 0) if losing]
    assert longest_losing_run(returns) == max(runs, default=0)
