"""The answer in a cohort: what is taken for one, what is refused with which reason, and what follows a refusal."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.errors import AnswerError
from predibot.games.weekly_cohort.rules import SYSTEM_HOLD
from tests.games.weekly_cohort.world import V2, Player, a_market, bets, named, sells

MARKETS = (
    a_market("a", 0.4),
    a_market("b", 0.5),
    a_market("bare", None),
    named("w", {"Ann": 0.5, "Bob": 0.3, "Ed": 0.2}),
)


def player() -> Player:
    found = Player(V2)
    found.book(bets(("a", "YES", 100.0)), *MARKETS)
    return found


SEEN = player().view(*MARKETS)
FORM = V2.form(SEEN)


def entry(**fields: Any) -> dict[str, Any]:
    """Return a bet of which fields are said otherwise."""
    return {"action": "BET", "bets": [{"market_id": "a", "side": "YES", "amount": 100.0, **fields}], "reasoning": ""}


def sale(**fields: Any) -> dict[str, Any]:
    return {"action": "SELL", "sells": [{"position_id": "p1", "percentage": 50, **fields}], "reasoning": ""}


REFUSED: list[tuple[Any, str]] = [
    (entry(amount=10), r"market 'a' YES: the amount is \$10.00; bet at least \$50.00"),
    (entry(amount=3_000), r"market 'a' YES: the amount is \$3,000.00; a bet is at most 25 % of your cash, \$2,475.00"),
    (entry(amount="100"), r"amount of entry 1 of bets is the text '100'; give dollars as a number, without quotes"),
    (entry(amount=True), "amount of entry 1 of bets is True"),
    (entry(amount=None), "amount of entry 1 of bets is None"),
    (entry(amount=math.nan), "the amount is nan; give a number above 0"),
    (entry(amount=math.inf), "the amount is inf; give a number above 0"),
    (entry(amount=-100), "the amount is -100; give a number above 0"),
    (entry(amount=10**400), "the amount is a number of more digits"),
    (entry(side=""), "side of entry 1 of bets is ''; give YES or NO, in capitals"),
    (entry(side="  "), "side of entry 1 of bets is '  '"),
    (entry(side=None), "side of entry 1 of bets is None"),
    (entry(side="yes"), "side of entry 1 of bets is 'yes'; give YES or NO, in capitals"),
    (entry(market_id="w", side="YES"), "give one of its outcomes by name, 'Ann', 'Bob', 'Ed'"),
    (entry(market_id="z"), "market 'z' of entry 1 of bets is not shown"),
    (entry(market_id=7), "market_id of entry 1 of bets is 7; give the market's id as text"),
    (entry(market_id="bare"), "market 'bare' YES: it has no price now"),
    (entry(odds=2), "the field 'odds' of entry 1 of bets is unknown"),
    (sale(percentage=0), "percentage of entry 1 of sells is 0; give a number from 1 to 100"),
    (sale(percentage=101), "percentage of entry 1 of sells is 101; give a number from 1 to 100"),
    (sale(percentage=0.99), "percentage of entry 1 of sells is 0.99"),
    (sale(percentage=math.nan), "percentage of entry 1 of sells is nan"),
    (sale(percentage="50%"), "percentage of entry 1 of sells is the text '50%'"),
    (sale(percentage=False), "percentage of entry 1 of sells is False"),
    (sale(position_id="p9"), "position 'p9' of entry 1 of sells is not one of yours; your positions are p1"),
    (sale(position_id=""), "position_id of entry 1 of sells is ''"),
    (sells(("p1", 100), ("p1", 10)), "position p1 of entry 2 of sells is sold whole before"),
    ({"action": "BET", "bets": []}, "bets is empty; name at least one, or answer HOLD"),
    ({"action": "SELL", "sells": []}, "sells is empty"),
    ({"action": "BET"}, "bets is missing"),
    ({"action": "BET", "bets": {"market_id": "a"}}, "bets is a dict; give a list"),
    ({"action": "BET", "bets": ["a"]}, "entry 1 of bets is 'a'; give an object with market_id, side, amount"),
    ({"action": "BET", "bets": [{"market_id": "a"}]}, "side of entry 1 of bets is missing"),
    ({**entry(), "bets": entry()["bets"] * 501}, "bets has 501 entries"),
    ({**entry(), "sells": sale()["sells"]}, "sells stands beside action BET"),
    ({**entry(), "action": "HOLD"}, "bets stands beside action HOLD"),
    ({"action": "hold"}, "action is 'hold'; give one of BET, SELL, HOLD, in capitals"),
    ({"action": ["HOLD"]}, "action is a list"),
    ({}, "action is missing; give one of BET, SELL, HOLD"),
    ({"action": "HOLD", "why": "x"}, "the field 'why' is unknown"),
    ({"action": "HOLD", "reasoning": 3}, "reasoning is 3; say why, as text"),
    ({"action": "HOLD", "reasoning": "x" * 16_001}, "reasoning is too long"),
    (
        {"action": "HOLD", "probabilities": {"a": 60}},
        "the probability of market 'a' is 60; give a number between 0 and 1",
    ),
    ({"action": "HOLD", "probabilities": {"a": "0.6"}}, "is the text '0.6'"),
    ({"action": "HOLD", "probabilities": {"a": math.nan}}, "is nan"),
    ({"action": "HOLD", "probabilities": {"z": 0.6}}, "of none that is shown"),
    ({"action": "HOLD", "probabilities": {"w": 0.6}}, "of one with 3 outcomes"),
    ({"action": "HOLD", "probabilities": [0.6]}, "probabilities is a list"),
    ("HOLD", "not JSON"),
    ('{"action": "HOLD", "action": "BET"}', "action is given twice"),
    ([], "the answer is a list"),
    (None, "the answer is None"),
]


@pytest.mark.parametrize(("answer", "said"), REFUSED)
def test_an_answer_is_refused_with_its_reason(answer: Any, said: str) -> None:
    with pytest.raises(AnswerError, match=said):
        FORM.parse(answer)


def test_all_that_is_wrong_is_said_at_once() -> None:
    answer = {"action": "BET", "bets": [{"market_id": "z", "side": "", "amount": "1"}], "reasoning": 3}
    with pytest.raises(AnswerError) as told:
        FORM.parse(answer)
    assert str(told.value).count(";") >= 4


def test_each_of_the_three_answers_is_taken_as_an_object_and_as_its_json() -> None:
    for answer in (bets(("a", "NO", 50.0), ("w", "Bob", 2_425.0)), sells(("p1", 1)), {"action": "HOLD"}):
        assert FORM.parse(answer) == FORM.parse(json.dumps(answer))
    bet, sold, hold = (FORM.parse(each) for each in (bets(("w", "Bob", 50.0)), sells(("p1", 100)), {"action": "HOLD"}))
    assert [(order.instrument.id, order.amount, order.unit, order.side) for order in bet.orders] == [
        ("w-1", 50.0, "usd", "buy")
    ]
    assert [(order.instrument.id, order.amount, order.unit, order.side) for order in sold.orders] == [
        ("a:YES", 250.0, "shares", "sell")
    ]
    assert (hold.orders, hold.notes, sold.notes) == ((), (), ("sells 100 % of p1",))


def test_an_empty_list_beside_another_action_says_nothing() -> None:
    assert FORM.parse({**bets(("a", "YES", 50.0)), "sells": []}).orders
    assert not FORM.parse({"action": "HOLD", "bets": [], "sells": None}).orders


def test_exactly_the_least_and_exactly_the_most_are_taken() -> None:
    assert FORM.parse(bets(("a", "YES", 50))).orders[0].amount == 50
    assert FORM.parse(bets(("a", "YES", 2_475))).orders[0].amount == 2_475
    assert FORM.parse(bets(("a", "YES", 1_237.5), ("a", "NO", 1_237.5))).orders


def test_a_probability_may_be_stated_with_any_action() -> None:
    decision = FORM.parse({"action": "HOLD", "probabilities": {"a": 0.7, "b": 0}})
    assert [(each.market_id, each.probability) for each in decision.forecasts] == [("a", 0.7), ("b", 0.0)]


def test_a_refused_answer_may_be_repaired_once_and_then_the_system_holds_without_a_row_in_the_account() -> None:
    held = V2.given_up("action is missing.")
    assert (V2.repairs, held.orders) == (1, ())
    assert held.notes == (f"{SYSTEM_HOLD}, as no answer could be taken: action is missing.",)
    assert held.by_system
    playing = player()
    before = list(playing.journal)
    booking = playing.book(held, *MARKETS)
    assert (booking.orders, playing.journal) == ((), before)


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4) | st.sampled_from(["a", "YES", "p1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["action", "bets", "sells", "market_id", "side", "amount", "position_id", "percentage", "x"]
            )
            | st.integers(),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(values, st.sampled_from(["BET", "SELL", "HOLD", None]))
def test_whatever_is_handed_in_is_a_decision_or_refused_in_words(said: object, action: str | None) -> None:
    answer = {**said, "action": action} if isinstance(said, dict) and action else said
    try:
        decision = FORM.parse(answer)
    except AnswerError as error:
        assert str(error)
    else:
        assert all(math.isfinite(order.amount) and order.amount > 0 for order in decision.orders)
