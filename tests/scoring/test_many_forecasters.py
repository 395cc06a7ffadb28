"""Files of very many forecasters: what is computed of all, and what of those with the most forecasts only.

Who is compared is held by `evaluation/test_pairs.py`.
"""

import numpy as np
import pytest

from predibot.scoring import Forecasts, Uncertainty
from predibot.scoring.evaluation.evaluation import Evaluation, Question, evaluation_of_forecasts
from predibot.scoring.inference.uncertainty import MOST_WITH_INTERVALS, fullest

FORECASTERS, QUESTIONS = 1_010, 4


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    """Return what is said of 1,010 forecasters who all answered the same questions."""
    who, asked = (each.ravel() for each in np.indices((FORECASTERS, QUESTIONS)))
    table = Forecasts(
        forecasters=tuple(f"f{number}" for number in range(FORECASTERS)),
        forecaster=who,
        question=asked,
        cluster=asked,
        probability=np.random.default_rng(1).random(who.size),
        outcome=(asked % 2).astype(float),
        market_probability=np.full(who.size, np.nan),
    )
    return evaluation_of_forecasts(
        table, Question(uncertainty=Uncertainty(resamples=100), wanted=("intervals", "adjusted"))
    )


def test_everybody_has_a_score(evaluation: Evaluation) -> None:
    assert all(card.brier is not None and card.forecast.adjusted_brier is not None for card in evaluation.cards)


def test_only_so_many_have_intervals_and_notes_say_of_both(evaluation: Evaluation) -> None:
    assert sum(bool(card.forecast.intervals) for card in evaluation.cards) == MOST_WITH_INTERVALS
    assert evaluation.notes[-2:] == (
        "Of 1,010 forecasters, only the 60 with the most values are compared with each other.",
        "Of 1,010 forecasters, only the 1,000 with the most values have intervals.",
    )
    assert all(len(note) < 2_000 for note in evaluation.notes)


def test_the_fullest_stay_in_their_order_and_of_equals_the_later_are_taken() -> None:
    assert fullest(np.array([2, 5, 2, 1, 2]), 3).tolist() == [1, 2, 4]
    assert fullest(np.array([1, 1]), 3).tolist() == [0, 1]
