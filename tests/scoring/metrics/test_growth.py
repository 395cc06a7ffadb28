"""Growth: what the value of an account did from its first to its last, and how deep it fell on the way."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring.metrics.equity import annualized_return, calmar_ratio, cumulative_return, max_drawdown

VALUE = st.floats(0.01, 1e6)
VALUES = st.lists(VALUE, min_size=1, max_size=20)


@given(st.floats(-0.05, 0.05), st.integers(2, 50), st.sampled_from([12.0, 52.0, 252.0]))
def test_a_steady_return_is_annualised_by_compounding_it(rate: float, n: int, periods: float) -> None:
    values = [100.0 * (1.0 + rate) ** step for step in range(n)]
    assert annualized_return(values, periods) == pytest.approx((1.0 + rate) ** periods - 1.0, rel=1e-6, abs=1e-9)


@given(VALUES)
def test_the_drawdown_agrees_with_all_pairs_of_values(values: list[float]) -> None:
    falls = [1.0 - after / before for row, before in enumerate(values) for after in values[row:]]
    assert max_drawdown(values) == pytest.approx(max(falls), rel=1e-9, abs=1e-12)


def test_an_account_that_was_wiped_out_lost_all() -> None:
    wiped_out = [100.0, 120.0, 0.0]
    assert cumulative_return(wiped_out) == -1.0
    assert annualized_return(wiped_out, 365) == -1.0
    assert max_drawdown(wiped_out) == 1.0
    assert calmar_ratio(wiped_out, 365) == -1.0


def test_a_single_value_gained_nothing_fell_nowhere_and_has_no_year() -> None:
    assert cumulative_return([100.0]) == 0.0
    assert max_drawdown([100.0]) == 0.0
    assert math.isnan(annualized_return([100.0], 365))
    assert math.isnan(calmar_ratio([100.0], 365))


def test_a_curve_that_never_fell_has_no_calmar() -> None:
    assert math.isnan(calmar_ratio([100.0, 100.0, 110.0], 365))


def test_a_return_too_large_for_a_float_is_infinite() -> None:
    assert annualized_return([1.0, 10.0], 365) == math.inf
    assert annualized_return([1e-300, 1e300], 1) == math.inf
