"""Pooling: one probability for many, which lies among them unless it is told to go further."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.pooling import POOLING_RULES, PoolingRule, pooled

RULES = st.sampled_from(POOLING_RULES)
CHANCES = st.lists(st.floats(0.001, 0.999), min_size=1, max_size=15)


@given(RULES, CHANCES)
def test_what_is_pooled_lies_among_what_was_given(rule: PoolingRule, chances: list[float]) -> None:
    assert min(chances) - 1e-9 <= pooled(rule, chances) <= max(chances) + 1e-9


@given(RULES, CHANCES, st.randoms())
def test_the_order_makes_no_difference(rule: PoolingRule, chances: list[float], random: object) -> None:
    assert pooled(rule, chances) == pytest.approx(pooled(rule, sorted(chances)))


@given(RULES, CHANCES)
def test_the_chances_of_no_are_pooled_to_the_rest(rule: PoolingRule, chances: list[float]) -> None:
    assert pooled(rule, [1 - each for each in chances]) == pytest.approx(1 - pooled(rule, chances))


@given(CHANCES, st.floats(1, 5))
def test_extremising_never_moves_towards_one_half(chances: list[float], factor: float) -> None:
    plain, extreme = pooled("log_odds", chances), pooled("log_odds", chances, extremising=factor)
    assert abs(extreme - 0.5) >= abs(plain - 0.5) - 1e-9


@pytest.mark.parametrize("sure", [0.0, 1.0])
def test_one_sure_forecast_does_not_decide_alone(sure: float) -> None:
    assert 0.05 < pooled("log_odds", [sure, 0.5, 0.5]) < 0.95
    assert pooled("log_odds", [sure] * 3, extremising=10) == pytest.approx(abs(sure - 0.001))
    assert pooled("log_odds", [0.9] * 3, extremising=1e9) == 0.999


def test_by_hand() -> None:
    assert pooled("trimmed_mean", [0.0, 0.2, 0.3, 0.4, 1.0]) == pytest.approx(0.3)
    assert pooled("trimmed_mean", [0.2, 0.4]) == pytest.approx(0.3)
    # Odds of 1:4 and 4:1 pool to even ones; 2:1 squared are 4:1.
    assert pooled("log_odds", [0.2, 0.8]) == pytest.approx(0.5)
    assert pooled("log_odds", [2 / 3], extremising=2.0) == pytest.approx(0.8)


@pytest.mark.parametrize("chances", [[], [1.1], [-0.1, 0.5], [math.nan]])
def test_what_is_no_probability_is_refused(chances: list[float]) -> None:
    with pytest.raises(ValueError, match=r"nothing to pool|between 0 and 1"):
        pooled("median", chances)


@pytest.mark.parametrize(
    ("rule", "factor"), [("median", 2.0), ("trimmed_mean", 0.5), ("log_odds", 0.0), ("log_odds", math.inf)]
)
def test_extremising_goes_with_log_odds_and_is_above_zero(rule: PoolingRule, factor: float) -> None:
    with pytest.raises(ValueError, match="log_odds takes any above 0"):
        pooled(rule, [0.5], extremising=factor)


def test_an_unknown_rule_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="there are median, trimmed_mean, log_odds"):
        pooled("mode", [0.5])  # type: ignore[arg-type]
