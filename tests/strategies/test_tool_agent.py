"""The agent that searches and reads, as a strategy."""

import json

import pytest

from predibot.domain.decision import Abstention, Decision
from predibot.errors import NoAnswer, PluginError
from predibot.plugins.strategies import load_strategy, spec_of
from tests.agents.scripted import GOOD, RESEARCHED, ScriptedModel, answer, context, toolbox
from tests.decisions import taken


def decide(model: ScriptedModel, *, no_tools: str = "", **arguments: object) -> Decision | Abstention:
    strategy = load_strategy(spec_of("tool_agent", {"model": "scripted", **arguments}))
    seen = context(
        model=lambda _name: model,
        tools=toolbox(),
        why_no_tools=lambda _name: no_tools,
        untrusted_mark="0123456789" * 2,
    )
    return strategy.decide(seen)


def test_an_agent_looks_up_as_much_as_the_recipe_says_and_decides() -> None:
    for decision in (
        decide(ScriptedModel([*RESEARCHED, GOOD])),
        decide(ScriptedModel([GOOD]), min_searches=0, min_pages=0),
    ):
        assert isinstance(decision, Decision)
        assert decision.notes == ()


def test_the_recipe_says_how_many_steps_there_are() -> None:
    model = ScriptedModel([("web_search", {"query": "rain"})])
    with pytest.raises(NoAnswer, match="nothing could be made of 3 turns in a row"):
        decide(model, max_steps=2)
    assert len(model.requests) == 4


def test_a_model_that_calls_no_tools_fails_with_the_words_of_its_provider() -> None:
    model = ScriptedModel([json.dumps(answer())])
    with pytest.raises(NoAnswer, match=r"gemma does not support tools; .*without_tools = 'one_shot'"):
        decide(model, no_tools="gemma does not support tools")
    assert not model.requests
    # One that is allowed to is asked once, and the decision says so.
    decision = taken(decide(model, no_tools="gemma does not support tools", without_tools="one_shot"))
    assert decision.notes == ("without tools", "under_researched")
    assert not model.requests[0].tools


def test_the_same_seed_gives_the_same_words_to_the_model() -> None:
    models = [ScriptedModel([*RESEARCHED, GOOD]) for _ in range(2)]
    assert decide(models[0]) == decide(models[1])
    assert models[0].requests == models[1].requests


@pytest.mark.parametrize("arguments", [{"max_steps": 0}, {"min_pages": -1}, {"min_searches": 21}, {"max_steps": "12"}])
def test_numbers_that_make_no_sense_are_refused_in_the_recipe(arguments: dict[str, object]) -> None:
    with pytest.raises(PluginError, match=next(iter(arguments))):
        spec_of("tool_agent", {"model": "scripted", **arguments})
