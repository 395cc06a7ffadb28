"""Evaluating with related events joined: beside the default, as of the instant, in either database."""

from pathlib import Path
from typing import Any

from predibot.jobs.evaluate import evaluate
from predibot.ledger.store import Store
from predibot.reports.table import Document
from predibot.reports.views.evaluation import evaluation_document
from predibot.scoring.evaluation.evaluation import Question
from predibot.scoring.inference.uncertainty import Uncertainty
from tests.jobs.relatedness.related_world import AS_OF
from tests.soaks import ONE_DATABASE

pytestmark = ONE_DATABASE

DRAWS = Uncertainty(resamples=200)


def document(store: Store, **question: Any) -> Document:
    asked = Question(uncertainty=DRAWS, **question)
    return evaluation_document(evaluate(store=store, venue_name="polymarket", as_of=AS_OF, question=asked))


def test_related_events_are_joined_beside_the_default(played: Store) -> None:
    found = document(played, clusters="related")
    # What is kept is the same.
    assert document(played, clusters="related") == found
    clusters = found.pop("clusters")
    assert found == document(played)
    assert (clusters["events"], clusters["clusters"], clusters["largest"]) == (12, 4, 3)
    assert [card["edge"]["clusters"] for card in found["bots"]] == [12, 12, 12]
    assert [card["edge"]["clusters"] for card in clusters["bots"]] == [4, 4, 4]
    assert [card["edge"]["interval"]["low"] for card in clusters["bots"]] == [None] * 3
    assert clusters["too_few"] == ["market_price", "random_bet", "other"]


def test_another_future_changes_nothing(played: Store, bent: Path) -> None:
    with Store.open_to_read(f"sqlite:///{bent}/ledger.db") as other:
        found, of_other = (document(store, clusters="related") for store in (played, other))
    assert found["clusters"] == of_other["clusters"]
    assert found == of_other
