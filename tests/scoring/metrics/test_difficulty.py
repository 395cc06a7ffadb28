"""Difficulty: scores of forecasters who were asked different questions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from predibot.scoring.metrics.difficulty import difficulty_adjusted

SEEDS = st.integers(0, 2**32)


def answers(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return linked answers of five forecasters on twelve questions, some of them given twice."""
    rng = np.random.default_rng(seed)
    who, what = np.r_[np.arange(5), rng.integers(0, 5, 40)], np.r_[np.zeros(5, int), rng.integers(0, 12, 40)]
    return rng.random(45), who, what


def by_dummies(scores: NDArray[np.float64], who: NDArray[np.int64], what: NDArray[np.int64]) -> NDArray[np.float64]:
    questions = np.unique(what)
    columns = np.hstack([who[:, None] == np.arange(who.max() + 1), what[:, None] == questions]).astype(float)
    effects = np.linalg.lstsq(columns, scores, rcond=None)[0]
    adjusted: NDArray[np.float64] = effects[: who.max() + 1] + effects[who.max() + 1 :].mean()
    return adjusted


@given(SEEDS)
def test_it_agrees_with_least_squares_on_a_column_for_everyone_and_everything(seed: int) -> None:
    assert difficulty_adjusted(*answers(seed)) == pytest.approx(by_dummies(*answers(seed)))


def test_it_does_where_forecasters_are_more_than_questions() -> None:
    rng = np.random.default_rng(7)
    who, what = np.r_[np.arange(30), rng.integers(0, 30, 40)], np.r_[np.zeros(30, int), rng.integers(0, 6, 40)]
    scores = rng.random(70)
    assert difficulty_adjusted(scores, who, what) == pytest.approx(by_dummies(scores, who, what))


def test_of_too_many_on_both_sides_nobody_has_a_number_and_memory_stays_bounded() -> None:
    n = 50_000
    who, what = np.repeat(np.arange(n), 2), np.stack([np.arange(n), np.arange(1, n + 1)], axis=1).ravel()
    # All equations at once would take 20 GB.
    assert np.isnan(difficulty_adjusted(np.full(2 * n, 0.25), who, what)).all()


def test_who_only_took_the_easy_questions_does_not_win_by_it() -> None:
    # The first is 0.1 better than the second on every question, and was asked the hard one alone.
    adjusted = difficulty_adjusted([0.5, 0.6, 0.2], [0, 1, 1], ["hard", "hard", "easy"])
    # The second: (0.6 + 0.2) / 2 = 0.4; the first 0.1 below.
    assert adjusted == pytest.approx([0.3, 0.4])


def test_who_shares_no_question_with_the_largest_group_has_no_number() -> None:
    adjusted = difficulty_adjusted([0.3, 0.4, 0.0, 0.1], [0, 1, 2, 2], ["a", "a", "b", "c"])
    assert adjusted[:2] == pytest.approx([0.3, 0.4])
    assert math.isnan(adjusted[2])


def test_of_two_groups_as_large_neither_has_numbers() -> None:
    assert np.isnan(difficulty_adjusted([0.3, 0.4], [0, 1], ["a", "b"])).all()


def test_a_number_that_nobody_bears_has_no_score() -> None:
    adjusted = difficulty_adjusted([0.3, 0.5], [0, 2], ["a", "a"])
    assert adjusted[[0, 2]] == pytest.approx([0.3, 0.5])
    assert math.isnan(adjusted[1])


def test_forecasters_may_have_names() -> None:
    named = difficulty_adjusted([0.4, 0.3, 0.1], ["b", "a", "a"], ["hard", "hard", "easy"])
    assert named.tolist() == pytest.approx([0.2, 0.3])
