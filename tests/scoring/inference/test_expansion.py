"""Expansion: what a studentised cluster bootstrap would give, from a formula."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from predibot.scoring.inference.bootstrap import estimate_of, ratio_sums, studentised_distances
from predibot.scoring.inference.clusters import ClusterSums
from predibot.scoring.inference.uncertainty import (
    CORRECTED,
    SYMMETRIC_T,
    Uncertainty,
    comparisons,
    estimates,
    expand_comparison,
    expand_estimate,
    expands,
    mean_of,
)
from tests.scoring.designs import DESIGNS, Design, long_odds
from tests.soaks import few


def sums_of(design: Design, clusters: int, seed: int = 1) -> tuple[ClusterSums, int]:
    """Return what the clusters of a design add up to, and of how many rows."""
    sample = design(np.random.default_rng(seed), clusters)
    return ratio_sums(sample.numerators, sample.denominators, sample.clusters)


def test_the_interval_of_a_mean_by_hand() -> None:
    sums = ClusterSums(np.array([0.0, 0.0, 0.0, 4.0]), np.ones(4))
    # Mean 1; residuals -1/4 thrice and 3/4: deviation sqrt((3 + 9) / 4) / 4, skewness ((-3 + 27) / 4) / 3 ** 1.5,
    # standard error sqrt(4/3 * (3 + 9) / 16) = 1. The denominators are all alike, so that they move nothing.
    q = float(stats.t.ppf(0.975, 3))
    shift = -(6 / 3**1.5) * (2 * q**2 + 1) / 6 / math.sqrt(4)
    found = expand_estimate(sums, 4, 0.95)
    assert found.low == pytest.approx(1 - (q + shift))
    assert found.high == pytest.approx(1 - (-q + shift))
    assert (found.estimate, found.n, found.clusters, found.method, found.resamples) == (1.0, 4, 4, CORRECTED, 0)


def test_unequal_denominators_move_the_interval_by_their_covariance_by_hand() -> None:
    sums = ClusterSums(np.array([0.0, 4.0, 2.0, 10.0]), np.array([1.0, 1.0, 3.0, 3.0]))
    # Ratio 16/8 = 2; residuals (-2, 2, -4, 4) / 8: skewness 0, deviation sqrt(40 / 4) / 8;
    # with the denominators over their mean 2, (1, 1, 3, 3) / 2, they add up to 0: no covariance, no move.
    q, error = float(stats.t.ppf(0.975, 3)), math.sqrt(4 / 3 * 40 / 64)
    found = expand_estimate(sums, 4, 0.95)
    assert (found.low, found.high) == pytest.approx((2 - q * error, 2 + q * error))
    moved = expand_estimate(ClusterSums(np.array([0.0, 4.0, 4.0, 8.0]), np.array([1.0, 3.0, 3.0, 1.0])), 4, 0.95)
    # Residuals (-2, -2, -2, 6) / 8, denominators over 2: (1, 3, 3, 1) / 2, mean product (-2 - 6 - 6 + 6) / 8 / 2 / 4.
    deviation = math.sqrt(48 / 4) / 8
    shift = (-1 / 8 / deviation * q**2 - (6 / 3**1.5) * (2 * q**2 + 1) / 6) / 2
    assert moved.low == pytest.approx(2 - (q + shift) * math.sqrt(4 / 3 * 48 / 64))


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("clusters", few([300, 1_000], 300))
def test_where_it_is_used_the_formula_says_what_draws_say(name: str, clusters: int) -> None:
    sums, n = sums_of(DESIGNS[name], clusters)
    assert expands(sums, 0.95)
    formula = expand_estimate(sums, n, 0.95)
    drawn = [estimate_of(sums, n, studentised_distances(sums, 10_000, seed), 0.95) for seed in range(4)]
    for end in ("low", "high"):
        ends = np.array([getattr(each, end) for each in drawn])
        # 0.06 standard errors, and twice the deviation that the end of 40,000 draws has.
        assert abs(ends.mean() - getattr(formula, end)) < (0.06 + 0.027) * sums.standard_error


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=40))
@example([0.0, 0.0, 1.3595176844307908e-159])
def test_a_comparison_of_single_rows_is_students_test(values: list[float]) -> None:
    sums = ClusterSums(np.array(values), np.ones(len(values)))
    # Of numbers whose squares lose digits or are no floats any more, scipy makes another t, or one of infinity.
    if math.isnan(sums.standard_error) or np.var(values) < 1e-290:
        return
    found, expected = expand_comparison(sums, len(values), 0.95), stats.ttest_1samp(values, 0.0)
    interval = expected.confidence_interval(0.95)
    assert found.method == SYMMETRIC_T
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-6, abs=1e-9)


def test_few_clusters_and_much_skew_are_drawn_and_very_many_never() -> None:
    for clusters, design, formula in (
        (299, DESIGNS["normal"], False),
        (300, DESIGNS["normal"], True),
        (400, long_odds, False),
        (2_000, long_odds, True),
    ):
        assert expands(sums_of(design, clusters)[0], 0.95) is formula


def test_clusters_that_are_all_alike_are_never_expanded() -> None:
    assert not expands(ClusterSums(np.ones(5_000), np.ones(5_000)), 0.95)


def test_the_output_names_the_formula_where_it_was_used() -> None:
    values, clusters = np.random.default_rng(1).normal(size=2_500), np.arange(2_500)
    (estimate,) = estimates([mean_of(values, clusters)], Uncertainty())
    (comparison,) = comparisons([mean_of(values, clusters)], Uncertainty())
    assert estimate is not None and comparison is not None
    assert (estimate.method, estimate.resamples) == (CORRECTED, 0)
    assert (comparison.method, comparison.resamples) == (SYMMETRIC_T, 0)
