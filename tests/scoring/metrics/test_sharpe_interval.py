"""The interval of a Sharpe ratio: how the returns of its dates scatter, and how long they hang together."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import CONVENTIONS, sharpe_interval, sharpe_ratio
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.student_t import t_quantile
from tests.soaks import one_in

OURS = CONVENTIONS["predibot"]
SERIES = st.lists(st.integers(-1000, 1000).map(lambda thousandths: thousandths / 1000), min_size=3, max_size=40)


def plainly(returns: list[float], gap_days: float, horizon_days: float) -> tuple[float, float] | None:
    """Return the ends by the definition, lag by lag."""
    n, mean = len(returns), sum(returns) / len(returns)
    deviation = math.sqrt(sum((one - mean) ** 2 for one in returns) / (n - 1))
    ratio = mean / deviation
    u = [(one - mean) / deviation - ratio / 2 * (((one - mean) / deviation) ** 2 - 1) for one in returns]
    u = [one - sum(u) / n for one in u]
    h = horizon_days / gap_days
    lags = min(math.ceil(1.3 * h), n - 1) if h > 1 else 0
    variance = sum(one * one for one in u) / n
    for lag in range(1, lags + 1):
        variance += 2 * (1 - lag / (lags + 1)) * sum(u[t] * u[t - lag] for t in range(lag, n)) / n
    half = t_quantile(0.975, max(1.0, n / h - 1) if h > 1 else n - 1) * math.sqrt(max(variance, 0.0) / (n - 1))
    year = math.sqrt(365 / horizon_days)
    return (ratio - half) * year, (ratio + half) * year


def found(returns: list[float], gap_days: float = 1, horizon_days: float = 1) -> Estimate | None:
    days = [row * gap_days for row in range(len(returns))]
    return sharpe_interval(returns, days, horizon_days=horizon_days, convention=OURS)


@pytest.mark.parametrize(("gap_days", "horizon_days"), one_in(3, [(1, 1), (7, 7), (7, 1), (1, 7), (1, 2), (1, 90)]))
@given(SERIES)
def test_it_is_what_the_definition_gives_lag_by_lag(gap_days: float, horizon_days: float, returns: list[float]) -> None:
    estimate = found(returns, gap_days, horizon_days)
    if estimate is None:
        assert math.isnan(sharpe_ratio(returns, 365))
    elif estimate.interval is not None:
        assert estimate.interval == pytest.approx(plainly(returns, gap_days, horizon_days), rel=1e-6, abs=1e-6)
        assert estimate.low is not None and estimate.high is not None
        assert estimate.low < estimate.estimate < estimate.high


@given(SERIES)
def test_the_order_of_the_rows_changes_nothing_and_the_other_side_only_the_sign(returns: list[float]) -> None:
    days = list(range(len(returns)))
    one = sharpe_interval(returns, days, horizon_days=7, convention=OURS)
    turned = sharpe_interval(returns[::-1], days[::-1], horizon_days=7, convention=OURS)
    against = sharpe_interval([-each for each in returns], days, horizon_days=7, convention=OURS)
    assert one == turned
    if one is not None and one.low is not None and against is not None:
        assert against.high == pytest.approx(-one.low, rel=1e-6, abs=1e-6)


def test_independent_normal_returns_have_the_textbook_error() -> None:
    returns = np.random.default_rng(4).normal(0.02, 0.1, 4_000)
    estimate = sharpe_interval(returns, np.arange(4_000.0), horizon_days=1, convention=OURS)
    assert estimate is not None and estimate.cluster_standard_error is not None
    # Lo (2002): sqrt((1 + SR^2 / 2) / n).
    expected = math.sqrt((1 + 0.2**2 / 2) / 4_000 * 365)
    assert estimate.cluster_standard_error == pytest.approx(expected, rel=0.03)


def test_overlapping_returns_have_a_wider_interval_and_say_by_which_method() -> None:
    steps = np.random.default_rng(4).normal(0.0, 0.1, 206)
    weekly = np.convolve(steps, np.ones(7), "valid").tolist()
    alone, overlapping = found(weekly, 7, 7), found(weekly, 1, 7)
    assert alone is not None and overlapping is not None
    assert (alone.method, overlapping.method) == ("delta method over dates", "delta method over dates, Newey-West")
    assert overlapping.cluster_standard_error > 2 * alone.cluster_standard_error  # type: ignore[operator]


@pytest.mark.parametrize("returns", [[0.1], [0.1, 0.1, 0.1]])
def test_where_there_is_no_ratio_there_is_no_interval(returns: list[float]) -> None:
    assert found(returns) is None


def test_a_convention_without_such_a_horizon_has_none() -> None:
    days = [1.0, 2.0, 3.0]
    assert sharpe_interval([0.1, 0.2, 0.4], days, horizon_days=3, convention=CONVENTIONS["predibench"]) is None


def test_many_returns_at_one_instant_overlap_as_often_as_they_come_on_average() -> None:
    at = np.repeat(np.arange(50.0), 20)
    returns = np.random.default_rng(1).normal(0.0, 0.1, 1_000)
    estimate = sharpe_interval(returns, at, horizon_days=1, convention=CONVENTIONS["predibench"])
    assert estimate is not None
    assert (estimate.method, estimate.n) == ("delta method over dates, Newey-West", 1_000)
