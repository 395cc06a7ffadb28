"""Equity: what the curve of an account's value says of growth and risk."""

import json
import math
from dataclasses import asdict, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring.metrics.conventions import CONVENTIONS
from predibot.scoring.metrics.equity import EquityScore, equity_returns, equity_score, max_drawdown, owing_score
from predibot.scoring.metrics.risk import sharpe_ratio, sortino_ratio, value_at_risk, volatility

VALUES = st.lists(st.floats(1, 1e4), min_size=1, max_size=20)


def test_a_curve_by_hand() -> None:
    # Returns 0.1, -0.1, 0.1; mean 1/30; deviations 1/15, -2/15, 1/15: variance 6/225 over n - 1 = 2.
    score = equity_score([100.0, 110.0, 99.0, 108.9], 9)
    assert (score.n_values, score.n_returns, score.first_value, score.last_value) == (4, 3, 100.0, 108.9)
    assert score.cumulative_return == pytest.approx(0.089)
    assert score.annualized_return == pytest.approx(1.089**3 - 1)
    assert score.volatility == pytest.approx(math.sqrt(3 / 225) * 3)
    assert score.sharpe == pytest.approx(9 / 30 / (math.sqrt(3 / 225) * 3))
    # Of three returns one lies below zero, by 0.1.
    assert score.sortino == pytest.approx(9 / 30 / (math.sqrt(0.01 / 3) * 3))
    assert score.max_drawdown == pytest.approx(0.1)
    assert score.calmar == pytest.approx((1.089**3 - 1) / 0.1)
    assert score.win_rate == pytest.approx(2 / 3)
    # Place 0.05 * 2 = 0.1 between -0.1 and 0.1.
    assert score.value_at_risk == pytest.approx(0.1 - 0.1 * 0.2)
    assert score.longest_losing_run == 1


@given(VALUES)
def test_missing_figures_are_none_and_never_nan(values: list[float]) -> None:
    score = equity_score(values, 365)
    assert json.loads(json.dumps(asdict(score), allow_nan=False)) == asdict(score)


def test_a_single_value_has_no_figure_of_returns() -> None:
    score = equity_score([100.0], 365)
    missing = {field.name for field in fields(EquityScore) if getattr(score, field.name) is None}
    assert missing == {
        "annualized_return",
        "volatility",
        "sharpe",
        "sortino",
        "calmar",
        "win_rate",
        "value_at_risk",
        "longest_losing_run",
    }
    assert (score.n_returns, score.cumulative_return, score.max_drawdown) == (0, 0.0, 0.0)


def test_a_curve_that_never_moved_has_no_ratios() -> None:
    score = equity_score([100.0, 100.0, 100.0], 365)
    assert (score.sharpe, score.sortino, score.calmar) == (None, None, None)
    assert (score.volatility, score.annualized_return, score.win_rate, score.value_at_risk) == (0.0, 0.0, 0.0, 0.0)


def test_a_return_that_no_number_can_hold_is_missing() -> None:
    score = equity_score([1.0, 10.0, 9.0], 8760)
    assert (score.annualized_return, score.calmar) == (None, None)
    assert score.cumulative_return == 8.0


def test_the_returns_end_with_the_one_that_lost_everything() -> None:
    values = [100.0, 50.0, 0.0, 0.0, 0.0]
    score = equity_score(values, 365)
    assert (score.n_values, score.n_returns, score.longest_losing_run) == (5, 2, 2)
    assert (score.cumulative_return, score.annualized_return, score.max_drawdown) == (-1.0, -1.0, max_drawdown(values))
    assert equity_returns(values).tolist() == [-0.5, -1.0]


def test_a_score_says_how_its_figures_were_made_and_makes_them_so() -> None:
    values = [100.0, 104.0, 99.0, 101.0]
    score = equity_score(values, 252, ddof=0, risk_free_rate=0.04, value_at_risk_level=0.4)
    assert (score.periods_per_year, score.ddof, score.risk_free_rate, score.value_at_risk_level) == (252, 0, 0.04, 0.4)
    returns = equity_returns(values)
    assert score.volatility == volatility(returns, 252, ddof=0)
    assert score.sharpe == sharpe_ratio(returns, 252, ddof=0, risk_free_rate=0.04)
    assert score.sortino == sortino_ratio(returns, 252, risk_free_rate=0.04)
    assert score.value_at_risk == value_at_risk(returns, level=0.4)


@pytest.mark.parametrize("digits", [0, 2, 4, 6, 12, None])
@pytest.mark.parametrize("rate", [0.01, -0.004, 0.0, 1e-7])
def test_steady_growth_has_no_ratio_however_its_values_were_rounded(rate: float, digits: int | None) -> None:
    values = [
        each if digits is None else round(each, digits) for each in (10_000.0 * (1.0 + rate) ** n for n in range(90))
    ]
    score = equity_score(values, 365)
    assert (score.sharpe, score.volatility) == (None, 0.0)
    # Nor has growth at the rate that needs no risk.
    assert equity_score(values, 365, risk_free_rate=rate * 365).sortino is None or digits is not None


@pytest.mark.parametrize("digits", [2, 6, None])
def test_what_moves_by_more_than_its_last_digit_has_a_ratio(digits: int | None) -> None:
    moves = [10_000.0 * 1.001**n + (0.03 if n % 2 else -0.03) for n in range(60)]
    values = moves if digits is None else [round(each, digits) for each in moves]
    returns = np.diff(values) / values[:-1]
    found = equity_score(values, 365).sharpe
    assert found == pytest.approx(float(returns.mean() / returns.std(ddof=1)) * math.sqrt(365), rel=1e-9)


@pytest.mark.parametrize("first", [0.0, -10.0])
def test_an_account_that_began_with_nothing_or_debts_has_no_return(first: float) -> None:
    with pytest.raises(ValueError, match="must start above zero"):
        owing_score(np.array([first, 5.0]), CONVENTIONS["predibot"])
