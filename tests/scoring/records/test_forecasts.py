"""Forecasts: what was said of questions that are settled, by whom, as plain arrays."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import KNOWLEDGE, Forecasts, TrackRecord, settled_forecasts
from tests.scoring.evaluation.test_scorecard import RECORDS
from tests.scoring.made_records import Bet, Made, Paid, record_of
from tests.scoring.tables import NAN, TABLES, table_of


@given(RECORDS)
def test_what_is_settled_by_zero_or_one_is_scored_and_nothing_else(record: TrackRecord) -> None:
    expected = [
        (int(record.decision_bot[decision]), float(record.bet_probability[bet]), float(record.payout_yes[market]))
        for bet, (decision, market) in enumerate(zip(record.bet_decision, record.bet_market, strict=True))
        if record.decided_at[decision] <= record.as_of
        and record.settled_at[market] <= record.as_of
        and record.payout_yes[market] in (0.0, 1.0)
        and not np.isnan(record.bet_probability[bet])
    ]
    found = settled_forecasts(record)
    columns = (found.forecaster.tolist(), found.probability.tolist(), found.outcome.tolist())
    assert list(zip(*columns, strict=True)) == expected


def test_void_markets_open_ones_and_decisions_that_are_not_clean_are_left_out() -> None:
    bets = tuple(Bet(market, 1.0, 0.5, 0.7) for market in range(4))
    made = [Made(bets=bets, knowledge=each) for each in KNOWLEDGE]
    paid = {0: Paid(1, 1.0), 1: Paid(1, 0.5), 2: Paid(9, 1.0)}
    assert settled_forecasts(record_of(made, paid=paid, as_of=5)).probability.tolist() == [0.7]


def test_the_same_market_at_the_same_slot_is_the_same_question() -> None:
    bet = Bet(0, 1.0, 0.5, 0.7)
    made = [
        Made("a", at=0.01, slot=0.0, bets=(bet, replace(bet, market=1))),
        Made("b", at=0.02, slot=0.0, bets=(bet,)),
        Made("a", at=0.51, slot=0.5, bets=(bet,)),
    ]
    first, second, same, later = settled_forecasts(
        record_of(made, paid={0: Paid(1, 1.0), 1: Paid(1, 1.0)}, as_of=2)
    ).question.tolist()
    assert first == same
    assert len({first, second, later}) == 3


def test_without_slots_a_date_is_one() -> None:
    bet = Bet(0, 1.0, 0.5, 0.7)
    made = [Made("a", at=0.1, bets=(bet,)), Made("b", at=0.9, bets=(bet,)), Made("b", at=1.1, bets=(bet,))]
    first, same, later = settled_forecasts(record_of(made, paid={0: Paid(2, 1.0)}, as_of=2)).question.tolist()
    assert first == same != later


def test_days_ahead_are_from_the_decision_to_the_settlement() -> None:
    record = record_of([Made(at=1.5, bets=(Bet(0, probability=0.7),))], paid={0: Paid(4, 1.0)}, as_of=5)
    assert settled_forecasts(record).days_ahead == pytest.approx([2.5])


def test_confidence_category_price_and_cluster_come_along() -> None:
    made = [
        Made(at=0, bets=(Bet(0, 1.0, 0.4, 0.7, confidence=8),), event=7, category="weather"),
        Made(at=0, bets=(Bet(1, 1.0, 0.6, 0.1),), event=8, category="sports"),
    ]
    found = settled_forecasts(record_of(made, paid={0: Paid(1, 1.0), 1: Paid(1, 0.0)}, as_of=2))
    assert (found.cluster.tolist(), found.market_probability.tolist()) == ([7, 8], [0.4, 0.6])
    assert found.category is not None and found.confidence is not None
    assert [found.categories[code] for code in found.category] == ["weather", "sports"]
    np.testing.assert_array_equal(found.confidence, [8.0, NAN])


@given(TABLES, st.randoms(use_true_random=False))
def test_some_of_the_forecasts_are_those_rows_in_that_order(table: Forecasts, random: Any) -> None:
    rows = np.array(random.sample(range(table.probability.size), k=table.probability.size // 2), dtype=np.int64)
    some = table.only(rows)
    assert some.forecasters == table.forecasters
    np.testing.assert_array_equal(some.question, table.question[rows])
    np.testing.assert_array_equal(some.confidence, table.confidence[rows])  # type: ignore[index]  # tables have it


def test_squared_errors_by_hand() -> None:
    table = table_of([(0, 1, 0.7, NAN, NAN, 1.0), (1, 2, 0.7, NAN, NAN, 1.0)])
    assert table.squared_errors() == pytest.approx([0.09, 0.49])


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({"probability": np.array([1.2])}, r"probability\[0\] is 1.2"),
        ({"probability": np.array([NAN])}, r"probability\[0\] is nan"),
        ({"outcome": np.array([0.5])}, r"outcome\[0\] is 0.5; each must be 0 or 1"),
        ({"market_probability": np.array([-1.0])}, r"market_probability\[0\] is -1.0"),
        ({"forecaster": np.array([3])}, r"forecaster\[0\] is 3; there are 3 of them, counted from 0"),
        ({"forecaster": np.array([-1])}, r"forecaster\[0\] is -1"),
        ({"question": np.array([1, 2])}, "question 2"),
        ({"confidence": np.array([1.0, 2.0])}, "confidence 2"),
    ],
)
def test_columns_that_do_not_belong_together_are_refused(change: dict[str, Any], seen: str) -> None:
    with pytest.raises(ValueError, match=seen):
        replace(table_of([(0, 1, 0.7, 0.5, 1.0, 1.0)]), **change)
