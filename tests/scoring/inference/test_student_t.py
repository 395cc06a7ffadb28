"""Student's t: its tails and its quantiles, beside tables and beside its density."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from predibot.scoring.inference.student_t import t_quantile, t_two_sided

FREEDOM = st.integers(1, 500).map(float) | st.floats(0.5, 1e5)


def density(t: float, n: float) -> float:
    log = math.lgamma((n + 1.0) / 2.0) - math.lgamma(n / 2.0) - 0.5 * math.log(n * math.pi)
    return math.exp(log - (n + 1.0) / 2.0 * math.log1p(t * t / n))


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
@given(st.floats(0.0, 8.0), FREEDOM)
def test_a_tail_is_what_the_density_leaves(t: float, freedom: float) -> None:
    within = quad(density, 0.0, t, args=(freedom,), epsabs=1e-12)[0]
    assert t_two_sided(t, freedom) == pytest.approx(1.0 - 2.0 * within, abs=1e-9)
    assert t_two_sided(-t, freedom) == t_two_sided(t, freedom)


@given(st.floats(0.01, 0.99), FREEDOM)
def test_both_sides_are_alike_and_the_tail_of_a_quantile_is_its_own(probability: float, freedom: float) -> None:
    quantile = t_quantile(probability, freedom)
    assert t_quantile(1.0 - probability, freedom) == pytest.approx(-quantile, rel=1e-9, abs=1e-12)
    assert t_two_sided(quantile, freedom) == pytest.approx(2.0 * min(probability, 1.0 - probability), rel=1e-9)


@given(st.floats(1e-100, 1e-6), FREEDOM)
def test_a_tail_too_small_for_1_minus_p_keeps_its_digits(probability: float, freedom: float) -> None:
    quantile = t_quantile(probability, freedom)
    assert math.isfinite(quantile)
    if freedom >= 1.0:
        assert t_two_sided(quantile, freedom) == pytest.approx(2.0 * probability, rel=1e-6)


def test_the_ends_are_the_ends() -> None:
    assert (t_two_sided(-math.inf, 3), t_two_sided(math.inf, 3), t_two_sided(0.0, 3)) == (0.0, 0.0, 1.0)
    assert t_quantile(0.5, 3) == 0.0


@pytest.mark.parametrize(("probability", "freedom"), [(0.0, 3), (1.0, 3), (math.nan, 3), (0.5, 0), (0.5, math.nan)])
def test_what_has_no_quantile_is_refused(probability: float, freedom: float) -> None:
    with pytest.raises(ValueError, match=r"must be above|above zero"):
        t_quantile(probability, freedom)


@pytest.mark.parametrize(("t", "freedom"), [(math.nan, 3), (1.0, 0), (1.0, math.nan)])
def test_what_has_no_tail_is_refused(t: float, freedom: float) -> None:
    with pytest.raises(ValueError, match="one above zero"):
        t_two_sided(t, freedom)
