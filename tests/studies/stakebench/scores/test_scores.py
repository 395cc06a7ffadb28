"""Scores of labels: by hand, at their ends, and against versions of few lines."""

import math

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from predibot.studies.stakebench.scores.tallies import (
    REFUSED,
    Tally,
    accuracy_marks,
    aggregate_score,
    commitment_gap,
    costly_signal_marks,
    directed_marks,
    f1_marks,
    macro_average,
    macro_estimate,
    recall_profile,
    stake_quartiles,
)
from tests.studies.stakebench.scores.answers import made


@pytest.mark.parametrize("seed", range(5))
def test_accuracy_and_f1_are_those_of_another_library(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true, said = rng.integers(0, 2, (2, 300))
    assert accuracy_marks(said, true).over_all() == pytest.approx(accuracy_score(true, said))
    assert f1_marks(said, true).over_all() == pytest.approx(f1_score(true, said))


def test_f1_has_no_value_where_the_class_neither_occurs_nor_is_named() -> None:
    assert math.isnan(f1_marks([0, 0], [0, 0]).over_all())
    assert f1_marks([REFUSED, 1], [1, 1]).over_all() == pytest.approx(2 / 3)


@pytest.mark.parametrize("seed", range(3))
def test_a_quartile_holds_what_is_above_the_last_and_at_most_its_end(seed: int) -> None:
    answers = made(seed)
    counted = np.abs(answers.said) == 1
    found = stake_quartiles(answers.stake, answers.split, counted)
    assert (found[~counted] == 0).all()
    for split in range(3):
        inside = counted & (answers.split == split)
        sizes = np.abs(answers.stake)
        for at in np.flatnonzero(inside):
            # pandas.qcut: the first of (0, q1], (q1, q2], (q2, q3], (q3, 1] that holds it.
            ends = [np.quantile(sizes[inside], q) for q in (0.25, 0.5, 0.75, 1.0)]
            assert found[at] == 1 + next(k for k, end in enumerate(ends) if sizes[at] <= end)


def test_costly_signal_is_da_of_the_largest_stakes_less_that_of_the_smallest() -> None:
    said, side = [1, 1, 1, -1, 0, 1, 1, -1, 1], [-1, 1, 1, 1, 1, 1, -1, -1, 1]
    stakes = [1, 2, 3, 4, 1000, 5, 6, 7, -8]
    high, low = costly_signal_marks(said, side, stakes, [0] * 9)
    # The abstention with 1000 has no part: 1, 2 are lowest (one hit of two), 7, -8 highest (both).
    assert (high.over_all(), low.over_all()) == (1.0, 0.5)


def test_a_split_without_a_side_has_no_directed_accuracy_and_leaves_the_average() -> None:
    by_split = directed_marks([0, REFUSED, 1, -1], [1, 1, 1, 1]).by_split(np.array([0, 0, 1, 1]), 2)
    assert math.isnan(by_split[0])
    assert macro_average(by_split) == 0.5


def test_splits_weigh_the_same_however_many_comments_they_have() -> None:
    marks = accuracy_marks([1] * 9 + [0], [1] * 10)
    assert macro_estimate(marks, [0] * 9 + [1], range(10)).estimate == 0.5
    assert marks.over_all() == 0.9


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        market = np.repeat(np.arange(60), 5)
        chance = rng.beta(6, 4, 60)[market]
        hits = (rng.random(300) < chance).astype(int)
        found = macro_estimate(accuracy_marks(hits, np.ones(300)), market % 3, market, resamples=500)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.6 <= found.high
    assert 0.89 <= covered / 200 <= 0.985


def test_a_difference_is_drawn_with_the_same_markets() -> None:
    said, base = accuracy_marks([1, 1, 0, 0] * 10, [1] * 40), accuracy_marks([1, 1, 0, 0] * 10, [1] * 40)
    found = macro_estimate(said, [0] * 40, np.arange(40), minus=base)
    assert (found.estimate, found.low, found.high) == (0.0, 0.0, 0.0)


def test_one_market_has_no_interval_and_the_order_of_the_rows_changes_nothing() -> None:
    assert macro_estimate(accuracy_marks([1, 0], [1, 1]), [0, 0], ["a", "a"]).width is None
    answers, order = made(2), np.random.default_rng(0).permutation(400)
    marks = directed_marks(answers.said, answers.side)
    moved = Tally(marks.earned[order], marks.counted[order])
    one = macro_estimate(marks, answers.split, answers.market, resamples=200)
    assert macro_estimate(moved, answers.split[order], answers.market[order], resamples=200) == one


def test_parts_below_chance_count_nothing_and_a_missing_part_leaves_no_aggregate() -> None:
    worst = {"accuracy": 0.1, "directed_accuracy": 0.1, "action_accuracy": 0.0, "flip_accuracy": 0.1}
    assert aggregate_score(**worst, lead_share=1.0) == 0.2
    assert math.isnan(aggregate_score(**worst, lead_share=math.nan))


def test_a_bot_that_equals_the_references_has_no_gap() -> None:
    same = commitment_gap(
        side_reference=0.6, directed_accuracy=0.6, action_accuracy=1.0, odds_reference=0.5, odds_lead=0.5
    )
    assert same["MCG"] == 0.0


def test_a_bot_that_says_one_thing_is_degenerate() -> None:
    true = [0, 1, 2, 3] * 5
    always = recall_profile([3] * 20, true, classes=4)
    assert always.recall == (0.0, 0.0, 0.0, 1.0)
    assert (always.entropy, always.is_degenerate) == (0.0, True)
    perfect = recall_profile(true, true, classes=4)
    assert perfect.recall == (1.0, 1.0, 1.0, 1.0)
    assert perfect.entropy == pytest.approx(1.0)
    assert not perfect.is_degenerate
    rare = [3] * 40 + [2] * 40 + [0]
    assert not recall_profile(rare, rare, classes=4).is_degenerate
    assert not recall_profile([REFUSED] * 20, true, classes=4).is_degenerate
