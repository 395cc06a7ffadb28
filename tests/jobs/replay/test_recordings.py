"""What a rerun is told again in the place of models and tools: typed steps, of traces of any age."""

import json
from dataclasses import replace
from typing import Any

import pytest

from predibot.agents.answer.one_shot import run_one_shot
from predibot.agents.answer.result import LoopEnd
from predibot.contracts import ToolError, ToolText
from predibot.domain.chat import ChatRequest, Message, Usage
from predibot.domain.trace import ModelNotAskedStep, ModelRequest, ModelStep, StoredTrace
from predibot.errors import BudgetSpent, NoAnswer
from predibot.jobs.replay.rerun import NotRecorded, Record
from predibot.plugins.strategies import StrategySpec, spec_of
from predibot.recipe.recipe import BotSpec
from tests.agents.scripted import answer, context, reply

MARK = "123456789012345678901234"
LIMIT = "the decision's limit of 1 searches is reached: 1 spent; raise that limit, or go on with what there is"


def recorded(*rows: dict[str, object]) -> Record:
    return Record(StoredTrace.of(rows))


def searched(result: str, **more: object) -> Record:
    step = {"kind": "tool", "name": "web_search", "arguments": {"query": "rain"}, "result": result, **more}
    return recorded({"kind": "code", "untrusted_mark": MARK, "code": ""}, step)


def again(record: Record) -> Any:
    search = record.set_up(context(), BotSpec("b", StrategySpec("tool_agent"))).tools.web_search
    assert search is not None
    return search("rain")


def test_a_rerun_has_the_mark_of_its_trace() -> None:
    assert searched("").set_up(context(), BotSpec("b", StrategySpec("tool_agent"))).untrusted_mark == MARK


@pytest.mark.parametrize("mark", ["", "x", None, 7, "<<", "a" * 99, f"{MARK}\n"])
def test_what_is_no_mark_is_replaced_by_a_new_one(mark: object) -> None:
    record = recorded({"kind": "code", "code": "", "untrusted_mark": mark})
    drawn = record.set_up(context(), BotSpec("b", StrategySpec("tool_agent"))).untrusted_mark
    assert drawn != mark
    assert len(drawn) == 24


@pytest.mark.parametrize(
    ("result", "more", "said"),
    [
        (f"<<untrusted {MARK}>>\nerror: a\n<<end of untrusted {MARK}>>", {"outcome": "text"}, ToolText("error: a")),
        (f"<<untrusted {MARK}>>\n{LIMIT}\n<<end of untrusted {MARK}>>", {"outcome": "text"}, ToolText(LIMIT)),
        ("as it was told then", {"outcome": "error", "said": LIMIT}, ToolError(LIMIT)),
        ("error: the search returned nothing", {"outcome": "own"}, ToolError("")),
        # Of an earlier version.
        (f"error: <<untrusted {MARK}>> {LIMIT} <<end of untrusted {MARK}>>", {"outcome": "error"}, ToolError(LIMIT)),
        ("<<untrusted 0123456789abcdef>>\nfound\n<<end of untrusted 0123456789abcdef>>", {}, ToolText("found")),
        ("error: timed out", {}, ToolError("")),
    ],
)
def test_an_answer_is_what_it_was_whatever_it_says(result: str, more: dict[str, object], said: object) -> None:
    assert again(searched(result, **more)) == said


@pytest.mark.parametrize("query", [["rain"], {"rain": 1}, None])
def test_a_call_with_another_query_than_a_text_is_no_crash(query: object) -> None:
    with pytest.raises(NotRecorded, match="web_search was not called with"):
        again(searched("error: give query as text", arguments={"query": query}, outcome="own"))


@pytest.mark.parametrize("refused", [{"recent_days": "7"}, {"sort": "newest"}, {"recent_days": [7]}])
def test_a_search_that_was_refused_is_not_what_the_next_one_found(refused: dict[str, object]) -> None:
    def step(arguments: dict[str, object], **more: object) -> dict[str, object]:
        return {"kind": "tool", "name": "web_search", "arguments": {"query": "rain", **arguments}, **more}

    record = recorded(
        step(refused, result="error: no", outcome="own"),
        step({"recent_days": 7, "sort": "rank"}, result="told otherwise", outcome="error", said="down"),
        step({"recent_days": "", "sort": "date"}, result="told otherwise", outcome="error", said="still down"),
    )
    search = record.set_up(context(), BotSpec("b", StrategySpec("tool_agent"))).tools.web_search
    assert search is not None
    assert search("rain", by_date=True) == ToolError("still down")
    assert search("rain", recent_days=7) == ToolError("down")


def test_a_limit_is_reached_again_in_whatever_words() -> None:
    with pytest.raises(BudgetSpent, match=r"\Aenough searched\Z"):
        again(searched("told otherwise", outcome="limit", said="enough searched"))


@pytest.mark.parametrize("more", [{}, {"outcome": "limit"}])
def test_a_limit_in_a_trace_of_an_earlier_version_is_reached_again(more: dict[str, object]) -> None:
    with pytest.raises(BudgetSpent, match=r"\Athe decision's limit of 1 searches"):
        again(searched(f"error: {LIMIT}", **more))


def test_a_model_that_was_not_asked_is_not_asked_again_and_after_that_the_stored_reason_stands() -> None:
    asked = ModelRequest("m", "ab", 1, (), (), None, 4096)
    record = Record(StoredTrace((ModelNotAskedStep(asked, "no money"),)), "as it ended", "budget")
    request = ChatRequest((Message("user", "?"),))
    with pytest.raises(BudgetSpent, match=r"\Aonly the answer was taken then\Z"):
        record.reply("another", request)
    with pytest.raises(BudgetSpent, match=r"\Ano money\Z"):
        record.reply("m", request)
    with pytest.raises(LoopEnd, match=r"\Aas it ended\Z") as ended:
        record.reply("m", request)
    assert (ended.value.kind, record.rest()) == ("budget", 0)


CUT = replace(
    reply("{", finish="length"), usage=Usage(10, 4096, {"completion_tokens_details": {"reasoning_tokens": 9}})
)


@pytest.mark.parametrize(
    ("lengths", "messages"),
    [
        ((4096, 16_000), (1, 1)),
        ((16_000, 16_000), (1, 3)),
        ((4096, -16_000, 4096), (1, 1, 1)),
        ((4096, -16_000, 10_048), (1, 1, 1)),
    ],
)
def test_what_was_asked_again_with_more_room_is_asked_so_again(
    lengths: tuple[int, ...], messages: tuple[int, ...]
) -> None:
    # A length below zero had no room in the budget.
    steps: list[ModelStep | ModelNotAskedStep] = []
    for length, sent in zip(lengths, messages, strict=True):
        asked = ModelRequest("m", "ab", sent, (), (), None, abs(length))
        said = CUT if len(steps) + 1 < len(lengths) else reply(json.dumps(answer()))
        steps.append(ModelStep(asked=asked, reply=said) if length > 0 else ModelNotAskedStep(asked, "no money"))
    record = Record(StoredTrace(tuple(steps)))
    seen = record.set_up(context(), BotSpec("b", spec_of("one_shot", {"model": "m"})))
    assert run_one_shot(seen.model("m"), "?", context().form(), seen).decision is not None
    assert record.rest() == 0


def test_what_was_cut_off_at_less_than_it_wanted_says_so_again() -> None:
    asked = [ModelRequest("m", "ab", 1, (), (), None, length) for length in (4096, 16_000, 32_000, 24_000)]
    steps = [ModelStep(asked=each, reply=CUT) for each in asked]
    record = Record(StoredTrace((*steps[:2], ModelNotAskedStep(asked[2], "no money"), steps[3])))
    seen = record.set_up(context(), BotSpec("b", spec_of("one_shot", {"model": "m"})))
    with pytest.raises(NoAnswer, match="cut off at 24,000 tokens"):
        run_one_shot(seen.model("m"), "?", context().form(), seen)


def test_a_tool_of_the_user_answers_from_the_trace() -> None:
    opened = {"kind": "tool_opened", "name": "mine", "description": "Mine.", "parameters": {"type": "object"}}
    called = {"kind": "tool", "name": "mine", "arguments": {"b": 1, "a": [2]}, "outcome": "text"}
    told = {"result": f"<<untrusted {MARK}>>\nfound\n<<end of untrusted {MARK}>>"}
    record = recorded({**opened, "untrusted_mark": MARK}, {**called, **told})
    tools = record.set_up(context(), BotSpec("b", StrategySpec("tool_agent"))).tools
    mine = tools.open("mine")
    assert mine.schema.description == "Mine."
    assert mine.call({"a": [2], "b": 1}, 1.0) == ToolText("found")
    with pytest.raises(NotRecorded, match="mine was not called with"):
        mine.call({"a": [2], "b": 1}, 1.0)
    with pytest.raises(NotRecorded, match="the tool 'other' was not opened"):
        tools.open("other")
