"""Intervals: how far a mean could have come out otherwise, by how its clusters differ and by the prices."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from predibot.scoring.inference.clusters import ClusterSums
from predibot.scoring.inference.intervals import Spread, comparison_by_prices, estimate_by_prices, estimate_of_brier
from predibot.scoring.inference.student_t import t_quantile, t_two_sided

GAINS = st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 4)), min_size=2, max_size=40)
WIDE = (-1e9, 1e9)


def sums_of(*clusters: tuple[float, float]) -> ClusterSums:
    """Return what clusters add: a sum, and of how many rows."""
    return ClusterSums(np.array([each[0] for each in clusters]), np.array([each[1] for each in clusters], dtype=float))


@given(GAINS, st.floats(0, 100))
def test_it_is_m_and_t_times_the_larger_standard_error_to_either_side(
    clusters: list[tuple[float, int]], variance: float
) -> None:
    n, k = sum(rows for _, rows in clusters), len(clusters)
    mean = sum(total for total, _ in clusters) / n
    squares = sum((total - mean * rows) ** 2 for total, rows in clusters)
    error = max(math.sqrt(k / (k - 1) * squares) / n, math.sqrt(variance) / n)
    found = estimate_by_prices(sums_of(*clusters), n, Spread(variance, *WIDE), 0.95)
    assert found.estimate == pytest.approx(mean, abs=1e-9)
    if error > 1e-9:
        half = t_quantile(0.975, k - 1) * error
        assert found.interval == pytest.approx((mean - half, mean + half), rel=1e-6, abs=1e-7)
        assert found.standard_error == pytest.approx(error, rel=1e-6)


@given(GAINS, st.floats(0, 100), st.floats(0, 2), st.floats(0, 2))
def test_no_end_lies_outside_the_possible_and_the_mean_lies_within(
    clusters: list[tuple[float, int]], variance: float, below: float, above: float
) -> None:
    n = sum(rows for _, rows in clusters)
    mean = sums_of(*clusters).ratio
    found = estimate_by_prices(sums_of(*clusters), n, Spread(variance, mean - below, mean + above), 0.95)
    if found.low is not None and found.high is not None:
        assert mean - below <= found.low <= found.estimate <= found.high <= mean + above


def test_one_event_has_no_interval_and_nothing_held_is_certain() -> None:
    assert estimate_by_prices(sums_of((1, 2)), 2, Spread(1.0, *WIDE), 0.95).interval is None
    assert estimate_by_prices(sums_of((0, 2)), 2, Spread(0.0, 0.0, 0.0), 0.95).interval is None
    assert estimate_by_prices(sums_of((0, 2), (0, 1)), 3, Spread(0.0, 0.0, 0.0), 0.95).interval == (0.0, 0.0)


def test_where_nothing_tells_how_far_it_varies_there_is_no_interval() -> None:
    assert estimate_by_prices(sums_of((1, 1), (1, 1)), 2, Spread(0.0, -1.0, 1.0), 0.95).interval is None


def test_the_mean_without_its_best_event_is_that_of_the_others() -> None:
    found = estimate_by_prices(sums_of((9, 3), (-1, 1), (-2, 2)), 6, Spread(0.0, *WIDE), 0.95)
    assert (found.estimate, found.without_best) == (1.0, -1.0)
    assert estimate_by_prices(sums_of((9, 3)), 3, Spread(0.0, *WIDE), 0.95).without_best is None
    # Many small gains add up to more, but one large one makes the mean.
    found = estimate_by_prices(sums_of((5, 10), (4, 1), (0, 1)), 12, Spread(0.0, *WIDE), 0.95)
    assert (found.estimate, found.without_best) == (0.75, pytest.approx(5 / 11))


@given(GAINS, st.floats(0.01, 100))
def test_a_comparison_is_two_sided_and_swapping_turns_the_sign_only(
    clusters: list[tuple[float, int]], variance: float
) -> None:
    n, k = sum(rows for _, rows in clusters), len(clusters)
    found = comparison_by_prices(sums_of(*clusters), n, Spread(variance, *WIDE), 0.95)
    turned = comparison_by_prices(sums_of(*((-a, b) for a, b in clusters)), n, Spread(variance, *WIDE), 0.95)
    assert found.standard_error
    assert found.p_value == pytest.approx(t_two_sided(found.estimate / found.standard_error, k - 1))
    assert found.p_value == pytest.approx(turned.p_value)
    assert (found.low, found.high) == pytest.approx((-turned.high, -turned.low))  # type: ignore[operator]
    assert (found.p_value <= 0.05) == (not found.low <= 0.0 <= found.high)  # type: ignore[operator]


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.floats(0, 5))
@example([0.125, 0.125], 1.5e-121)
def test_a_brier_score_has_its_ends_on_the_logit_scale_and_within_nought_and_one(
    scores: list[float], variance: float
) -> None:
    found = estimate_of_brier(sums_of(*((one, 1) for one in scores)), len(scores), variance, 0.95)
    score, error = found.estimate, found.standard_error
    if found.low is None or found.high is None or not error:
        return
    assert 0.0 <= found.low <= score <= found.high <= 1.0
    reach = t_quantile(0.975, len(scores) - 1) * error
    assert found.high <= max(score + 2 * reach, score) + 1e-12
    assert found.high >= min(score + reach, 1.0) - 1e-12
    if reach / (score * (1 - score)) < 500:
        odds = score / (1 - score) * math.exp(-reach / (score * (1 - score)))
        assert found.low == pytest.approx(odds / (1 + odds), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("clusters", [((0, 1), (0, 1)), ((2, 2), (1, 1)), ((0.3, 1),)])
def test_a_brier_score_of_nought_or_one_and_one_event_have_no_interval(clusters: tuple[tuple[float, int], ...]) -> None:
    assert estimate_of_brier(sums_of(*clusters), 3, 0.1, 0.95).interval is None


def test_the_brier_interval_by_hand() -> None:
    # 0.04 and 0.16: a mean of 0.1, deviations of 0.06, so that se = sqrt(2 * 2 * 0.06^2) / 2 = 0.06.
    found = estimate_of_brier(sums_of((0.04, 1), (0.16, 1)), 2, 0.0, 0.5)
    assert found.cluster_standard_error == pytest.approx(0.06)
    # t(.75, 1) is 1: on the logit scale 0.06 / 0.09 to either side of log(0.1 / 0.9).
    low, high = (1 / (1 + 9 * math.exp(sign * 0.06 / 0.09)) for sign in (1, -1))
    assert found.interval == pytest.approx((low, high))
    assert 0.16 < high < 0.22
