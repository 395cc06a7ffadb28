"""Draws: clusters drawn anew, from a seed."""

import numpy as np
import pytest

from predibot.scoring.inference.bootstrap import at_least, between_0_and_1, generator, resample_counts, resample_sums


@pytest.mark.parametrize("clusters", [1, 7, 40_000])
def test_a_resample_draws_as_many_clusters_as_there_are(clusters: int) -> None:
    counts = np.concatenate(list(resample_counts(clusters, 5, generator(0))))
    assert counts.shape == (5, clusters)
    assert (counts.sum(axis=1) == clusters).all()


def test_every_cluster_is_drawn_as_often_and_as_unevenly_as_the_multinomial_says() -> None:
    counts = np.concatenate(list(resample_counts(10, 20_000, generator(1))))
    # Ten draws at 1/10 each: mean 1, variance 10 * 0.1 * 0.9 = 0.9, covariance -10 * 0.1 * 0.1 = -0.1.
    assert counts.mean(axis=0) == pytest.approx(np.ones(10), abs=0.03)
    assert np.cov(counts.T) == pytest.approx(np.eye(10) - 0.1, abs=0.04)


def test_few_resamples_are_the_first_of_many() -> None:
    table = np.random.default_rng(0).random((50, 2))
    (few,), (many,) = (resample_sums([table], resamples, generator(3)) for resamples in (20, 2_000))
    assert few == pytest.approx(many[:20])


def test_sums_are_those_of_the_rows_drawn_the_same_for_every_table() -> None:
    table = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    counts = np.concatenate(list(resample_counts(3, 100, generator(5))))
    by_loop = [[sum(c * row[k] for c, row in zip(drawn, table, strict=True)) for k in (0, 1)] for drawn in counts]
    (alone,) = resample_sums([table], 100, generator(5))
    assert alone.tolist() == by_loop
    assert [each.tolist() for each in resample_sums([table, 2 * table], 100, generator(5))] == [
        alone.tolist(),
        (2 * alone).tolist(),
    ]


@pytest.mark.parametrize("seed", [-1, 0.5, True, None])
def test_what_is_no_seed_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match=f"seed is {seed}; it must be a whole number of at least 0"):
        generator(seed)


def test_bounds_are_said_with_what_was_seen() -> None:
    at_least("draws", np.int64(3), 3)
    with pytest.raises(ValueError, match="draws is 2; it must be a whole number of at least 3"):
        at_least("draws", 2, 3)
    between_0_and_1("share", 0.5)
    for share in (0.0, 1.0, float("nan")):
        with pytest.raises(ValueError, match=f"share is {share}; it must be above 0 and below 1"):
            between_0_and_1("share", share)
