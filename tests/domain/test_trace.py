"""Steps of traces: those of today and of before they had types, those of users, and those that are none."""

import json
import math
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.agents.loop.evidence import Research
from predibot.agents.loop.run_agent import run_agent
from predibot.agents.loop.tool_loop import LoopLimits
from predibot.agents.prompts.untrusted_text import Fence
from predibot.domain.trace import (
    MAX_DEPTH,
    MAX_TEXT_CHARACTERS,
    CodeStep,
    OwnStep,
    StoredTrace,
    ToolStep,
    UnreadableStep,
    cost_of_steps,
    step_of,
    sum_estimates_usd,
)
from predibot.jobs.read_traces import DecisionTrace
from predibot.jobs.replay.rerun import Record
from predibot.ledger.files.traces import Trace
from predibot.ledger.read.decision_traces import TracedDecision
from predibot.plugins.strategies import StrategySpec
from predibot.recipe.recipe import BotSpec
from predibot.reports.terminal.terminal import console_for
from predibot.reports.terminal.trace import print_trace, trace_document
from tests.agents.scripted import context

TOOLS = ("web_search", "visit_webpage", "mine")
BEFORE_TYPES = [
    json.loads(line)
    for line in (Path(__file__).parent / "traces" / "before_types.jsonl").read_text("utf-8").splitlines()
]
"""Every kind of step, as predibot wrote it when steps were no types."""


def shown(trace: StoredTrace) -> str:
    screen = StringIO()
    decision = TracedDecision("r", "b", "1", "recorded", "", "ab" * 32)
    print_trace(console_for(screen), DecisionTrace(decision, trace), full=True)
    assert json.loads(json.dumps(trace_document(DecisionTrace(decision, trace)), allow_nan=False))
    return screen.getvalue()


def with_changed(kind: str, **changed: object) -> list[dict[str, Any]]:
    """Return the first row of a kind with other fields; None takes one away."""
    row = next(row for row in BEFORE_TYPES if row["kind"] == kind)
    return [{name: value for name, value in {**row, **changed}.items() if value is not ...}]


def test_a_trace_of_before_types_is_read_whole_and_costs_what_it_did() -> None:
    trace = StoredTrace.of(BEFORE_TYPES)
    assert not [step for step in trace.steps if isinstance(step, UnreadableStep)]
    assert trace.untrusted_mark == "123456789012345678901234"
    cost_usd, known_usd = cost_of_steps(trace.steps)
    assert (cost_usd, known_usd) == (None, pytest.approx(0.51004))
    assert sum_estimates_usd(trace.steps) == pytest.approx(0.117352)
    assert "27. thought" in shown(trace)


def test_a_trace_of_before_types_is_written_as_it_was_but_for_what_a_rerun_reads() -> None:
    again = [dict(row) for row in StoredTrace.of(BEFORE_TYPES).rows()]
    said = {row.pop("said") for row in again if "said" in row}
    (limit,) = said - {"there is no part 7; the page has parts 1 to 1.", "no such word"}
    assert limit.startswith("the decision's limit of 3 searches is reached")
    assert again == BEFORE_TYPES


@pytest.mark.parametrize(("lost_tries", "cost_usd"), [(0, 0.0), (1, None)])
def test_a_refused_request_of_an_older_trace_was_free_unless_a_try_before_it_was_lost(
    lost_tries: int, cost_usd: float | None
) -> None:
    rows = with_changed("model_failed", error="ModelRefused", lost_tries=lost_tries, estimated_usd=...)
    assert cost_of_steps(StoredTrace.of(rows).steps) == (cost_usd, 0.0)


def test_a_trace_of_before_types_is_rerun() -> None:
    record = Record(StoredTrace.of(BEFORE_TYPES))
    seen = record.set_up(context(), BotSpec("b", StrategySpec("tool_agent")))
    fence = Fence(seen.untrusted_mark)
    looked = Research.with_tools(seen.tools, TOOLS, fence, min_searches=1, min_pages=1)

    class Model:
        name = "scripted"
        chat = staticmethod(lambda request, deadline_seconds: record.reply("scripted", request))

    result = run_agent(Model(), "Will it rain?", looked, seen.form(), seen, LoopLimits(), clock=lambda: 0.0)
    assert result.decision is not None
    assert (result.decision.forecasts[0].probability, record.rest()) == (0.6, 1)


@pytest.mark.parametrize(
    ("kind", "changed", "said"),
    [
        ("model", {"usage": 4}, "usage: it is 4, not an object"),
        ("model", {"usage": ...}, "usage is missing"),
        ("model", {"cost": {"usd": math.inf, "source": "recipe"}}, "cost: usd: it is inf, not a number"),
        ("model", {"seconds": math.nan}, "seconds: it is nan, not a number"),
        ("model", {"retries": True}, "retries: it is True, not a whole number"),
        ("model", {"retries": 2**70}, "retries: it is 1180591620717411303424, not a whole number"),
        ("model", {"finish_reason": "sudden"}, "finish_reason: it is 'sudden', not one of"),
        ("model", {"citations": [1]}, "citations: it is 1, not a text"),
        ("model_failed", {"message": []}, "message: it is a list or an object, not a text"),
    ],
)
def test_a_trace_in_which_what_a_model_said_is_not_whole_is_refused(
    kind: str, changed: dict[str, object], said: str
) -> None:
    with pytest.raises(ValueError, match=rf"\Arow 1, {kind}: ") as refused:
        StoredTrace.of(with_changed(kind, **changed))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("search", {"results": [{"title": 1}]}),
        ("tool_paid", {"cost_usd": "free"}),
        ("tool", {"outcome": ["text"]}),
        ("page_visited", {"url": "x" * (MAX_TEXT_CHARACTERS + 200)}),
        ("code", {"code": None}),
        ("thought", {"deep": json.loads("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))}),
    ],
)
def test_another_step_that_is_none_is_told_of_and_may_have_cost_anything(kind: str, changed: dict[str, object]) -> None:
    (row,) = with_changed(kind, **changed)
    trace = StoredTrace.of([row])
    assert isinstance(trace.steps[0], UnreadableStep)
    assert cost_of_steps(trace.steps) == (None, 0.0)
    assert trace.rows() == [row]
    assert "1. no step that predibot wrote; --json shows it" in shown(trace)


FLAT = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
LISTED = FLAT | st.lists(FLAT, max_size=3)
JSON = LISTED | st.lists(LISTED, max_size=3) | st.dictionaries(st.text(max_size=9), LISTED, max_size=3)


@given(st.data(), JSON)
def test_whatever_stands_in_a_field_a_trace_is_refused_or_shown_and_summed(data: st.DataObject, value: object) -> None:
    row = dict(data.draw(st.sampled_from(BEFORE_TYPES)))
    place = row
    while isinstance(inner := place[name := data.draw(st.sampled_from(sorted(place)))], dict) and inner:
        place[name] = dict(inner)
        place = place[name]
    place[name] = value
    try:
        trace = StoredTrace.of([row])
    except ValueError as error:
        assert row.get("kind") in ("model", "model_failed") or not isinstance(row.get("kind"), str), error
        return
    assert shown(trace)
    assert math.isfinite(cost_of_steps(trace.steps)[1] + sum_estimates_usd(trace.steps))


def test_a_strategy_writes_down_what_it_likes_but_no_step_of_predibot() -> None:
    trace = Trace()
    trace.record("thought", text="hm", at={1: (2, None)})
    assert trace.text == '{"step": 1, "kind": "thought", "text": "hm", "at": {"1": [2, null]}}\n'
    assert step_of(json.loads(trace.text)) == OwnStep("thought", {"text": "hm", "at": {"1": [2, None]}})
    with pytest.raises(ValueError, match="steps 'model' are predibot's; write yours down under another name"):
        trace.record("model", text="hm")


def test_whatever_is_written_down_can_be_read() -> None:
    deep: object = "end"
    for _ in range(3 * MAX_DEPTH):
        deep = {"deeper": [deep]}
    trace = Trace(("sk-secret-key",), untrusted_mark="1" * 24)
    trace.write(ToolStep("t", deep, "x" * (2 * MAX_TEXT_CHARACTERS), "error", "sk-secret-key", 0.5))
    trace.write(CodeStep("print('sk-secret-key')"))
    read = StoredTrace.of([json.loads(line) for line in trace.text.splitlines()])
    called, code = read.steps
    assert isinstance(called, ToolStep)
    assert (called.said, called.seconds, code) == ("***", 0.5, CodeStep("print('***')"))
    assert called.result.endswith(f" … ({2 * MAX_TEXT_CHARACTERS:,} characters)")
    assert [json.dumps(row, ensure_ascii=False) for row in read.rows()] == trace.text.splitlines()
