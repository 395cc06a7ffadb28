"""Asking: what counts is the same whether a model is asked once, calls tools or writes code."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from predibot.agents.answer.one_shot import run_one_shot
from predibot.agents.answer.result import LoopResult
from predibot.agents.loop.container import ContainerSpec, Parameters, python_side
from predibot.agents.loop.run_agent import run_agent
from predibot.agents.loop.tool_loop import LoopLimits
from predibot.domain.chat import ChatRequest
from predibot.errors import BudgetSpent, ModelRefused, ModelUnavailable
from tests.agents.scripted import ScriptedModel, Turn, answer, context, reply, research, said

GOOD, BAD = answer(), answer(said(estimated_probability="60%"))
ABSTAIN = {"abstain": "m1 has\nnone"}


def inner_side(tools: Parameters) -> ContainerSpec:
    """Return how the other side of a container runs here, for code that is ours."""
    return ContainerSpec(python_side(sys.executable, tools))


WAYS: dict[str, Callable[[object], Turn]] = {
    "one shot": json.dumps,
    "tools": lambda said: ("final_answer", said),
    "code": lambda said: f"<code>\nfinal_answer(**{said!r})\n</code>",
}
"""How an answer is handed in."""


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def run(way: str, script: list[object], **more: object) -> tuple[LoopResult, ScriptedModel]:
    """Ask a model that hands in what a script has, or says what stands there already."""
    turns = [WAYS[way](each) if isinstance(each, dict) else each for each in script]
    model, seen = ScriptedModel(turns, **more), context(deadline_seconds=200.0)  # type: ignore[arg-type]
    if way == "one shot":
        return run_one_shot(model, "the prompt", seen.form(), seen, clock=lambda: 0.0), model
    limits, looked = LoopLimits(deadline_seconds=200.0), research(searches=0, pages=0)
    container = inner_side if way == "code" else None
    said = (model, "the prompt", looked, seen.form(), seen, limits)
    return run_agent(*said, container=container, clock=lambda: 0.0), model


def text_of(way: str, answer: object) -> str:
    return json.dumps(answer) if way == "tools" else str(WAYS[way](answer))


def test_there_are_three_repairs_and_no_more_and_a_mended_answer_is_taken(way: str) -> None:
    result, model = run(way, [BAD])
    assert (result.decision, result.kind, len(model.requests)) == (None, "answer", 4)
    assert result.reason.startswith("no answer held after 3 repairs; the last complaint: ")
    assert len(result.reason) <= 500
    result, model = run(way, [BAD, BAD, BAD, GOOD])
    assert result.decision is not None
    assert any("is the text '60%'; write 0.6" in each.text for each in model.requests[1].messages)


def test_a_model_may_abstain_with_its_reason_and_not_decide_beside_it(way: str) -> None:
    result, model = run(way, [ABSTAIN])
    assert (result.decision, result.reason, result.kind) == (None, "the model abstained: m1 has none", "bot")
    result, model = run(way, [{**GOOD, **ABSTAIN}, GOOD])
    assert (result.decision is not None, len(model.requests)) == (True, 2)
    assert "abstain stands beside other fields" in str(model.requests[1].messages)


def test_an_answer_that_was_cut_off_is_not_used_even_where_it_can_be_read(way: str) -> None:
    result, model = run(way, [reply(text_of(way, GOOD), finish="length"), GOOD])
    assert (result.decision is not None, len(model.requests)) == (True, 2)
    assert ("cut off at 4096 tokens" if way == "tools" else "cut off") in str(model.requests[1].messages)
    # What may be longer is asked for again in the same words.
    result, model = run(way, [reply(text_of(way, GOOD), finish="length", more_room=True), GOOD])
    assert result.decision is not None
    assert model.requests[0] == model.requests[1]


def test_a_refusal_ends_it_with_the_models_words(way: str) -> None:
    result, model = run(way, [reply(finish="refusal", refusal="I do not bet. " * 100)])
    assert (result.decision, result.kind, len(model.requests)) == (None, "answer", 1)
    assert result.reason.startswith("the model refused to answer: I do not bet.")
    assert len(result.reason) <= 500


@pytest.mark.parametrize("error", [ModelUnavailable("down"), ModelRefused("wrong key"), KeyError("a bug")])
def test_what_a_model_raises_passes_through_as_it_is(way: str, error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        run(way, [BAD, error])
    assert caught.value is error


def test_a_budget_that_not_even_an_answer_fits_in_is_an_abstention_with_its_reason(way: str) -> None:
    def nothing_fits(_request: ChatRequest) -> None:
        raise BudgetSpent("the run's limit of 10 steps would be passed")

    result, model = run(way, [GOOD], before=nothing_fits)
    assert (result.decision, result.kind, model.requests) == (None, "budget", [])
    assert result.reason == "the run's limit of 10 steps would be passed; nothing was handed in"


def test_what_a_turn_of_text_thought_goes_back_with_it(way: str) -> None:
    thought = '[{"model": "scripted", "reasoning_content": "hm"}]'
    first = reply(text_of(way, BAD))
    _, model = run(way, [replace(first, message=replace(first.message, state_json=thought)), GOOD])
    assert [each.state_json for each in model.requests[1].messages if each.role == "assistant"] == [thought]


def test_nothing_is_printed(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    wrong: dict[str, Turn] = {"one shot": "{", "tools": ("nosuch", {}), "code": "<code>\n1 / 0\n</code>"}
    run(way, [BAD, wrong[way], "text", {"no": "such"}, GOOD])
    assert capsys.readouterr() == ("", "")
