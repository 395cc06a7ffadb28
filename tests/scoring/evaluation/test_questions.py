"""Questions of two bots: each pair of answers is one that their pair by Brier score compares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import Uncertainty
from predibot.scoring.evaluation.pairs import brier_pairs, match_questions
from predibot.scoring.records.track_record import settled_forecasts
from tests.scoring.made_records import DAY, Bet, Made, Paid, record_of

FEW = Uncertainty(seed=5, resamples=50)
PAID = {0: Paid(50, 1.0), 1: Paid(60, 0.0), 2: Paid(70, 0.5)}
SAID = st.lists(
    st.builds(
        lambda bot, at, market, said: Made(bot, at, (Bet(market, 0.0, 0.4, said),), event=market),
        bot=st.sampled_from(["a", "b"]),
        at=st.sampled_from([0.0, 0.1, 0.2, 0.4, 1.0, 1.3, 9.0]),
        market=st.integers(0, 3),
        said=st.floats(0, 1),
    ),
    min_size=1,
    max_size=20,
)


@given(SAID)
def test_their_mean_is_the_difference_of_the_pair(made: list[Made]) -> None:
    record = record_of(made, paid=PAID, bots=("a", "b"), as_of=80)
    found = match_questions(record, "a", "b")
    (pair,) = brier_pairs(settled_forecasts(record), FEW)
    known = found.error_difference[~np.isnan(found.error_difference)]
    assert known.size == pair.n
    if pair.n:
        assert known.mean() == pytest.approx(pair.difference, abs=1e-12)
    # What is open, or paid anything else, is compared too, and nobody is nearer there.
    assert np.isin(found.market[np.isnan(found.error_difference)], (2, 3)).all()
    turned = match_questions(record, "b", "a")
    assert sorted(turned.error_difference[~np.isnan(turned.error_difference)]) == pytest.approx(sorted(-known))


def test_answers_within_six_hours_are_one_question_and_later_ones_none() -> None:
    made = [
        Made("a", 0.0, (Bet(0, 0.5, 0.4, 0.9), Bet(1, 0.5, 0.3, 0.5))),
        Made("b", 0.2, (Bet(0, 0.5, 0.5, 0.6),)),
        Made("b", 0.3, (Bet(1, 0.5, 0.5, 0.6),)),
    ]
    found = match_questions(record_of(made, paid={0: Paid(5.0, 1.0)}, as_of=9.0), "a", "b")
    assert (found.market.tolist(), found.first.tolist(), found.second.tolist()) == ([0], [0.9], [0.6])
    assert (found.price_yes.tolist(), found.payout_yes.tolist()) == ([0.4], [1.0])
    assert found.error_difference.tolist() == pytest.approx([0.01 - 0.16])
    assert (found.first_at.tolist(), found.second_at.tolist()) == ([0.0], [0.2 * DAY])
