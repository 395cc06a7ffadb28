"""Knowledge: which decisions count for the scores of a bot whose model may know the end."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import KNOWLEDGE, Scorecard, knowledge_of, notes, scorecards
from predibot.scoring.knowledge import Knowledge
from tests.scoring.records import DAY, NAN, Bet, Made, Paid, Seen, record_of
from tests.scoring.test_scorecard import DECISIONS, PAID, QUARTER_DAYS, SEEN

INF = float("inf")
KNOWING = st.builds(lambda made, knowledge: replace(made, knowledge=knowledge), DECISIONS, st.sampled_from(KNOWLEDGE))
BET = (Bet(0, probability=0.9),)


@pytest.mark.parametrize(
    ("has_model", "cutoff_at", "settled_at", "expected"),
    [
        (False, NAN, 0.0, "clean"),
        (False, DAY, 0.0, "clean"),
        (True, NAN, 0.0, "unknown"),
        (True, NAN, INF, "unknown"),
        (True, DAY, DAY - 1, "contaminated"),
        (True, DAY, DAY, "clean"),
        (True, DAY, INF, "clean"),
    ],
)
def test_who_can_have_known_the_end(has_model: bool, cutoff_at: float, settled_at: float, expected: Knowledge) -> None:
    codes = knowledge_of(np.array([has_model]), np.array([cutoff_at]), np.array([settled_at]))
    assert [KNOWLEDGE[code] for code in codes] == [expected]


def scores(card: Scorecard) -> Scorecard:
    """Return a card without what is counted of all decisions."""
    counts = {"decisions": 0, "refused": 0, "failed": 0, "abstained": 0, "clean": 0, "contaminated": 0, "unknown": 0}
    return replace(card, **counts, cost_usd=0.0, cost_known_usd=0.0)  # type: ignore[arg-type]  # mypy takes ** for any.


@given(st.lists(KNOWING, max_size=8), SEEN, PAID, QUARTER_DAYS)
def test_scores_are_those_of_a_record_without_contaminated_decisions(
    made: list[Made], seen: list[Seen], paid: dict[int, Paid], as_of: float
) -> None:
    without = [one for one in made if one.knowledge != "contaminated"]
    found, expected = (
        [scores(card) for card in scorecards(record_of(one, seen=seen, paid=paid, as_of=as_of, bots=("a", "b")))]
        for one in (made, without)
    )
    assert found == expected


def test_decisions_of_any_status_are_counted_and_still_cost_what_they_cost() -> None:
    made = [
        Made(bets=BET, cost_usd=1.0, cost_known_usd=1.0, knowledge="contaminated"),
        Made(status="failed", knowledge="contaminated"),
        Made(status="refused", knowledge="unknown"),
        Made(bets=BET),
        Made(at=20, knowledge="contaminated"),
    ]
    (card,) = scorecards(record_of(made, as_of=9, paid={0: Paid(8, 1.0)}))
    assert (card.decisions, card.clean, card.contaminated, card.unknown) == (4, 1, 2, 1)
    assert (card.forecasts, card.n_brier, card.failed, card.cost_usd) == (1, 1, 1, 1.0)
    assert (card.horizons["settled"].n, card.horizons["settled"].n_market) == (1, 1)
    assert card.horizons["settled"].coverage == 0.5


def test_the_notes_say_who_may_have_known_and_expect_no_horizon_of_what_is_left_out() -> None:
    made = [Made("a", bets=BET, knowledge="contaminated"), Made("b", bets=BET, knowledge="unknown")]
    record = record_of(made, as_of=9, seen=[Seen(0, day, 0.5) for day in (1, 2, 7)], paid={0: Paid(8, 1.0)})
    assert notes(record, scorecards(record)) == (
        "Decisions on events that ended before the model's knowledge cutoff: a 1; they are in no score.",
        "Decisions by a model whose knowledge cutoff is not known: b 1; it may have known how the event ended.",
    )


def test_dates_that_are_left_out_do_not_overlap() -> None:
    record = record_of([Made(at=0, bets=BET), Made(at=1, bets=BET, knowledge="contaminated")], as_of=30)
    assert "overlap" not in " ".join(notes(record, scorecards(record)))
