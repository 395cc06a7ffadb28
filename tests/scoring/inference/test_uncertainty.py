"""Uncertainty: the intervals of many scores at once, from one set of draws."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import Uncertainty, cluster_bootstrap_mean, cluster_bootstrap_ratio, paired_difference
from predibot.scoring.inference.uncertainty import Ratio, comparisons, estimates, intervals_of_each, mean_of

FEW = Uncertainty(seed=3, resamples=300)
SIZES = st.lists(st.integers(1, 30), min_size=1, max_size=5)


def series(n: int, seed: int) -> tuple[Any, Any]:
    """Return n values and the clusters of two or three that they are in."""
    rng = np.random.default_rng(seed)
    return rng.gamma(1.0, size=n), np.arange(n) // rng.integers(1, 4)


@given(SIZES)
def test_each_interval_is_the_one_of_the_score_alone(sizes: list[int]) -> None:
    asked = [series(n, seed) for seed, n in enumerate(sizes)]
    found = estimates([mean_of(*each) for each in asked], FEW)
    assert found == [cluster_bootstrap_mean(*each, seed=3, resamples=300) for each in asked]


@given(SIZES)
def test_each_comparison_is_the_one_of_the_pair_alone(sizes: list[int]) -> None:
    asked = [series(n, seed) for seed, n in enumerate(sizes)]
    found = comparisons([mean_of(values - 1.0, of) for values, of in asked], FEW)
    alone = [paired_difference(values, np.ones_like(values), of, seed=3, resamples=300) for values, of in asked]
    assert found == alone


def test_more_scores_than_share_a_set_of_draws_have_the_intervals_they_have_alone() -> None:
    asked = [(np.random.default_rng(seed).random(12), np.arange(12)) for seed in range(230)]
    found = estimates([mean_of(*each) for each in asked], FEW)
    for row in (0, 99, 100, 229):
        assert found[row] == cluster_bootstrap_mean(*asked[row], seed=3, resamples=300)


def test_a_ratio_has_the_interval_of_a_ratio() -> None:
    rng = np.random.default_rng(1)
    above, below, of = rng.random(40), rng.random(40), np.arange(40)
    assert estimates([Ratio(above, below, of)], FEW) == [
        cluster_bootstrap_ratio(above, below, of, seed=3, resamples=300)
    ]


def test_what_has_no_rows_has_no_interval_and_no_comparison() -> None:
    nothing, something = mean_of(np.zeros(0), np.zeros(0, dtype=np.int64)), mean_of(*series(10, 1))
    first, second = estimates([nothing, something], FEW)
    assert first is None
    assert second is not None and second.n == 10
    assert comparisons([nothing], FEW) == [None]
    assert intervals_of_each([{"brier": nothing, "accuracy": something}, {}], FEW) == [{"accuracy": second}, {}]


def test_without_uncertainty_nothing_is_made() -> None:
    assert intervals_of_each([{"brier": mean_of(*series(10, 1))}], None) == [{}]


def test_another_seed_gives_other_ends_and_the_same_estimate() -> None:
    (one,), (other,) = (estimates([mean_of(*series(20, 1))], Uncertainty(seed=seed, resamples=300)) for seed in (1, 2))
    assert one is not None and other is not None
    assert one.estimate == other.estimate
    assert (one.low, one.high) != (other.low, other.high)


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({"resamples": 39}, "resamples is 39; it must be a whole number of at least 40"),
        ({"confidence": 1.0}, "confidence is 1.0; it must be above 0 and below 1"),
        ({"seed": -1}, "seed is -1; it must be a whole number of at least 0"),
    ],
)
def test_draws_that_say_nothing_are_refused(change: dict[str, Any], seen: str) -> None:
    with pytest.raises(ValueError, match=seen):
        Uncertainty(**change)
