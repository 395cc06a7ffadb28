"""Answers about a portfolio: which weights are taken, by which rule they are changed, and what is said of others."""

import json
import math
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.account import Position
from predibot.errors import AnswerError
from predibot.games.portfolio_weights import PortfolioWeights
from tests.games.portfolios import parsed, side, view_of, weights_of


def refusal(allocations: object, game: PortfolioWeights | None = None) -> str:
    with pytest.raises(AnswerError) as caught:
        parsed(allocations, game=game)
    return str(caught.value)


@pytest.mark.parametrize(
    ("said", "weights"),
    [
        ({"A_Yes": 0.25, "B_No": 0.15, "CASH": 0.6}, {"A_Yes": 0.25, "B_No": 0.15, "CASH": 0.6}),
        ({"A_Yes": 0.5, "B_Yes": 0.7}, {"A_Yes": 0.416667, "B_Yes": 0.583333, "CASH": 0.0}),
        ({"A_Yes": 0.2}, {"A_Yes": 0.2, "CASH": 0.8}),
        ({"A_Yes": 25, "B_Yes": 75}, {"A_Yes": 0.25, "B_Yes": 0.75, "CASH": 0.0}),
        ({"A_Yes": "25%", "CASH": 0.75}, {"A_Yes": 0.25, "CASH": 0.75}),
        ({"A_Yes": "25%", "CASH": 75}, {"A_Yes": 0.25, "CASH": 0.75}),
        ({"A_Yes": 1}, {"A_Yes": 1.0, "CASH": 0.0}),
        ({"A_Yes": 0.5, "CASH": 0.9}, {"A_Yes": 0.357143, "CASH": 0.642857}),
        ({"A_Yes": 60, "B_No": 40.9}, {"A_Yes": 0.594648, "B_No": 0.405352, "CASH": 0.0}),
        ({"A_Yes": 60, "B_No": 39.1}, {"A_Yes": 0.6, "B_No": 0.391, "CASH": 0.009}),
        ({"CASH": 1}, {"CASH": 1.0}),
        ({"A_Yes": 0, "B_No": 0.0}, {"A_Yes": 0.0, "B_No": 0.0, "CASH": 1.0}),
    ],
)
def test_weights_are_shares_or_percent_and_come_to_one(said: object, weights: dict[str, float]) -> None:
    assert weights_of(parsed(said)) == weights


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"A_Yes": 3, "B_Yes": 4}, "come to 7, which are neither shares, each at most 1, nor percent, together 100"),
        ({"A_Yes": True}, "the weight of 'A_Yes' is True; give its share"),
        ({"A_Yes": math.nan}, "is nan; give its share"),
        ({"A_Yes": math.inf}, "is inf; give its share"),
        ({"A_Yes": "abc"}, "is 'abc'; give its share"),
        ({"A_Yes": "0.5"}, "is '0.5'; give its share"),
        ({"A_Yes": None}, "is None; give its share"),
        ({"A_Yes": "-5%"}, "is '-5%'; give its share"),
        ({"A_Yes": "٢٥%"}, "give its share"),
        ({"A_Yes": [0.5]}, "is a list; give its share"),
        ({"A_Yes": 10**400}, "a number of more digits than can be read"),
        ({"A_Yes": 1e308, "B_Yes": 1e308, "CASH": 1e308}, "come to inf"),
        ({"A_Yes": -0.5}, "is -0.5; nothing is sold short"),
        ({"A_Yes": 60, "B_Yes": 41.1}, "come to 101.1"),
        ({"A_Yes": 0.3, "A_No": 0.2}, "both sides of market 'A' have a weight, 0.3 and 0.2; keep one of them"),
        ({}, 'allocations is empty; give each asset that you want its weight, for all in cash it is {"CASH": 1}'),
        ({7: 0.5}, "an asset is named 7; name assets as they are shown"),
        ([0.5], "allocations is a list; give an object"),
        ("A_Yes", "allocations is 'A_Yes'; give an object"),
        ({str(number): 0.0001 for number in range(1_001)}, "has 1,001 entries"),
    ],
)
def test_a_weight_that_is_none_is_refused_with_what_to_give(said: object, why: str) -> None:
    assert why in refusal(said)


def test_what_was_said_stays_beside_what_is_applied_and_the_rule_is_named() -> None:
    decision = parsed({"A_Yes": 0.5, "B_Yes": 0.7})
    assert [order.asked for order in decision.orders] == [0.5, 0.7]
    assert decision.notes == ("the weights came to 1.2, CASH 0 of it; all were scaled by 0.833333",)


def test_a_recipe_may_have_too_much_refused_instead_of_scaled() -> None:
    strict = PortfolioWeights(overweight="refuse")
    assert "the weights come to 1.2; lower them by 0.2 in total" in refusal({"A_Yes": 0.5, "B_Yes": 0.7}, strict)
    assert weights_of(parsed({"A_Yes": 0.3, "B_Yes": 0.7}, game=strict))["CASH"] == 0.0


def test_the_weight_of_an_asset_nobody_knows_goes_to_cash_and_is_flagged() -> None:
    decision = parsed({"A_Yes": 0.25, "NVDA": 0.5})
    assert weights_of(decision) == {"A_Yes": 0.25, "CASH": 0.75}
    assert decision.notes == ("no asset of this portfolio is called 'NVDA'; its weight of 0.5 went to CASH",)
    assert weights_of(parsed({"a_yes": 0.5})) == {"CASH": 1.0}


def test_both_sides_may_be_netted_where_the_recipe_says_so() -> None:
    decision = parsed({"A_Yes": 0.5, "A_No": 0.2, "CASH": 0.3}, game=PortfolioWeights(both_sides="net"))
    assert weights_of(decision) == {"A_Yes": 0.3, "A_No": 0.0, "CASH": 0.7}
    assert "both sides of market A had a weight; 0.2 of each went to CASH" in decision.notes[0]


@pytest.mark.parametrize("overweight", ["scale", "refuse"])
def test_what_is_netted_is_left_in_cash_and_scales_nothing(overweight: Literal["scale", "refuse"]) -> None:
    game = PortfolioWeights(both_sides="net", overweight=overweight)
    decision = parsed({"A_Yes": 0.9, "A_No": 0.3}, game=game)
    assert weights_of(decision) == pytest.approx({"A_Yes": 0.6, "A_No": 0.0, "CASH": 0.4})
    assert not any("scaled" in note for note in decision.notes)


def test_a_whole_that_is_one_rounding_too_large_is_one() -> None:
    assert weights_of(parsed({"A_Yes": 1.0000000001})) == {"A_Yes": 1.0, "CASH": 0.0}


def test_every_fault_is_named_at_once() -> None:
    answer = {
        "reasoning": 5,
        "allocations": {"A_Yes": "x", "B_Yes": -1},
        "probabilities": {"A": 70, "Z": 0.1},
        "why": "",
    }
    with pytest.raises(AnswerError) as caught:
        PortfolioWeights().form(view_of()).parse(answer)
    said = str(caught.value)
    for part in ("reasoning is 5", "'A_Yes' is 'x'", "'B_Yes' is -1", "for 70 percent write 0.7", "'Z', no market"):
        assert part in said
    assert "the field 'why' is unknown; take it out" in said


def test_probabilities_are_forecasts_and_may_be_left_out() -> None:
    form = PortfolioWeights().form(view_of())
    decision = form.parse({"allocations": {"CASH": 1}, "probabilities": {"B": 0.75}})
    assert [(said.market_id, said.probability) for said in decision.forecasts] == [("B", 0.75)]
    assert parsed({"CASH": 1}).forecasts == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"allocations": {"A_Yes": NaN}}', "NaN is not a number"),
        ('{"allocations": {"A_Yes": 0.1, "A_Yes": 0.9}}', "a field is given twice"),
        ('{"allocations": {"CASH": 0.1, "CASH": 0.9}}', "CASH is given twice"),
        ('{"allocations": {"CASH": 1}, "allocations": {"CASH": 0}}', "allocations is given twice"),
        ('{"allocations": ' + "[" * 40_000 + "]" * 40_000 + "}", "nested too deep"),
        ("I would hold a little of everything.", "not JSON"),
        ('{"allocations": {"A_Yes": ' + "9" * 5_000 + "}}", "the answer is not JSON"),
        ("[]", "hand in an object with reasoning and allocations"),
        ("{}", "allocations is missing"),
        ("x" * 100_001, "keep it below"),
    ],
)
def test_text_that_is_no_answer_is_refused_with_what_to_hand_in(text: str, why: str) -> None:
    with pytest.raises(AnswerError) as caught:
        PortfolioWeights().form(view_of()).parse(text)
    assert why in str(caught.value)


def test_a_name_that_turns_text_around_is_shown_harmless() -> None:
    decision = parsed({"\u202egnihton\x1b[31m": 0.5})
    assert decision.notes[0].isascii() and "\\u202e" in decision.notes[0]
    assert "\u202e" not in refusal({"\u202eA": "x"})


def test_what_is_held_and_not_named_is_sold_and_cash_alone_sells_all() -> None:
    view = view_of(held={side("B", "NO"): Position(10.0, 4.0)})
    assert weights_of(parsed({"A_Yes": 0.5}, view), view) == {"A_Yes": 0.5, "B_No": 0.0, "CASH": 0.5}
    assert weights_of(parsed({"CASH": 1}, view), view) == {"B_No": 0.0, "CASH": 1.0}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(["A_Yes", "A_No", "B_Yes", "B_No", "CASH", "C_Yes"])
VALUES = JSON | st.floats(0, 1) | st.floats(0, 100) | st.integers(0, 100).map("{}%".format)


@given(st.dictionaries(NAMES | st.text(max_size=6), VALUES, max_size=6), st.sampled_from(["scale", "refuse"]))
def test_whatever_is_said_is_refused_or_comes_to_weights_an_account_can_have(said: object, overweight: str) -> None:
    game = PortfolioWeights(overweight=overweight, both_sides="net")  # type: ignore[arg-type]
    try:
        decision = parsed(said, game=game)
    except AnswerError as error:
        assert str(error)
        return
    assert all(0.0 <= order.amount <= 1.0 + 1e-9 for order in decision.orders)
    assert sum(order.amount for order in decision.orders) <= 1.0 + 1e-9
    held = {order.instrument for order in decision.orders if order.amount > 0.0}
    assert not any(side(name) in held and side(name, "NO") in held for name in ("A", "B"))


@given(JSON | st.text(max_size=60))
def test_no_answer_of_any_shape_breaks_the_parser(answer: object) -> None:
    form = PortfolioWeights().form(view_of())
    for each in (answer, json.dumps(answer), str(answer)):
        try:
            form.parse(each)
        except AnswerError as error:
            assert str(error)
