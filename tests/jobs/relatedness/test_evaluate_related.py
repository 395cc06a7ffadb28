"""Evaluating with related events joined: beside the default, as of the instant, in either database."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from predibot.jobs.evaluate import evaluate
from predibot.ledger.store import Store
from predibot.reports.table import Document
from predibot.reports.views.evaluation import evaluation_document
from predibot.scoring.evaluation.evaluation import Question
from predibot.scoring.inference.uncertainty import Uncertainty
from tests.jobs.relatedness.related_world import AS_OF, LATER, play, write_related
from tests.soaks import ONE_DATABASE, few

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


@pytest.mark.parametrize("until", few([AS_OF, LATER], LATER))
def test_another_future_changes_nothing(address: str, tmp_path: Path, until: datetime) -> None:
    found = []
    for name, bend, at in (("a", 0.0, AS_OF), ("b", 0.7, until)):
        folder = write_related(tmp_path / name, bend=bend)
        with Store.open(address if name == "b" else f"sqlite:///{tmp_path}/other.db") as store:
            play(store, folder, until=at)
            # When somebody decided differs by the clock, and with it what is said of overlaps.
            found.append(document(store, clusters="related"))
    assert found[0]["clusters"] == found[1]["clusters"]
    assert found[0] == found[1]
