"""Comparison: whether one forecaster is better than another, or only luckier."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from predibot.scoring.inference.bootstrap import cluster_bootstrap_mean, ratio_sums, studentised_distances
from predibot.scoring.inference.uncertainty import (
    SYMMETRIC,
    Comparison,
    benjamini_hochberg,
    paired_difference,
    probability_of_being_best,
)
from tests.scoring.designs import unlike

SEEDS = st.integers(0, 2**32)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=20)


def compare(a: Any, b: Any, of: Any, seed: int = 1, resamples: int = 400) -> Comparison:
    return paired_difference(a, b, of, seed=seed, resamples=resamples)


@pytest.mark.parametrize("shift", np.linspace(0.0, 0.4, 9))
def test_zero_is_in_the_interval_unless_p_is_small(shift: float) -> None:
    a, b = np.random.default_rng(11).normal(size=(2, 80))
    found = compare(a + shift, b, np.arange(80), resamples=2_000)
    assert found.low is not None
    assert found.high is not None
    # On the very edge the interpolated percentile and the count may disagree by a draw.
    if abs(found.p_value - 0.05) > 0.002:
        assert (found.low <= 0.0 <= found.high) == (found.p_value > 0.05)


def test_the_interval_reaches_as_far_to_either_side_as_the_distances_of_the_mean_do() -> None:
    (a, b), of = np.random.default_rng(2).random((2, 90)), np.arange(90) // 3
    found, mean = compare(a, b, of), cluster_bootstrap_mean(a - b, of, seed=1, resamples=400)
    sums, _ = ratio_sums(a - b, np.ones(90), of)
    distances = sorted(abs(studentised_distances(sums, 400, 1)))
    # The 95 % point of 400: 0.05 of the way from the 380th to the 381st.
    reach = (0.95 * distances[379] + 0.05 * distances[380]) * sums.standard_error
    assert [found.low, found.high] == pytest.approx([mean.estimate - reach, mean.estimate + reach])
    assert (found.n, found.clusters, found.method) == (90, 30, SYMMETRIC)
    assert found.difference == found.estimate == mean.estimate


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_values_that_differ_by_rounding_only_do_not_differ(size: float) -> None:
    found = paired_difference(np.full(40, (0.1 + 0.2) * size), np.full(40, 0.3 * size), np.arange(40), seed=1)
    assert (found.difference, found.p_value, found.low) == (0.0, 1.0, None)
    tenths = np.arange(40) / 10.0 * size
    mixed = paired_difference(tenths * 3.0, tenths + tenths + tenths, np.arange(40), seed=1)
    assert (mixed.difference, mixed.p_value, mixed.low) == (0.0, 1.0, None)


@pytest.mark.parametrize("of", [[1, 1, 1], [1, 1, 2]], ids=["one cluster", "two clusters"])
def test_next_to_no_clusters_prove_nothing(of: list[int]) -> None:
    found = compare([0.9, 0.8, 0.9], [0.1, 0.1, 0.3], of)
    assert found.p_value > 0.4
    assert found.low is None


def test_a_difference_on_too_few_clusters_is_not_called_however_large() -> None:
    # The two differ on 2 clusters of 60: without either a resample has no spread, which never speaks for a difference.
    a = np.r_[[5.0, 5.0], np.zeros(58)]
    found = compare(a, np.zeros(60), np.arange(60), resamples=2_000)
    assert found.low is None
    assert found.p_value > 0.9 * (58 / 60) ** 60


def test_the_smallest_p_value_is_one_over_one_more_than_the_resamples() -> None:
    a = np.random.default_rng(0).normal(10.0, 1.0, 100)
    assert compare(a, np.zeros(100), np.arange(100), resamples=399).p_value == 1 / 400


def test_with_many_clusters_p_is_that_of_the_t_test() -> None:
    a, b = np.random.default_rng(3).normal(size=(2, 400))
    for shift in (0.0, 0.05, 0.1):
        expected = stats.ttest_rel(a + shift, b).pvalue
        assert compare(a + shift, b, np.arange(400), resamples=8_000).p_value == pytest.approx(expected, abs=0.02)


def test_equally_good_forecasters_are_seldom_told_apart() -> None:
    rng, called = np.random.default_rng(5), []
    for seed in range(100):
        scores, of = unlike(rng, 30)
        pairs = itertools.combinations((0, 2, 4, 5), 2)
        p_values = [compare(scores[:, a], scores[:, b], of, seed).p_value for a, b in pairs]
        called.append((benjamini_hochberg(p_values) <= 0.05).any())
    # At most 5 % are expected, with a deviation of 2.2 %; docs/coverage.md has what 2,000 leaderboards say.
    assert np.count_nonzero(called) <= 11


@given(P_VALUES)
def test_adjusted_p_values_agree_with_scipy(p_values: list[float]) -> None:
    assert benjamini_hochberg(p_values) == pytest.approx(stats.false_discovery_control(p_values))


@settings(max_examples=20)
@given(SEEDS, st.permutations(range(4)))
def test_chances_of_being_best_add_up_to_one_and_follow_their_columns(seed: int, order: list[int]) -> None:
    rng = np.random.default_rng(seed)
    scores = np.where(rng.random((30, 4)) < 0.3, np.nan, rng.random((30, 4)))
    scores[0] = 0.5
    chances = probability_of_being_best(scores, np.arange(30) // 3, seed=1, resamples=100)
    assert chances.sum() == pytest.approx(1.0)
    permuted = probability_of_being_best(scores[:, order], np.arange(30) // 3, seed=1, resamples=100)
    assert permuted == pytest.approx(chances[order])


def test_the_chance_of_being_best_by_hand() -> None:
    # The first forecaster has 0 and 1 on the two clusters, the second 0.4 on both. It is best only where
    # the first cluster is drawn twice, which has chance 1/4; (0 + 1) / 2 is more than 0.4.
    chances = probability_of_being_best([[0.0, 0.4], [1.0, 0.4]], ["x", "y"], seed=3, resamples=4_000)
    assert chances == pytest.approx([0.25, 0.75], abs=0.03)


def test_those_who_tie_share_the_chance() -> None:
    scores = np.random.default_rng(0).random((40, 1)).repeat(3, axis=1)
    assert probability_of_being_best(scores, range(40), seed=0, resamples=200) == pytest.approx([1 / 3] * 3)


def test_who_is_silent_in_a_draw_is_not_best_there() -> None:
    # The second is far better on the one cluster it has, which is missing from (1/2)^2 of the draws.
    chances = probability_of_being_best([[0.5, math.nan], [0.5, 0.1]], [1, 2], seed=1, resamples=4_000)
    assert chances == pytest.approx([0.25, 0.75], abs=0.03)
