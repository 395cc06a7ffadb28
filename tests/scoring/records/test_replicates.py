"""Replicates in a record: joined they are one bot, apart they have a spread."""

import math
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import numpy as np
import pytest

from predibot.scoring import TrackRecord, scorecards
from predibot.scoring.evaluation.e_values import record_evidence
from predibot.scoring.evaluation.evaluation import Evaluation, Question, evaluation_of
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.records.replicates import ReplicateSpread, join_replicates, replicate_scores
from tests.scoring.evaluation.test_joined import AS_OF
from tests.scoring.made_records import Bet, Made, Paid, Seen, record_of

QUESTION = Question(uncertainty=Uncertainty(resamples=200), wanted=("evidence", "intervals", "pairs"))
EVENTS = 12


def record(*bots: str, shift: float = 0.0) -> TrackRecord:
    """Return what bots say of settled markets; each says the same as the others, plus `shift` for each before it."""
    rng = np.random.default_rng(1)
    said = rng.uniform(0.2, 0.6, EVENTS)
    made = [
        Made(bot, at=event + 0.1, event=event, bets=(Bet(event, 0.5, 0.4, probability=said[event] + shift * number),))
        for number, bot in enumerate(bots)
        for event in range(EVENTS)
    ]
    return record_of(made, as_of=AS_OF, paid={event: Paid(event + 2, float(event % 2)) for event in range(EVENTS)})


def evaluated(found: TrackRecord) -> Evaluation:
    return evaluation_of(found, datetime.fromtimestamp(found.as_of, UTC), QUESTION)


def test_copies_of_a_bot_score_as_the_bot_and_are_ranked_once() -> None:
    (alone,) = evaluated(record("x")).cards
    copies = join_replicates(record("x#1", "x#2", "x#3"))
    found = evaluated(copies)
    (joined,) = found.cards
    assert (joined.bot, joined.edge.n, joined.edge.clusters, found.pairs) == ("x", EVENTS, EVENTS, ())
    for name in ("edge.edge", "edge.interval.low", "edge.interval.high", "brier"):
        one, other = alone, joined
        for part in name.split("."):
            one, other = getattr(one, part), getattr(other, part)
        assert other == pytest.approx(one), name
    for label, score in alone.horizons.items():
        assert joined.horizons[label].mean_return == pytest.approx(score.mean_return)
    for name in ("better", "worse", "book"):
        one, other = (getattr(record_evidence(each)[0].forecasts, name) for each in (record("x"), copies))
        assert (other.now, other.largest) == pytest.approx((one.now, one.largest)), name


def test_the_e_value_of_replicates_has_a_mean_of_one_over_all_worlds_in_which_prices_are_right() -> None:
    """Two events, two days, a price that moves between them: E of every world before its root G, by its probability."""
    said = {"x#1": (0.7, 0.2), "x#2": (0.45, 0.55), "x#3": (0.9, 0.5)}
    mean = 0.0
    # A price of .4 goes to .2 or to .6 alike, and what it is then is the probability of YES.
    for second in product((0.2, 0.6), repeat=2):
        made = [
            Made(bot, at=at + 0.1 * row, event=event, bets=(Bet(event, price, price, probability=forecast[event]),))
            for row, (bot, forecast) in enumerate(said.items())
            for event in (0, 1)
            for at, price in ((0.1, 0.4), (1.1, second[event]))
        ]
        seen = [Seen(event, 1.05, price) for event, price in enumerate(second)]
        for payouts in product((0.0, 1.0), repeat=2):
            paid = {event: Paid(2.5, payout) for event, payout in enumerate(payouts)}
            (found,) = record_evidence(join_replicates(record_of(made, as_of=5.0, seen=seen, paid=paid)))
            likely = math.prod(0.5 * (p if paid else 1.0 - p) for p, paid in zip(second, payouts, strict=True))
            mean += likely * found.forecasts.better.now ** (found.forecasts.dependence or 0.0)
    assert mean == pytest.approx(1.0)


def test_the_spread_is_that_of_each_replicate_scored_by_itself() -> None:
    apart = evaluated(record("x#1", "x#2", shift=0.1)).cards
    (card,) = evaluated(join_replicates(record("x#1", "x#2", shift=0.1))).cards
    assert card.replicates is not None
    assert card.replicates.count == 2
    for spread, values in ((card.replicates.edge, [each.edge.edge or 0.0 for each in apart]),
                           (card.replicates.brier, [each.brier or 0.0 for each in apart])):  # fmt: skip
        assert spread is not None
        assert (spread.low, spread.high) == pytest.approx((min(values), max(values)))
        # Of two values the deviation is their distance over the root of 2.
        assert spread.deviation == pytest.approx((spread.high - spread.low) / 2**0.5)


def test_a_replicate_that_answered_nothing_has_no_edge_in_the_spread() -> None:
    losing = record("x#1", shift=0.0)
    silent = record("x#1", "x#2")
    silent = replace(
        silent, bet_probability=np.where(silent.decision_bot[silent.bet_decision] == 1, np.nan, silent.bet_probability)
    )
    alone, found = scorecards(losing)[0].edge.edge, replicate_scores(join_replicates(silent))["x"]
    assert found.count == 2 and found.edge == ReplicateSpread(*[pytest.approx(alone)] * 3, None)


def test_a_replicate_without_a_sibling_and_a_bot_without_replicates_stay_as_they_are() -> None:
    found = record("x#1", "y")
    assert join_replicates(found) is found
    assert replicate_scores(found) == {}
    assert ReplicateSpread.of(np.array([np.nan])) is None
    assert ReplicateSpread.of(np.array([0.5, np.nan])) == ReplicateSpread(0.5, 0.5, 0.5, None)


def test_a_bot_and_its_later_replicates_are_one_bot_whose_spread_is_of_the_replicates() -> None:
    joined = join_replicates(record("x", "x#1", "x#2"))
    assert joined.bots == ("x",)
    assert replicate_scores(joined)["x"].count == 2
