"""Who is ahead of whom on the page that compares bots."""

from datetime import UTC, datetime

from predibot.scoring import Question, Uncertainty, evaluation_of
from predibot.web.pages.compare import find_leads
from tests.scoring.made_records import Bet, Made, Paid, record_of


def test_a_bot_that_answered_nothing_is_ahead_of_nobody() -> None:
    near, far = ((Bet(0, probability=said),) for said in (0.9, 0.1))
    made = [Made("near", bets=near), Made("far", bets=far), Made("mute", status="failed")]
    record = record_of(made, as_of=9, paid={0: Paid(3, 1.0)})
    asked = Question(wanted=("pairs",), uncertainty=Uncertainty(seed=1, resamples=100))
    found = evaluation_of(record, datetime(1970, 1, 10, tzinfo=UTC), asked)
    assert {frozenset((each.first, each.second)) for each in found.pairs if each.metric == "edge"} > {
        frozenset(("far", "mute"))
    }
    assert [(each.ahead, each.behind) for each in find_leads(found)] == [("near", "far")]
