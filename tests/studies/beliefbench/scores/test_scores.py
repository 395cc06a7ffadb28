"""Scores of labels of pairs: by hand, at their ends, and against other implementations."""

import math

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score

from predibot.studies.beliefbench.scores.scores import CENTRES, UNREAD, pair_scores, weigh_values


def made(seed: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return labels that are up to two off, scores, the true labels and events."""
    rng = np.random.default_rng(seed)
    score = rng.random(n).round(2)
    true = np.minimum((score * 5).astype(np.int64), 4)
    predicted = np.clip(true + rng.integers(-2, 3, n), 0, 4)
    return predicted, score, true, rng.integers(0, 12, (n, 2))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [4, 40, 300])
def test_other_implementations_agree(seed: int, n: int) -> None:
    predicted, score, true, events = made(seed, n)
    found = pair_scores(predicted, score, true, events, resamples=50)
    values = found.values
    assert (found.n, found.unread, found.events) == (n, 0, np.unique(events).size)
    assert values.mse == pytest.approx(np.mean((CENTRES[predicted] - CENTRES[true]) ** 2))
    assert values.mae == pytest.approx(np.mean(np.abs(CENTRES[predicted] - CENTRES[true])))
    assert values.mse_to_score == pytest.approx(np.mean((CENTRES[predicted] - score) ** 2))
    assert values.mae_to_score == pytest.approx(np.mean(np.abs(CENTRES[predicted] - score)))
    assert values.accuracy == pytest.approx(accuracy_score(true, predicted))
    assert values.f1 == pytest.approx(f1_score(true, predicted, average="macro"))
    kappa = cohen_kappa_score(true, predicted, weights="quadratic", labels=range(5))
    assert values.kappa == pytest.approx(kappa)
    assert values.spearman == pytest.approx(spearmanr(predicted, score).statistic)


def test_a_weight_of_three_is_three_rows() -> None:
    predicted, score, true, _ = made(3, 25)
    weights = np.random.default_rng(4).integers(0, 4, 25)
    weighted = weigh_values(predicted, score, true, weights[np.newaxis].astype(np.float64))
    rows = np.repeat(np.arange(25), weights)
    repeated = weigh_values(predicted[rows], score[rows], true[rows], np.ones((1, rows.size)))
    assert np.array(weighted) == pytest.approx(np.array(repeated))


def test_what_could_not_be_read_is_a_miss_and_no_label() -> None:
    predicted, score, true, events = made(5, 50)
    some = np.where(np.arange(50) % 5 == 0, UNREAD, predicted)
    found, read = pair_scores(some, score, true, events), some != UNREAD
    alone = pair_scores(some[read], score[read], true[read], events[read]).values
    assert (found.n, found.unread) == (50, 10)
    assert found.values.accuracy == pytest.approx(alone.accuracy * 40 / 50)
    assert (found.values.mse, found.values.kappa, found.values.spearman) == pytest.approx(
        (alone.mse, alone.kappa, alone.spearman)
    )
    assert found.values.f1 == pytest.approx(f1_score(true, some, average="macro", labels=range(5)))


@pytest.mark.parametrize("predicted", [[], [UNREAD, UNREAD, UNREAD]])
def test_where_nothing_can_be_said_nothing_is(predicted: list[int]) -> None:
    n = len(predicted)
    values = pair_scores(predicted, [0.1] * n, [0] * n, np.zeros((n, 2), dtype=np.int64)).values
    assert math.isnan(values.mse) and math.isnan(values.kappa) and math.isnan(values.spearman)


def test_one_label_for_all_has_no_order_and_a_kappa_of_zero() -> None:
    _, score, true, events = made(6, 80)
    found = pair_scores(np.full(80, 2), score, true, events)
    assert math.isnan(found.values.spearman)
    assert found.values.kappa == pytest.approx(0.0)
    assert math.isnan(found.low.kappa)


def test_intervals_hold_the_estimate_and_do_not_depend_on_the_order_of_pairs() -> None:
    predicted, score, true, events = made(7, 120)
    found = pair_scores(predicted, score, true, events, seed=3)
    for value, low, high in zip(found.values, found.low, found.high, strict=True):
        assert low < value < high
    turned = pair_scores(predicted[::-1], score[::-1], true[::-1], events[::-1], seed=3)
    assert np.array(turned.low) == pytest.approx(np.array(found.low))


def test_intervals_hold_the_truth_where_pairs_of_one_event_are_alike() -> None:
    # What is right depends on both events; the truth is one half by symmetry.
    held = held_by_rows = 0
    for world in range(50):
        rng = np.random.default_rng(world)
        of_event = rng.normal(0.0, 1.0, 60)
        first = rng.integers(0, 60, 200)
        second = (first + rng.integers(1, 60, 200)) % 60
        right = rng.normal(0.0, 1.0, 200) + of_event[first] + of_event[second] > 0.0
        true = rng.integers(0, 5, 200)
        predicted = np.where(right, true, (true + 1) % 5)
        events = np.stack([first, second], axis=1)
        found = pair_scores(predicted, (true + 0.5) / 5, true, events, seed=world, resamples=300)
        held += found.low.accuracy <= 0.5 <= found.high.accuracy
        held_by_rows += abs(right.mean() - 0.5) < 1.96 * 0.5 / math.sqrt(200)
    assert held >= 45
    assert held_by_rows < 40
