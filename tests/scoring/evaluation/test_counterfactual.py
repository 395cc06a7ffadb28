"""Counterfactuals: what the same forecasts would have earned, bet later or by another rule."""

import numpy as np
import pytest
from hypothesis import given

from predibot.scoring import TrackRecord, Uncertainty, cluster_bootstrap_mean
from predibot.scoring.evaluation.counterfactual import Counterfactual, delay_record, delay_scores, sizing_scores
from predibot.scoring.records.horizon_returns import horizon_returns
from tests.scoring.evaluation.test_scorecard import RECORDS
from tests.scoring.made_records import NAN, Bet, Made, Paid, Seen, record_of

FEW = Uncertainty(seed=5, resamples=100)
HORIZONS = (1, 7)


def late(record: TrackRecord, *days: float) -> dict[tuple[str, str, str], Counterfactual]:
    found = delay_scores(record, horizon_returns(record, HORIZONS), days, FEW)
    return {(each.bot, each.change, each.horizon): each for each in found}


def again(record: TrackRecord, *rules: str) -> dict[tuple[str, str, str], Counterfactual]:
    found = sizing_scores(record, horizon_returns(record, HORIZONS), rules, FEW)
    return {(each.bot, each.change, each.horizon): each for each in found}


def test_a_bot_that_is_ahead_of_the_price_loses_by_waiting_by_hand() -> None:
    record = record_of([Made(bets=(Bet(0, 1.0, 0.5),))], seen=[Seen(0, 1, 0.8), Seen(0, 2, 0.8)], as_of=9)
    found = late(record, 1)["bot", "1", "1"]
    # 0.8 / 0.5 - 1 as it was; bought a day late at 0.8 it stands still.
    assert (found.mean_return, found.actual_mean_return) == pytest.approx((0.0, 0.6))
    assert found.difference is not None
    assert found.difference.estimate == pytest.approx(-0.6)


def test_only_decisions_that_have_both_values_are_compared() -> None:
    made = [Made(bets=(Bet(0, 1.0, 0.5),)), Made(bets=(Bet(1, 1.0, 0.5),)), Made(status="refused")]
    seen = [Seen(0, 1, 0.6), Seen(0, 2, 0.6), Seen(0, 3, 0.6), Seen(1, 1, 0.9)]
    paid = {1: Paid(1.5, 1.0)}
    found = late(record_of(made, seen=seen, paid=paid, as_of=9), 2)
    # Market 1 has settled by the second day, so that its decision is left out of both means.
    assert found["bot", "2", "1"].actual_mean_return == pytest.approx(0.2)
    assert found["bot", "2", "1"].difference is not None
    assert found["bot", "2", "1"].difference.n == 1


@given(RECORDS)
def test_a_difference_is_the_bootstrap_of_the_decisions_differences(record: TrackRecord) -> None:
    actual = horizon_returns(record, HORIZONS)
    other, rows = delay_record(record, 1)
    changed = horizon_returns(other, HORIZONS)
    for each in delay_scores(record, actual, (1,), FEW):
        at = [one.label for one in actual].index(each.horizon)
        own = record.decision_bot[rows] == record.bots.index(each.bot)
        values = (changed[at].value - actual[at].value[rows])[own]
        known = ~np.isnan(values)
        if not known.any():
            assert (each.difference, each.mean_return, each.actual_mean_return) == (None, None, None)
            continue
        clusters = record.decision_event[rows][own][known]
        expected = cluster_bootstrap_mean(values[known], clusters, seed=5, resamples=100)
        assert each.difference is not None
        assert each.difference.estimate == pytest.approx(expected.estimate)
        assert (each.difference.low, each.difference.n) == (expected.low, expected.n)


def test_forecasts_bet_by_kelly_by_hand() -> None:
    record = record_of([Made(bets=(Bet(0, -1.0, 0.5, 0.75),))], seen=[Seen(0, 1, 0.6)], as_of=9)
    found = again(record, "kelly")["bot", "kelly", "1"]
    # Kelly bets (0.75 - 0.5) / 0.5 = 0.5 on YES: 0.5 * (0.6 / 0.5 - 1); it had bet 1 on NO: 0.4 / 0.5 - 1.
    assert (found.mean_return, found.actual_mean_return) == pytest.approx((0.1, -0.2))
    assert found.difference is not None
    assert found.difference.estimate == pytest.approx(0.3)


def test_what_was_bet_without_a_forecast_is_not_said_to_earn_nothing_under_another_rule() -> None:
    record = record_of([Made(bets=(Bet(0, -1.0, 0.5, NAN),))], seen=[Seen(0, 1, 0.6)], as_of=9)
    assert again(record, "kelly")["bot", "kelly", "1"].difference is None


def test_every_bot_delay_and_horizon_has_a_row_in_that_order() -> None:
    record = record_of([Made("a"), Made("b")], as_of=9)
    assert list(late(record, 1, 2.5)) == [
        (bot, days, horizon) for days in ("1", "2.5") for bot in ("a", "b") for horizon in ("1", "7", "now", "settled")
    ]
