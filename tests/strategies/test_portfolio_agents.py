"""Agents that manage a portfolio: the same strategies, with words, schema and parser of that game."""

import json
import random

import pytest

from predibot.contracts import Context
from predibot.domain.account import Position
from predibot.domain.decision import Abstention, Decision, Forecast, Order
from predibot.games.portfolio_weights import PortfolioView, PortfolioWeights
from predibot.plugins.strategies import load_strategy, spec_of
from tests.agents.scripted import RESEARCHED, ScriptedModel, Turn, toolbox
from tests.decisions import taken
from tests.games.portfolios import AT, side, view_of, weights_of

ANSWER = {"reasoning": "The news and the price history.", "allocations": {"A_No": 0.25, "B_Yes": "50%"}}
HELD = {"A_No": 0.25, "B_Yes": 0.5, "CASH": 0.25}


def answered(name: str, talker: ScriptedModel, **arguments: object) -> Decision:
    view = view_of()
    context = Context(
        AT,
        view,
        PortfolioWeights(),
        random.Random(1),
        account=view.account,
        model=lambda _name: talker,
        tools=toolbox(),
    )
    decision = taken(load_strategy(spec_of(name, arguments)).decide(context))
    return decision


def test_one_shot_allocates() -> None:
    model = ScriptedModel([json.dumps(ANSWER)])
    decision = answered("one_shot", model, model="scripted")
    assert (weights_of(decision), decision.rationale) == (HELD, "The news and the price history.")
    assert "512_Yes" in model.requests[0].messages[0].text


def test_a_tool_agent_allocates_after_its_research_and_hands_in_what_holds() -> None:
    wrong = {"allocations": {"A_No": 0.5, "A_Yes": 0.5}}
    script: list[Turn] = [*RESEARCHED, ("final_answer", wrong), ("final_answer", ANSWER)]
    model = ScriptedModel(script)
    decision = answered("tool_agent", model, model="scripted")
    assert weights_of(decision) == HELD
    assert any("both sides of market" in message.text for message in model.requests[-1].messages)
    schema = next(tool for tool in model.requests[-1].tools if tool.name == "final_answer")
    assert list(schema.parameters["properties"]["allocations"]["properties"]) == [
        "A_Yes", "A_No", "B_Yes", "B_No", "CASH",
    ]  # fmt: skip


def test_a_report_becomes_an_allocation_without_prices_being_shown_again() -> None:
    model = ScriptedModel(["Hold half of B.", json.dumps(ANSWER)])
    decision = answered("deep_research", model, model="perplexity/sonar-deep-research", extract_model="scripted")
    assert weights_of(decision) == HELD
    assert "0.6" in model.requests[0].messages[0].text and "0.6" not in model.requests[1].messages[0].text


def test_samples_are_pooled_by_their_mean() -> None:
    said = [{"A_Yes": 0.4}, {"A_Yes": 0.2, "B_No": 0.6}, {"CASH": 1}]
    script: list[Turn] = [
        json.dumps({"allocations": weights, "probabilities": {"A": chance}})
        for weights, chance in zip(said, (0.2, 0.4, 0.9), strict=True)
    ]
    decision = answered("ensemble", ScriptedModel(script), model="scripted", samples=3)
    assert weights_of(decision) == {"A_Yes": 0.2, "B_No": 0.2, "CASH": 0.6}
    assert decision.forecasts == (Forecast("A", pytest.approx(0.5)),)
    assert decision.notes == ("3 of 3 samples",)


def pooled(stored: dict[str, Decision | None], view: PortfolioView | None = None) -> Decision | Abstention:
    view = view_of() if view is None else view
    context = Context(AT, view, PortfolioWeights(), random.Random(1), account=view.account, members=stored)
    return load_strategy(spec_of("ensemble", {"members": list(stored)})).decide(context)


def ordered(**weights: float) -> Decision:
    assets = view_of().assets
    return Decision(orders=tuple(Order(assets[name], weight, "weight") for name, weight in weights.items()))


def test_members_that_hold_both_sides_come_to_the_difference() -> None:
    decision = taken(pooled({"a": ordered(A_Yes=0.6), "b": ordered(A_No=0.2, B_Yes=0.8)}))
    assert weights_of(decision) == {"A_Yes": 0.2, "B_Yes": 0.4, "CASH": 0.4}
    assert decision.notes == ("2 of 2 members", "of these the difference of both sides is held: A")


def test_what_no_member_wants_any_more_is_sold() -> None:
    view = view_of(held={side("B", "NO"): Position(5.0, 2.0)})
    decision = taken(pooled({"a": ordered(A_Yes=0.6), "b": ordered()}, view))
    assert weights_of(decision, view) == {"A_Yes": 0.3, "B_No": 0.0, "CASH": 0.7}


def test_too_few_members_are_no_allocation() -> None:
    abstained = pooled({"a": ordered(A_Yes=0.6), "b": None, "c": None})
    assert isinstance(abstained, Abstention)
    assert abstained.kind == "members"
