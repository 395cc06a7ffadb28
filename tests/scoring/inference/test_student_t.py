"""Student's t: its distribution and its quantiles, beside scipy's."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit

from predibot.scoring.inference.student_t import t_probability, t_quantile, t_two_sided

FREEDOM = st.integers(1, 500).map(float) | st.floats(0.5, 1e5)


@given(st.floats(1e-6, 1.0 - 1e-6), FREEDOM)
def test_quantiles_are_those_of_scipy(probability: float, freedom: float) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(float(stdtrit(freedom, probability)), rel=1e-7, abs=1e-9)


@given(st.floats(-1e4, 1e4), FREEDOM)
def test_probabilities_are_those_of_scipy(t: float, freedom: float) -> None:
    assert t_probability(t, freedom) == pytest.approx(float(stdtr(freedom, t)), rel=1e-8, abs=1e-13)
    assert t_two_sided(t, freedom) == pytest.approx(2.0 * float(stdtr(freedom, -abs(t))), rel=1e-8, abs=1e-300)


@given(st.floats(0.01, 0.99), FREEDOM)
def test_both_sides_are_alike_and_the_probability_of_a_quantile_is_its_own(probability: float, freedom: float) -> None:
    quantile = t_quantile(probability, freedom)
    assert t_quantile(1.0 - probability, freedom) == pytest.approx(-quantile, rel=1e-9, abs=1e-12)
    assert t_probability(quantile, freedom) == pytest.approx(probability, rel=1e-9)


@pytest.mark.parametrize(("freedom", "expected"), [(1, 12.7062), (2, 4.3027), (19, 2.0930), (29, 2.0452), (59, 2.0010)])
def test_the_quantiles_of_the_tables_are_found(freedom: int, expected: float) -> None:
    assert t_quantile(0.975, freedom) == pytest.approx(expected, abs=5e-5)


def test_the_ends_are_the_ends() -> None:
    assert (t_probability(-math.inf, 3), t_probability(math.inf, 3), t_two_sided(0.0, 3)) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize(("probability", "freedom"), [(0.0, 3), (1.0, 3), (math.nan, 3), (0.5, 0), (0.5, math.nan)])
def test_what_has_no_quantile_is_refused(probability: float, freedom: float) -> None:
    with pytest.raises(ValueError, match=r"must be above|one above zero"):
        t_quantile(probability, freedom)
