"""Pooling: one probability for many, which lies among them unless it is told to go further."""

import math
import statistics
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import trim_mean

from predibot.scoring.metrics.pooling import PoolingMethod, pool_probabilities

ALL: tuple[PoolingMethod, ...] = ("mean", "median", "trimmed_mean", "soft_trimmed_mean", "log_odds")
METHODS = st.sampled_from(ALL)
UNSURE = st.floats(0.001, 0.999)
# Rounded ones are often equally far from the median, and the mean of equal ones is another in the last digit.
CHANCE = st.floats(0, 1) | st.integers(0, 10).map(lambda tenths: tenths / 10)
CHANCES = st.lists(CHANCE, min_size=1, max_size=15) | st.builds(lambda p, n: [p] * n, CHANCE, st.integers(1, 12))
NAN = math.nan


def pooled(method: PoolingMethod, chances: Sequence[float], *, extremize: float = 1.0) -> float:
    (found,) = pool_probabilities([chances], method=method, extremize=extremize)
    return float(found)


def pooled_by_loops(method: PoolingMethod, row: Sequence[float]) -> float:
    """Return what one row is pooled to, a forecast at a time."""
    said = sorted(each for each in row if not math.isnan(each))
    if not said:
        return NAN
    if method == "median":
        return statistics.median(said)
    if method == "trimmed_mean":
        return float(trim_mean(said, 0.2))
    if method == "log_odds":
        return float(expit(statistics.fmean(logit(said))))
    if method == "soft_trimmed_mean" and len(said) > 2:
        distances = [abs(each - statistics.median(said)) for each in said]
        halved = [distance > max(distances) - 1e-12 for distance in distances]
        return statistics.fmean(said, [0.5 if half else 1 + 0.5 / (len(said) - 1) for half in halved])
    return statistics.fmean(said)


@given(METHODS, CHANCES)
def test_what_is_pooled_lies_among_what_was_given(method: PoolingMethod, chances: list[float]) -> None:
    assert min(chances) <= pooled(method, chances) <= max(chances)


@given(
    METHODS,
    st.integers(1, 8).flatmap(
        lambda n: st.lists(st.lists(UNSURE | st.just(NAN), min_size=n, max_size=n), min_size=1, max_size=8)
    ),
    st.just(1.0) | st.floats(0.1, 5),
)
def test_rows_are_pooled_as_by_loops(method: PoolingMethod, matrix: list[list[float]], factor: float) -> None:
    by_loops = expit(factor * logit([pooled_by_loops(method, row) for row in matrix]))
    assert pool_probabilities(matrix, method=method, extremize=factor) == pytest.approx(by_loops, nan_ok=True)


@pytest.mark.parametrize("method", ALL)
def test_where_all_are_silent_there_is_nothing(method: PoolingMethod) -> None:
    found = pool_probabilities([[NAN, NAN], [NAN, 0.3]], method=method, extremize=2.0)
    # Odds of 3:7 squared are 9:49.
    assert found.tolist() == [pytest.approx(NAN, nan_ok=True), pytest.approx(9 / 58)]
    assert np.isnan(pool_probabilities([[NAN]], method=method)).all()


def test_a_fifth_is_left_out_at_each_end_rounded_down() -> None:
    assert pooled("trimmed_mean", [0.0, 0.2, 0.3, 0.4, 1.0]) == pytest.approx(0.3)
    assert pooled("trimmed_mean", [0.0, 0.2, 0.3, 0.5]) == pytest.approx(0.25)
    # Two of ten at each end; with one silent, one of nine.
    assert pooled("trimmed_mean", [0, 0, *[0.5] * 6, 0.9, 0.9]) == pytest.approx(0.5)
    assert pooled("trimmed_mean", [0, 0, *[0.5] * 5, 0.9, 0.9, NAN]) == pytest.approx((0 + 5 * 0.5 + 0.9) / 7)


def test_soft_trimming_by_hand() -> None:
    # 0.9 is furthest from the median 0.2: weight 0.5, each of the others 1 + 0.5 / 2.
    assert pooled("soft_trimmed_mean", [0.1, 0.2, 0.9]) == pytest.approx((1.25 * 0.3 + 0.5 * 0.9) / 3)
    # Both ends are 0.3 from the median, whatever their last bits say: weights 0.5, 1.25 and 0.5.
    assert pooled("soft_trimmed_mean", [0.2, 0.5, 0.8]) == pytest.approx(0.5)
    # Two at 0.8 are 0.6 from 0.2, one at 0 is 0.2: 3 * 1.125 + 0.5 * 2 is what is divided by.
    assert pooled("soft_trimmed_mean", [0.0, 0.2, 0.2, 0.8, 0.8]) == pytest.approx((1.125 * 0.4 + 0.5 * 1.6) / 4.375)
    assert pooled("soft_trimmed_mean", [0.1, 0.4]) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("chances", "found"),
    [
        ([1.0, 0.1, 0.1], 1.0),
        ([0.0, 0.9, 0.9], 0.0),
        ([1.0, 1.0, 0.0, 0.5], 1.0),
        ([0.0, 0.0, 1.0, 0.5], 0.0),
        ([1.0, 0.0], 0.5),
        # One of each cancels; odds of 4:1 over three are those of the cube root, 4^(1/3).
        ([1.0, 0.0, 0.8], 4 ** (1 / 3) / (1 + 4 ** (1 / 3))),
    ],
)
def test_certain_forecasts_cancel_one_for_one_in_log_odds(chances: list[float], found: float) -> None:
    assert pooled("log_odds", chances) == pytest.approx(found, abs=1e-15)


@pytest.mark.parametrize("method", ALL)
def test_extremizing_multiplies_the_log_odds_of_any_method_and_leaves_certainty_alone(method: PoolingMethod) -> None:
    assert pooled(method, [0.75] * 4, extremize=2.0) == pytest.approx(0.9)
    assert pooled(method, [0.9] * 4, extremize=0.5) == pytest.approx(0.75)
    assert pooled(method, [0.5] * 4, extremize=1e308) == 0.5
    for factor in (1e-308, 0.5, 1e308):
        assert pool_probabilities([[0.0] * 3, [1.0] * 3], method=method, extremize=factor).tolist() == [0.0, 1.0]


def test_what_was_given_stays_as_it_was() -> None:
    matrix = np.array([[0.9, NAN, 0.1]])
    pool_probabilities(matrix, method="log_odds", extremize=3.0)
    assert matrix[0].tolist() == [0.9, pytest.approx(NAN, nan_ok=True), 0.1]
