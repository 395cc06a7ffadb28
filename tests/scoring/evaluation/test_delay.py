"""Delays: what a bot would have earned had each decision been carried out some days late."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import TrackRecord
from predibot.scoring.evaluation.counterfactual import delay_record
from predibot.scoring.records.horizon_returns import horizon_returns
from tests.scoring.evaluation.test_scorecard import RECORDS
from tests.scoring.made_records import DAY, Bet, Made, Paid, Seen, record_of


def late_values(record: TrackRecord, days: float, horizon: float | None) -> dict[int, float]:
    """Return the value of each decision that could be carried out late, by its row."""
    late, rows = delay_record(record, days)
    horizons = () if horizon is None else (horizon,)
    value = horizon_returns(late, horizons)[0 if horizon is not None else -1].value
    return {int(row): float(one) for row, one in zip(rows, value, strict=True) if not math.isnan(one)}


def test_the_same_dollars_at_the_later_price_held_as_long_by_hand() -> None:
    seen = [Seen(0, 1, 0.60), Seen(0, 2, 0.75), Seen(0, 3, 0.90)]
    record = record_of([Made(at=0, bets=(Bet(0, 0.5, 0.5),))], seen=seen, as_of=10)
    # A day late it is bought at 0.60, and two days later worth 0.90: 0.5 * (0.90 / 0.60 - 1).
    assert late_values(record, 1, 2) == {0: pytest.approx(0.25)}


def test_at_settlement_the_payout_is_the_same_and_the_price_is_not() -> None:
    record = record_of([Made(bets=(Bet(0, 1.0, 0.5),))], seen=[Seen(0, 1, 0.8)], paid={0: Paid(5, 1.0)}, as_of=10)
    # Two shares as it was; 1.25 of them a day late.
    assert late_values(record, 1, None) == {0: pytest.approx(0.25)}


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (record_of([Made(bets=(Bet(0),))], paid={0: Paid(1, 1.0)}, as_of=9), "settled by then"),
        (record_of([Made(bets=(Bet(0),))], seen=[Seen(0, 2, 0.5)], as_of=9), "no price by then"),
        (record_of([Made(at=8.5, bets=(Bet(0),))], seen=[Seen(0, 9, 0.5)], as_of=9), "later than the evaluation"),
        (record_of([Made(bets=(Bet(0),))], seen=[Seen(0, 1, 0.0005)], as_of=9), "too cheap to be bet on"),
        (record_of([Made(bets=(Bet(0),))], seen=[Seen(0, 1, 1.0)], as_of=9), "nothing left to gain"),
        (
            record_of([Made(bets=(Bet(0), Bet(1)))], seen=[Seen(0, 1, 0.5)], paid={1: Paid(0.5, 1.0)}, as_of=9),
            "one of two settled",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_could_not_be_carried_out_is_left_out(record: TrackRecord, why: str) -> None:
    late, rows = delay_record(record, 1)
    assert (late.decided_at.size, rows.size, late.bet_usd.size) == (0, 0, 0), why


def test_a_market_without_money_on_it_hinders_nothing() -> None:
    bets = (Bet(0, 1.0), Bet(1, 0.0, 0.3))
    record = record_of([Made(bets=bets)], seen=[Seen(0, 1, 0.5)], paid={1: Paid(0.5, 1.0)}, as_of=9)
    late, rows = delay_record(record, 1)
    assert rows.tolist() == [0]
    assert late.bet_price_yes.tolist() == [0.5, 0.3]


def test_the_book_of_the_later_instant_is_not_known() -> None:
    record = record_of([Made(bets=(Bet(0, bid=0.49, ask=0.51),))], seen=[Seen(0, 1, 0.5)], as_of=9)
    late, _ = delay_record(record, 1)
    assert late.bet_bid_yes is None
    assert np.isnan(horizon_returns(late, (1,))[0].quote_value).all()


@given(RECORDS, st.sampled_from([0.25, 1.0, 2.5]))
def test_every_late_bet_is_booked_at_the_definitions_price(record: TrackRecord, days: float) -> None:
    late, rows = delay_record(record, days)
    for number, row in enumerate(rows.tolist()):
        assert late.decided_at[number] == record.decided_at[row] + days * DAY <= record.as_of
        for was, now in zip(
            np.flatnonzero(record.bet_decision == row), np.flatnonzero(late.bet_decision == number), strict=True
        ):
            assert late.bet_usd[now] == record.bet_usd[was]
            if record.bet_usd[was] != 0.0:
                assert late.bet_price_yes[now] == _price(record, int(record.bet_market[was]), row, days)


def _price(record: TrackRecord, market: int, decision: int, days: float) -> float:
    """Return the last observation of a market after a decision and until the delay is over, at most three days old."""
    begin, end = record.decided_at[decision], record.decided_at[decision] + days * DAY
    seen = [
        (at, row)
        for row, (of, at) in enumerate(zip(record.observation_market, record.observation_at, strict=True))
        if of == market and begin < at <= end and end - at <= 3 * DAY
    ]
    return float(record.observation_price_yes[max(seen)[1]])
