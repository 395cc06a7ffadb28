"""Joined: an evaluation in which related events are one cluster, beside that in which each is by itself."""

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from predibot.jobs.evaluate import evaluation_from_text
from predibot.jobs.evaluate import evaluation_to_text as text
from predibot.reports.views.evaluation import evaluation_document
from predibot.scoring import TrackRecord
from predibot.scoring.evaluation.e_values import record_evidence
from predibot.scoring.evaluation.evaluation import ClusteredEvaluation, Evaluation, Question, evaluation_of, without_few
from predibot.scoring.inference.bootstrap import FEWEST_FOR_AN_INTERVAL
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.records.horizon_returns import NOW, horizon_returns
from tests.scoring.made_records import Bet, Made, Paid, Seen, record_of

QUESTION = Question(uncertainty=Uncertainty(resamples=200), delays_days=(1.0,), sizings=("flat",))
AS_OF = 60.0


def record(events: int = 24, seed: int = 0) -> TrackRecord:
    """Return what two bots said and bet on events of two markets, on two dates each."""
    rng = np.random.default_rng(seed)
    made = [
        Made(
            bot,
            at=event + day + 0.3,
            slot=event + day,
            event=event,
            bets=tuple(_bet(rng, 2 * event + m) for m in (0, 1)),
        )
        for bot in ("a", "b")
        for event in range(events)
        for day in (0, 1)
    ]
    seen = [Seen(m, m // 2 + day + 0.5, float(rng.uniform(0.2, 0.8))) for m in range(2 * events) for day in range(9)]
    paid = {m: Paid(m // 2 + 9.0, float(rng.integers(0, 2))) for m in range(2 * events) if m % 5}
    return record_of(made, as_of=AS_OF, seen=seen, paid=paid)


def _bet(rng: np.random.Generator, market: int) -> Bet:
    price, said = rng.uniform(0.2, 0.8, 2)
    return Bet(
        market,
        float(rng.uniform(-0.5, 0.5)),
        float(price),
        float(said),
        bid=float(price) - 0.02,
        ask=float(price) + 0.02,
    )


def evaluated(found: TrackRecord) -> Evaluation:
    return evaluation_of(found, datetime.fromtimestamp(found.as_of, UTC), QUESTION)


def joined_in(found: Evaluation) -> ClusteredEvaluation:
    assert found.joined is not None
    return found.joined


@pytest.fixture(scope="module")
def made() -> TrackRecord:
    return record()


@pytest.fixture(scope="module")
def alone(made: TrackRecord) -> Evaluation:
    return evaluated(made)


@pytest.fixture(scope="module")
def in_threes(made: TrackRecord) -> Evaluation:
    """Return the evaluation in which every three events are one cluster."""
    return evaluated(replace(made, decision_cluster=made.decision_event // 3))


def test_joining_each_event_with_itself_changes_no_number(made: TrackRecord, alone: Evaluation) -> None:
    # Other numbers for the same events.
    found = evaluated(replace(made, decision_cluster=7 * made.decision_event + 3))
    assert alone.joined is None and found.joined is not None
    assert (found.joined.events, found.joined.clusters, found.joined.largest) == (24, 24, 1)
    assert text(found.joined.evaluation) == text(alone) == text(replace(found, joined=None))


def test_an_interval_has_the_standard_error_of_the_clusters(
    made: TrackRecord, alone: Evaluation, in_threes: Evaluation
) -> None:
    """sqrt(K / (K - 1) * sum of (a_k - m n_k)^2) / n over the clusters, by loops; the mean is that of the default."""
    cluster, joined = made.decision_event // 3, joined_in(in_threes)
    values = alone.cards[0].horizons["now"].mean_return
    interval = joined.evaluation.cards[0].horizons["now"].intervals["mean_return"]
    assert interval.estimate == values
    assert (interval.clusters, joined.clusters, joined.largest) == (8, 8, 3)
    returns = next(each for each in horizon_returns(made, (1.0,)) if each.label == NOW)
    own = (made.decision_bot == 0) & ~np.isnan(returns.value)
    mean, k = returns.value[own].mean(), 8
    squares = sum(
        (returns.value[own & (cluster == c)].sum() - mean * (own & (cluster == c)).sum()) ** 2 for c in range(k)
    )
    assert interval.cluster_standard_error == pytest.approx(math.sqrt(k / (k - 1) * squares) / own.sum())


def test_every_interval_and_e_value_is_that_of_a_record_of_which_clusters_are_the_events(
    made: TrackRecord, in_threes: Evaluation
) -> None:
    """What is compared stays as it was; where that plays no part, clusters are the events of another record."""
    cluster = made.decision_event // 3
    # A second apart: decisions on one event and slot would be averaged.
    renamed = replace(made, decision_event=cluster, decision_slot=made.slots() + made.decision_event % 3)
    joined = joined_in(in_threes)
    assert record_evidence(replace(made, decision_cluster=cluster)) == record_evidence(renamed)
    ours, theirs = joined.evaluation, evaluated(renamed)
    assert [each.evidence for each in (ours,)] == [theirs.evidence]
    for card, other in zip(ours.cards, theirs.cards, strict=True):
        assert card.forecast.intervals == other.forecast.intervals
        assert {label: each.intervals for label, each in card.horizons.items()} == {
            label: each.intervals for label, each in other.horizons.items()
        }
    assert [each.difference for each in (*ours.delays, *ours.sizings)] == [
        each.difference for each in (*theirs.delays, *theirs.sizings)
    ]
    # Their intervals are no narrower than those of edges, which are of what a decision was asked about.
    ends = {"low": None, "high": None, "p_value": None, "p_adjusted": None}
    assert [replace(pair, **ends) for pair in ours.pairs if pair.metric == "brier"] == [
        replace(pair, **ends) for pair in theirs.pairs if pair.metric == "brier"
    ]


def test_edges_and_pairs_count_clusters_and_keep_their_means(alone: Evaluation, in_threes: Evaluation) -> None:
    joined = joined_in(in_threes).evaluation
    assert [card.edge.edge for card in joined.cards] == [card.edge.edge for card in alone.cards]
    assert [card.edge.by_event for card in joined.cards] == [card.edge.by_event for card in alone.cards]
    assert {card.edge.clusters for card in joined.cards} == {8}
    assert [pair.difference for pair in joined.pairs] == pytest.approx([pair.difference for pair in alone.pairs])
    assert {pair.clusters for pair in joined.pairs} == {8}
    assert all(pair.low is not None for pair in joined.pairs)


def _without_interval(document: Any) -> bool:
    """Return whether nothing in a document that counts clusters has an end, a p-value or a standard error."""
    if isinstance(document, dict):
        barred = {"low", "high", "p_value", "p_adjusted", "cluster_standard_error", "price_standard_error"}
        own = "clusters" not in document or all(document.get(name) is None for name in barred)
        return own and all(_without_interval(each) for name, each in document.items() if name != "sharpe")
    return not isinstance(document, list) or all(map(_without_interval, document))


@pytest.mark.parametrize("clusters", [4, 5])
def test_below_five_clusters_there_is_no_interval_and_it_says_so(clusters: int) -> None:
    made = record(20)
    evaluation = evaluated(replace(made, decision_cluster=made.decision_event * clusters // 20))
    joined, document = joined_in(evaluation), evaluation_document(evaluation)
    found = {name: document["clusters"][name] for name in ("bots", "comparisons", "delays", "sizings")}
    assert FEWEST_FOR_AN_INTERVAL == 5
    assert _without_interval(found) is (clusters < 5)
    assert joined.too_few == (("a", "b") if clusters < 5 else ())
    assert joined.evaluation.cards[0].edge.edge is not None
    assert not _without_interval({name: document[name] for name in found})
    bins = joined.evaluation.cards[0].forecast.calibration
    assert bins is not None
    assert np.isnan(bins.outcome_low).all() == (clusters < 5)


def test_a_part_with_enough_clusters_keeps_its_interval(alone: Evaluation) -> None:
    assert without_few(alone) == alone


def test_an_event_in_two_clusters_is_refused(made: TrackRecord) -> None:
    split = np.arange(made.decision_event.size, dtype=np.int64)
    with pytest.raises(ValueError, match="an event is in one cluster"):
        replace(made, decision_cluster=split)


def test_clusters_of_other_things_are_refused() -> None:
    with pytest.raises(ValueError, match="there are: event, related"):
        Question(clusters="category")  # type: ignore[arg-type]


def test_what_is_kept_of_it_comes_back_whole(in_threes: Evaluation) -> None:
    again = evaluation_from_text(text(in_threes))
    assert text(again) == text(in_threes)
    assert again.joined is not None


def test_the_document_has_them_only_where_they_were_asked_for(alone: Evaluation, in_threes: Evaluation) -> None:
    document = evaluation_document(in_threes)
    assert "clusters" not in evaluation_document(alone)
    assert list(document["clusters"])[:6] == [
        "events", "clusters", "largest", "fewest_for_an_interval", "too_few", "leaderboard",
    ]  # fmt: skip
    assert {name: each for name, each in document.items() if name != "clusters"} == evaluation_document(alone)
