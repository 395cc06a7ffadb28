"""Consistency: how alike a bot answers when it is asked the same again."""

import pytest

from predibot.scoring import TrackRecord
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.records.consistency import Consistency, consistency_of
from predibot.scoring.records.replicates import join_replicates
from tests.scoring.made_records import Bet, Made, record_of

UNCERTAINTY = Uncertainty(resamples=200)


def found(*made: Made, as_of: float = 20.0) -> dict[tuple[str, str], Consistency]:
    record: TrackRecord = join_replicates(record_of(made, as_of=as_of))
    return {(each.bot, each.between): each for each in consistency_of(record, UNCERTAINTY)}


def said(bot: str, at: float, probability: float, usd: float = 0.0, price: float = 0.5, market: int = 0) -> Made:
    """Return a decision on one market, an event of its own."""
    return Made(bot, at=at, event=market, bets=(Bet(market, usd, price, probability=probability),))


def test_replicates_are_compared_pair_by_pair_in_one_slot() -> None:
    each = found(said("x#1", 0.1, 0.2, 0.5), said("x#2", 0.2, 0.3, 0.1), said("x#3", 0.3, 0.6, -0.3))["x", "replicates"]
    # |.2 - .3|, |.2 - .6|, |.3 - .6|; only the first pair bets on one side.
    assert each.n == 3
    assert each.difference.estimate == pytest.approx((0.1 + 0.4 + 0.3) / 3)
    assert each.same_side.estimate == pytest.approx(1 / 3)
    # Squares of .4, .8 and .4 in dollars, halved.
    assert each.bet_deviation_usd == pytest.approx(((0.16 + 0.64 + 0.16) / 3 / 2) ** 0.5)
    assert each.difference.interval is None


def test_days_are_compared_where_the_price_hardly_moved() -> None:
    kept = (said("x", 0, 0.2, price=0.35), said("x", 1, 0.3, price=0.36), said("x", 2, 0.9, price=0.38))
    each = found(*kept)["x", "days"]
    assert (each.n, each.clusters) == (1, 1)
    assert each.difference.estimate == pytest.approx(0.1)
    assert each.same_side.estimate == 1.0


def test_two_runs_of_one_day_and_two_bots_are_no_repetition() -> None:
    assert found(said("x", 0.1, 0.2), said("x", 0.6, 0.9), said("y", 0.1, 0.4)) == {}


def test_decisions_after_the_evaluation_and_answers_without_a_probability_do_not_count() -> None:
    nothing = Made("x", at=1, bets=(Bet(0),))
    assert found(said("x", 0, 0.2), nothing, said("x", 2, 0.3), as_of=1.5) == {}


def test_replicates_are_not_compared_with_each_other_between_days() -> None:
    each = found(said("x#1", 0, 0.2), said("x#2", 0, 0.9), said("x#1", 1, 0.2), said("x#2", 1, 0.9))
    assert each["x", "days"].difference.estimate == 0.0
    assert each["x", "days"].n == 2
    assert each["x", "replicates"].difference.estimate == pytest.approx(0.7)


def test_an_interval_needs_five_events_and_stays_among_shares() -> None:
    answers = [
        said(f"x#{number}", 0, 0.3 + 0.02 * number * market, 0.1 * (-1) ** (number * (market % 2 == 0)), market=market)
        for number in (1, 2)
        for market in range(12)
    ]
    each = found(*answers)["x", "replicates"]
    assert each.clusters == 12
    for estimate in (each.difference, each.same_side):
        assert estimate.interval is not None
        low, high = estimate.interval
        assert 0.0 <= low < estimate.estimate < high <= 1.0
