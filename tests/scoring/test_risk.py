"""Risk: how large a series of returns is beside how much it moves."""

import math
import statistics

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from predibot.scoring import sharpe_ratio

RETURNS = st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=2, max_size=20)


@given(RETURNS, st.sampled_from([52.0, 252.0, 365.0]), st.sampled_from([0.0, 0.04]))
def test_sharpe_agrees_with_the_statistics_module(returns: list[float], periods: float, rate: float) -> None:
    assume(len(set(returns)) > 1)
    expected = (statistics.fmean(returns) * periods - rate) / (statistics.stdev(returns) * periods**0.5)
    assert sharpe_ratio(returns, periods, risk_free_rate=rate) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(RETURNS, st.floats(0.01, 100))
def test_larger_stakes_leave_sharpe_as_it_is(returns: list[float], factor: float) -> None:
    assume(len(set(returns)) > 1)
    scaled = [factor * one for one in returns]
    assert sharpe_ratio(scaled, 365) == pytest.approx(sharpe_ratio(returns, 365), rel=1e-6, abs=1e-6)


@given(RETURNS)
def test_opposite_returns_have_the_opposite_sharpe(returns: list[float]) -> None:
    assume(len(set(returns)) > 1)
    assert sharpe_ratio([-one for one in returns], 365) == pytest.approx(-sharpe_ratio(returns, 365))


def test_sharpe_by_hand() -> None:
    # Mean 0.02, deviations -0.01 and 0.01: variance 0.0002 with ddof 1, 0.0001 with ddof 0.
    assert sharpe_ratio([0.01, 0.03], 100) == pytest.approx(2.0 / (math.sqrt(0.0002) * 10))
    assert sharpe_ratio([0.01, 0.03], 100, ddof=0) == pytest.approx(2.0 / (0.01 * 10))
    assert sharpe_ratio([0.01, 0.03], 100, ddof=0, risk_free_rate=0.5) == pytest.approx(1.5 / 0.1)


@pytest.mark.parametrize("returns", [[], [0.1], [0.1, 0.1, 0.1], [0.0, 0.0], [0.1 + 0.2, 0.3]])
def test_too_few_or_equal_returns_have_no_sharpe(returns: list[float]) -> None:
    assert math.isnan(sharpe_ratio(returns, 365))


def test_as_many_returns_as_ddof_have_no_sharpe() -> None:
    assert math.isnan(sharpe_ratio([0.1, 0.2], 365, ddof=2))


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        (([0.1, math.nan], 365), r"returns\[1\] is nan"),
        (([0.1, math.inf], 365), r"returns\[1\] is inf"),
        (([0.1, 0.2], 0), "periods_per_year is 0"),
        (([0.1, 0.2], math.nan), "periods_per_year is nan"),
        (([0.1, 0.2], 365, -1), "ddof is -1"),
        (([0.1, 0.2], 365, 1, math.nan), "risk_free_rate is nan"),
    ],
)
def test_what_has_no_meaning_is_refused(arguments: tuple[object, ...], seen: str) -> None:
    with pytest.raises(ValueError, match=seen):
        sharpe_ratio(*arguments)  # type: ignore[arg-type]  # what a careless caller hands over
