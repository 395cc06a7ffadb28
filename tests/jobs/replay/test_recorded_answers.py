"""What a trace says again in the place of models and tools: with its own mark, or one that nobody knew."""

from typing import Any

import pytest

from predibot.contracts import ToolError, ToolText
from predibot.errors import BudgetSpent
from predibot.jobs.replay.recorded_answers import NotRecorded, Record
from predibot.plugins.strategies import StrategySpec
from tests.agents.scripted import context

MARK = "123456789012345678901234"
LIMIT = "the decision's limit of 1 searches is reached: 1 spent; raise that limit, or go on with what there is"


def searched(result: str, **more: object) -> Record:
    step = {"kind": "tool", "name": "web_search", "arguments": {"query": "rain"}, "result": result, **more}
    return Record(({"kind": "code", "untrusted_mark": MARK}, step), "")


def again(record: Record) -> Any:
    search = record.set_up(context(), StrategySpec("tool_agent")).tools.web_search
    assert search is not None
    return search("rain")


def test_a_rerun_has_the_mark_of_its_trace() -> None:
    assert searched("").set_up(context(), StrategySpec("tool_agent")).untrusted_mark == MARK


@pytest.mark.parametrize("mark", ["", "x", None, 7, "<<", "a" * 99, f"{MARK}\n"])
def test_what_is_no_mark_is_replaced_by_a_new_one(mark: object) -> None:
    drawn = (
        Record(({"kind": "code", "untrusted_mark": mark},), "")
        .set_up(context(), StrategySpec("tool_agent"))
        .untrusted_mark
    )
    assert drawn != mark
    assert len(drawn) == 24


@pytest.mark.parametrize(
    ("result", "outcome", "said"),
    [
        (f"<<untrusted {MARK}>>\nerror: a title\n<<end of untrusted {MARK}>>", "text", ToolText("error: a title")),
        (f"<<untrusted {MARK}>>\n{LIMIT}\n<<end of untrusted {MARK}>>", "text", ToolText(LIMIT)),
        (f"error: <<untrusted {MARK}>> {LIMIT} <<end of untrusted {MARK}>>", "error", ToolError(LIMIT)),
        ("error: the search returned nothing", "own", ToolError("")),
    ],
)
def test_an_answer_is_what_it_was_whatever_it_says(result: str, outcome: str, said: object) -> None:
    assert again(searched(result, outcome=outcome)) == said


def test_a_limit_is_reached_again() -> None:
    with pytest.raises(BudgetSpent, match="limit of 1 searches"):
        again(searched(f"error: {LIMIT}", outcome="limit"))


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("<<untrusted 0123456789abcdef>>\nfound\n<<end of untrusted 0123456789abcdef>>", ToolText("found")),
        ("error: timed out", ToolError("")),
    ],
)
def test_a_trace_of_an_earlier_version_is_read(result: str, said: object) -> None:
    assert again(searched(result)) == said


def test_a_limit_in_a_trace_of_an_earlier_version_is_reached_again() -> None:
    with pytest.raises(BudgetSpent, match="limit of 1 searches"):
        again(searched(f"error: {LIMIT}"))


def test_a_tool_of_the_user_answers_from_the_trace() -> None:
    steps = (
        {
            "kind": "tool_opened",
            "untrusted_mark": MARK,
            "name": "mine",
            "description": "Mine.",
            "parameters": {"type": "object"},
        },
        {
            "kind": "tool",
            "name": "mine",
            "arguments": {"b": 1, "a": [2]},
            "result": f"<<untrusted {MARK}>>\nfound\n<<end of untrusted {MARK}>>",
            "outcome": "text",
        },
    )
    tools = Record(steps, "").set_up(context(), StrategySpec("tool_agent")).tools
    mine = tools.open("mine")
    assert mine.schema.description == "Mine."
    assert mine.call({"a": [2], "b": 1}, 1.0) == ToolText("found")
    with pytest.raises(NotRecorded, match="mine was not called with"):
        mine.call({"a": [2], "b": 1}, 1.0)
    with pytest.raises(NotRecorded, match="the tool 'other' was not opened"):
        tools.open("other")
