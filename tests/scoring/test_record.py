"""The record: what every bot did and what prices did, as plain arrays."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from predibot.scoring import TrackRecord
from tests.scoring.records import NAN, Bet, Made, Paid, Seen, record_of


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
        ({"event_settled": np.zeros(1, dtype=bool)}, "event_settled 1"),
        ({"decision_knowledge": np.zeros(1, dtype=np.int8)}, "decision_knowledge 1"),
        ({"decision_knowledge": np.array([0, 3], dtype=np.int8)}, r"decision_knowledge\[1\] is 3; there are 3 of them"),
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
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(change: dict[str, Any], seen: str) -> None:
    with pytest.raises(ValueError, match=seen):
        replace(whole(), **change)
