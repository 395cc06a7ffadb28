"""Sizing afterwards: the stored forecasts, bet again under another rule."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.sizing import SIZINGS, SizingRule, bets_usd
from predibot.scoring.evaluation.counterfactual import resize_bets
from tests.scoring.made_records import NAN, Bet, Made, record_of

FORECASTS = st.lists(st.tuples(st.floats(0, 1), st.floats(0.0005, 0.9995)), min_size=1, max_size=5)


def bet_again(rule: str, forecasts: list[tuple[float, float]]) -> list[float]:
    bets = tuple(Bet(market, 0.1, price, said) for market, (said, price) in enumerate(forecasts))
    record, _ = resize_bets(record_of([Made(bets=bets)], as_of=1), rule)
    return [float(each) for each in record.bet_usd]


@given(FORECASTS, st.sampled_from(sorted(SIZINGS)))
def test_a_rule_bets_what_the_bots_sizing_bets(forecasts: list[tuple[float, float]], rule: str) -> None:
    expected = bets_usd(rule, [said for said, _ in forecasts], [price for _, price in forecasts], 1.0)
    assert bet_again(rule, forecasts) == pytest.approx(list(expected), abs=1e-12)


def test_a_bot_may_name_every_rule_that_an_evaluation_may() -> None:
    assert set(get_args(SizingRule)) == set(SIZINGS)


def test_decisions_that_bet_without_a_forecast_are_left_out() -> None:
    made = [
        Made(bets=(Bet(0, 0.5, 0.5, NAN),)),
        Made(bets=(Bet(0, 0.5, 0.5, 0.75), Bet(1, 0.0, 0.5, NAN))),
        Made(bets=(Bet(0, 0.5, 0.5, 0.75), Bet(1, 0.1, 0.5, NAN))),
        Made(status="abstained"),
    ]
    record, rows = resize_bets(record_of(made, as_of=1), "kelly")
    assert rows.tolist() == [1, 3]
    assert record.bet_usd.tolist() == [0.5, 0.0]


def test_all_but_the_dollars_stays() -> None:
    before = record_of([Made(bets=(Bet(0, 0.5, 0.4, 0.75, bid=0.39, ask=0.41),))], as_of=1)
    after, _ = resize_bets(before, "kelly")
    for name in ("bet_price_yes", "bet_probability", "bet_bid_yes", "decided_at"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
