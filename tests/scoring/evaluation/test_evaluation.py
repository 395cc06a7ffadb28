"""The evaluation: everything that is said of a record, or of anybody's forecasts, in one object."""

import json
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from predibot.reports.views.evaluation import evaluation_document
from predibot.scoring import (
    Evaluation,
    Question,
    TrackRecord,
    Uncertainty,
    brier_pairs,
    cluster_bootstrap_mean,
    edge_pairs,
    evaluation_of,
    evaluation_of_forecasts,
    forecast_scores,
    notes,
    record_evidence,
    return_pairs,
    scorecards,
    settled_forecasts,
)
from predibot.scoring.evaluation.evaluation import WANTED
from predibot.scoring.records.horizon_returns import horizon_returns
from tests.scoring.made_records import Bet, Made, Paid, Seen, record_of
from tests.scoring.tables import drawn

AS_OF = datetime(1970, 2, 20, tzinfo=UTC)
FEW = Uncertainty(seed=5, resamples=300)
ASKED = Question(
    horizons_days=(1, 7), uncertainty=FEW, grouping="category", delays_days=(1, 4), sizings=("kelly", "flat")
)
BOTS = ("alice", "bob", "carol")


@pytest.fixture(scope="module")
def record() -> TrackRecord:
    """Return what three bots did on 32 events of two markets, each at two slots, by day 50."""
    rng, made = np.random.default_rng(1), []
    for event in range(32):
        chances = rng.uniform(0.2, 0.8, 2)
        for slot in (event % 10, event % 10 + 2):
            for number, bot in enumerate(BOTS):
                bets = tuple(
                    Bet(
                        market=2 * event + index,
                        usd=float(rng.uniform(-0.5, 0.5)),
                        price_yes=0.5,
                        probability=float(np.clip(chances[index] + rng.normal(0.0, 0.1 * number + 0.01), 0.01, 0.99)),
                        confidence=float(rng.integers(0, 11)),
                        bid=0.48,
                        ask=0.52,
                    )
                    for index in range(2)
                )
                made.append(
                    Made(
                        bot,
                        at=slot + 0.1 * (number + 1),
                        slot=slot,
                        event=event,
                        category="sports" if event % 2 else "weather",
                        bets=bets,
                        knowledge="contaminated" if event == 31 else "clean",
                    )
                )
    seen = [Seen(market, at, float(rng.uniform(0.2, 0.8))) for market in range(64) for at in range(1, 40)]
    paid = {market: Paid(float(rng.uniform(15, 45)), float(rng.integers(0, 2))) for market in range(56)}
    return record_of(made, seen=seen, paid=paid, as_of=50, bots=BOTS)


@pytest.fixture(scope="module")
def found(record: TrackRecord) -> Evaluation:
    return evaluation_of(record, AS_OF, ASKED)


def test_its_parts_are_those_made_alone(record: TrackRecord, found: Evaluation) -> None:
    returns = horizon_returns(record, (1, 7))
    assert found.cards == scorecards(record, horizons_days=(1, 7), uncertainty=FEW)
    by_edge = edge_pairs(record, FEW)
    pairs = [*by_edge, *brier_pairs(settled_forecasts(record), FEW, by_edge=by_edge)]
    for each in returns:
        pairs += return_pairs(record, each, FEW)
    assert list(found.pairs) == pairs
    assert found.evidence == record_evidence(record)
    assert found.notes == notes(record, found.cards)
    assert (found.as_of, found.question) == (AS_OF, ASKED)
    assert {(each.change, each.horizon) for each in found.delays} == {
        (days, horizon) for days in ("1", "4") for horizon in ("1", "7", "now", "settled")
    }
    assert {each.change for each in found.sizings} == {"kelly", "flat"}
    assert {each.group for each in found.by_category} == {"sports", "weather"}
    assert [(each.card.bot, each.group) for each in found.parts[:2]] == [("alice", "sports"), ("alice", "weather")]


def test_intervals_of_returns_rest_on_each_mean_alone(record: TrackRecord, found: Evaluation) -> None:
    (day, *_) = horizon_returns(record, (1, 7))
    for bot, card in enumerate(found.cards):
        rows = (record.decision_bot == bot) & ~np.isnan(day.value)
        clusters = record.decision_event[rows]
        score = card.horizons["1"]
        for name, values in (
            ("mean_return", day.value[rows]),
            ("market_mean_return", day.market_value[rows]),
            ("quote_mean_return", day.quote_value[rows]),
            ("friction", day.value[rows] - day.quote_value[rows]),
        ):
            alone, interval = cluster_bootstrap_mean(values, clusters, seed=5, resamples=300), score.intervals[name]
            assert (interval.estimate, getattr(score, name)) == pytest.approx((alone.estimate, alone.estimate))
            assert interval.cluster_standard_error == pytest.approx(alone.cluster_standard_error)
            assert (interval.n, interval.clusters) == (rows.sum(), 31)
        assert (score.n, score.clusters) == (rows.sum(), 31)


def test_the_order_of_the_decisions_changes_nothing(record: TrackRecord, found: Evaluation) -> None:
    other = evaluation_of(_permuted(record, np.random.default_rng(2)), AS_OF, ASKED)
    one, two = (_numbers(evaluation_document(each)) for each in (found, other))
    assert list(one) == list(two)
    assert list(one.values()) == pytest.approx(list(two.values()), rel=1e-9, abs=1e-12)


def _permuted(record: TrackRecord, rng: np.random.Generator) -> TrackRecord:
    decisions, bets = rng.permutation(record.decided_at.size), rng.permutation(record.bet_usd.size)
    changed: dict[str, Any] = {}
    for each in fields(record):
        array = getattr(record, each.name)
        if isinstance(array, np.ndarray) and each.name.startswith(("decision_", "decided_")):
            changed[each.name] = array[decisions]
        elif isinstance(array, np.ndarray) and each.name.startswith("bet_"):
            changed[each.name] = array[bets]
    changed["bet_decision"] = np.argsort(decisions)[changed["bet_decision"]]
    return replace(record, **changed)


def _numbers(document: Any, path: str = "") -> dict[str, Any]:
    """Return every leaf of a document by its path; words are numbered by their letters."""
    if isinstance(document, dict):
        return {key: leaf for name in document for key, leaf in _numbers(document[name], f"{path}/{name}").items()}
    if isinstance(document, list):
        return {key: leaf for row, each in enumerate(document) for key, leaf in _numbers(each, f"{path}/{row}").items()}
    return {path: document} if isinstance(document, (int, float)) else {f"{path}={document}": 0}


def test_another_seed_gives_other_intervals_and_the_same_estimates(record: TrackRecord, found: Evaluation) -> None:
    other = evaluation_of(record, AS_OF, replace(ASKED, uncertainty=replace(FEW, seed=6)))
    for one, two in zip(found.cards, other.cards, strict=True):
        assert (one.forecast.brier, one.horizons["1"].mean_return) == (
            two.forecast.brier,
            two.horizons["1"].mean_return,
        )
        assert one.forecast.intervals["log_score"].low != two.forecast.intervals["log_score"].low


def test_nothing_known_later_changes_it(record: TrackRecord, found: Evaluation) -> None:
    early = replace(record, as_of=20 * 86_400.0)
    known = record.observation_at <= early.as_of
    cut = replace(
        early,
        observation_market=record.observation_market[known],
        observation_at=record.observation_at[known],
        observation_price_yes=record.observation_price_yes[known],
        payout_yes=np.where(record.settled_at <= early.as_of, record.payout_yes, np.nan),
        settled_at=np.where(record.settled_at <= early.as_of, record.settled_at, np.nan),
    )
    one, two = (json.dumps(evaluation_document(evaluation_of(each, AS_OF, ASKED))) for each in (early, cut))
    assert one == two
    assert one != json.dumps(evaluation_document(found))


def test_what_was_not_asked_for_is_not_there(record: TrackRecord) -> None:
    plain = evaluation_of(record, AS_OF, Question(horizons_days=(1,), uncertainty=FEW))
    assert (plain.parts, plain.delays, plain.sizings) == ((), (), ())
    asked = replace(plain.question, grouping="lead_time", wanted=())
    assert evaluation_of(record, AS_OF, asked).parts == ()


def test_of_nothing_there_is_nothing_to_say() -> None:
    empty = evaluation_of(record_of([], as_of=0), AS_OF, ASKED)
    assert (empty.cards, empty.pairs, empty.parts, empty.by_category, empty.notes) == ((), (), (), (), ())


def test_bots_that_only_failed_have_cards_and_no_scores() -> None:
    made = [Made("a", status="failed"), Made("b", status="refused"), Made("c", status="abstained")]
    found = evaluation_of(record_of(made, as_of=9), AS_OF, ASKED)
    assert [(card.failed, card.refused, card.abstained) for card in found.cards] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert [card.forecast.brier for card in found.cards] == [None] * 3
    json.dumps(evaluation_document(found), allow_nan=False)


def test_anybodys_forecasts_are_scored_like_those_of_a_ledger() -> None:
    table = drawn(40)
    found = evaluation_of_forecasts(table, Question(uncertainty=FEW), ["a remark"])
    assert [card.forecast for card in found.cards] == list(forecast_scores(table, uncertainty=FEW))
    assert found.pairs == brier_pairs(table, FEW)
    assert (found.as_of, found.notes[0], [card.horizons for card in found.cards]) == (None, "a remark", [{}] * 3)
    assert {each.group for each in found.by_category} == {"sports", "weather"}
    assert found.by_lead_time
    assert found.by_confidence


def test_contaminated_decisions_are_counted_and_in_no_score(record: TrackRecord, found: Evaluation) -> None:
    for card in found.cards:
        assert (card.decisions, card.contaminated, card.forecasts) == (64, 2, 124)
    assert max(pair.clusters for pair in found.pairs) == 31
    kept = evaluation_of(record.only(record.scored_mask()), AS_OF, ASKED)
    assert kept.pairs == found.pairs
    means = [[each.mean_return for each in (*one.delays, *one.sizings)] for one in (kept, found)]
    assert means[0] == pytest.approx(means[1])
    values = [
        [(each.n, each.n_quote, each.n_net, each.n_drift) for card in one.cards for each in card.horizons.values()]
        for one in (kept, found)
    ]
    assert values[0] == values[1]


def test_what_is_not_wanted_is_empty_and_all_else_the_same(record: TrackRecord, found: Evaluation) -> None:
    # Of any two, one is left out without the other.
    for left_out in (
        ("evidence", "curves", "pairs"),
        ("evidence", "by_category", "by_lead_time"),
        ("curves", "by_category", "by_confidence"),
    ):
        asked = replace(ASKED, wanted=tuple(each for each in WANTED if each not in left_out))
        other = evaluation_of(record, AS_OF, asked)
        assert all(getattr(found, name) and getattr(other, name) == () for name in left_out)
        assert replace(other, **{name: getattr(found, name) for name in left_out}, question=ASKED) == found


def test_without_intervals_and_adjusted_scores_everything_else_is_the_same(
    record: TrackRecord, found: Evaluation
) -> None:
    bare = evaluation_of(record, AS_OF, replace(ASKED, wanted=()))
    for card, plain in zip(found.cards, bare.cards, strict=True):
        assert (plain.edge, plain.brier, plain.log_score) == (card.edge, card.brier, card.log_score)
        assert plain.edge.interval is not None
        assert plain.forecast.intervals == {} and plain.forecast.adjusted_brier is None
        for label, score in plain.horizons.items():
            assert score == replace(card.horizons[label], intervals={})


def test_a_part_that_there_is_not_cannot_be_wanted() -> None:
    with pytest.raises(ValueError, match="wanted names 'pair'; there are: evidence, curves, intervals"):
        Question(wanted=("pair",))
