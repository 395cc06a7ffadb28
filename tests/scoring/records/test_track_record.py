"""The record: what every bot did and what prices did, as plain arrays."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import TrackRecord
from tests.scoring.evaluation.test_scorecard import RECORDS
from tests.scoring.made_records import DAY, NAN, Bet, Made, Paid, Seen, record_of


def whole() -> TrackRecord:
    """Return a record with one of everything."""
    made = [Made("a", bets=(Bet(0),)), Made("b", status="refused")]
    return record_of(made, seen=[Seen(0, 1, 0.5)], paid={0: Paid(2, 1.0)}, as_of=3)


def test_a_record_of_nothing_is_a_record() -> None:
    assert record_of([], as_of=0).bots == ()


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({"as_of": NAN}, "as_of is nan"),
        ({"bots": ("a", "a")}, "bots are named twice: a, a"),
        ({"decided_at": np.zeros(3)}, "decision_bot 2, .*decided_at 3"),
        ({"bet_usd": np.zeros(2)}, "bet_usd 2"),
        ({"settled_at": np.zeros(2)}, "payout_yes 1, settled_at 2"),
        ({"observation_at": np.zeros((1, 1))}, r"observation_at has shape \(1, 1\)"),
        ({"decision_knowledge": np.zeros(1, dtype=np.int8)}, "decision_knowledge 1"),
        ({"decision_knowledge": np.array([0, 4], dtype=np.int8)}, r"decision_knowledge\[1\] is 4; there are 4 of them"),
        ({"decision_knowledge": np.array([0.0, 1.0])}, "decision_knowledge holds float64"),
        ({"decision_bot": np.array([0, 2])}, r"decision_bot\[1\] is 2; there are 2 of them"),
        ({"decision_bot": np.array([0, -1])}, r"decision_bot\[1\] is -1"),
        ({"decision_bot": np.array([0.0, 1.0])}, "decision_bot holds float64"),
        ({"decision_status": np.array([0, 4], dtype=np.int8)}, r"decision_status\[1\] is 4"),
        ({"bet_decision": np.array([1])}, r"bet_decision\[0\] is 1; a refused or failed decision has no bets"),
        ({"bet_decision": np.array([2])}, r"bet_decision\[0\] is 2; there are 2"),
        ({"bet_market": np.array([1])}, r"bet_market\[0\] is 1; there are 1"),
        ({"observation_market": np.array([1])}, r"observation_market\[0\] is 1"),
        ({"decided_at": np.array([0.0, NAN])}, r"decided_at\[1\] is nan"),
        ({"bet_usd": np.array([NAN])}, r"bet_usd\[0\] is nan"),
        ({"bet_price_yes": np.array([1.0])}, r"bet_price_yes\[0\] is 1.0; each must be strictly between 0 and 1"),
        ({"bet_probability": np.array([60.0])}, r"bet_probability\[0\] is 60.0; each must be in \[0, 1\] or NaN"),
        ({"payout_yes": np.array([1.5])}, r"payout_yes\[0\] is 1.5"),
        ({"payout_yes": np.array([NAN])}, r"settled_at\[0\] is 172800.0; a market has a payout and its instant"),
        ({"observation_price_yes": np.array([NAN])}, r"observation_price_yes\[0\] is nan"),
        ({"decision_cost_known_usd": np.array([NAN, 0.0])}, r"decision_cost_known_usd\[0\] is nan"),
        # What may be left out.
        ({"decision_slot": np.zeros(1)}, "decision_slot 1"),
        (
            {"decision_category": np.array([0, 1]), "categories": ("sports",)},
            r"decision_category\[1\] is 1; there are 1",
        ),
        ({"bet_confidence": np.array([11.0])}, r"bet_confidence\[0\] is 11.0; each must be in \[0, 10\] or NaN"),
        ({"bet_bid_yes": np.array([-0.1])}, r"bet_bid_yes\[0\] is -0.1; each must be in \[0, 1\] or NaN"),
        ({"bet_ask_yes": np.array([0.5, 0.5])}, "bet_ask_yes 2"),
        ({"bet_fee_rate": np.array([-0.01])}, r"bet_fee_rate\[0\] is -0.01"),
        # What was asked, and what excludes what.
        ({"asked_market": np.array([0])}, "of asked_decision and asked_market one is left out"),
        ({"asked_decision": np.array([0]), "asked_market": np.array([0, 0])}, "lengths differ"),
        ({"asked_decision": np.array([2]), "asked_market": np.array([0])}, r"asked_decision\[0\] is 2; there are 2"),
        ({"asked_decision": np.array([0]), "asked_market": np.array([3])}, r"asked_market\[0\] is 3; there are 1"),
        ({"market_exclusive": np.array([0, 1])}, "lengths differ"),
        ({"market_exclusive": np.array([0.5])}, "market_exclusive holds float64"),
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(change: dict[str, Any], seen: str) -> None:
    with pytest.raises(ValueError, match=seen):
        replace(whole(), **change)


def test_the_slot_of_a_decision_is_the_start_of_its_date_unless_stated() -> None:
    assert record_of([Made(at=2.7)], as_of=9).slots().tolist() == [2 * DAY]
    assert record_of([Made(at=2.7, slot=2.5)], as_of=9).slots().tolist() == [2.5 * DAY]


@given(RECORDS, st.data())
def test_the_record_of_some_decisions_is_that_of_the_others_never_made(
    record: TrackRecord, data: st.DataObject
) -> None:
    kept = np.array(
        data.draw(st.lists(st.booleans(), min_size=record.decided_at.size, max_size=record.decided_at.size))
    )
    some = record.only(kept.astype(bool))
    rows = np.flatnonzero(kept)
    assert some.decided_at.tolist() == record.decided_at[rows].tolist()
    for number, row in enumerate(rows):
        own, same = (
            (each.bet_market[each.bet_decision == at].tolist(), each.bet_usd[each.bet_decision == at].tolist())
            for each, at in ((some, number), (record, row))
        )
        assert own == same
    assert some.bet_decision.size == np.isin(record.bet_decision, rows).sum()
    assert (some.bots, some.payout_yes.size) == (record.bots, record.payout_yes.size)


def test_what_belongs_to_a_decision_goes_with_it() -> None:
    made = [
        Made(
            "a", event=1, category="sports", knowledge="contaminated", slot=0.5, bets=(Bet(0, confidence=2, bid=0.4),)
        ),
        Made("b", event=2, category="weather", slot=1.5, bets=(Bet(1, confidence=8, bid=0.6, ask=0.7, fee_rate=0.01),)),
    ]
    some = replace(record_of(made, as_of=9), event_names={1: "One", 2: "Two"}).only(np.array([False, True]))
    for name, value in (
        ("decision_event", 2), ("decision_category", 1), ("decision_knowledge", 0),
        ("decision_slot", 1.5 * DAY), ("bet_market", 1), ("bet_confidence", 8), ("bet_bid_yes", 0.6),
        ("bet_ask_yes", 0.7), ("bet_fee_rate", 0.01), ("bet_fee_exponent", 1.0), ("bet_decision", 0),
    ):  # fmt: skip
        assert getattr(some, name).tolist() == [value]
    assert some.event_names == {1: "One", 2: "Two"}


def asked_of(record: TrackRecord, *questions: tuple[int, int]) -> TrackRecord:
    decision, market = np.array(questions, dtype=np.int64).T
    return replace(record, asked_decision=decision, asked_market=market)


def test_what_was_asked_follows_its_decisions() -> None:
    record = record_of([Made("a", bets=(Bet(0), Bet(1))), Made("b", status="failed"), Made("a")], as_of=9)
    whole = asked_of(record, (0, 0), (0, 1), (1, 1), (2, 0))
    kept = whole.only(np.array([False, True, True]))
    assert [each.tolist() for each in kept.questions()] == [[0, 1], [1, 0]]
    assert [each.tolist() for each in whole.questions()] == [[0, 0, 1, 2], [0, 1, 1, 0]]
    # Left out, it is what there are bets on.
    assert [each.tolist() for each in record.questions()] == [[0, 0], [0, 1]]


def test_what_was_asked_of_decisions_ranked_apart_goes_with_them() -> None:
    made = [Made("a", bets=(Bet(0),)), Made("b", bets=(Bet(1),), knowledge="unknown")]
    apart = asked_of(record_of(made, as_of=9), (0, 0), (0, 1), (1, 1)).apart()
    assert apart is not None
    assert [each.tolist() for each in apart.questions()] == [[0], [1]]
