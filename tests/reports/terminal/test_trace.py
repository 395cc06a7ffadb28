"""Traces on a screen: everything is there, and nothing a stranger wrote does anything."""

from dataclasses import replace

import pytest

from predibot.domain.chat import ChatReply, Cost, Message, ToolCall, Usage
from predibot.domain.trace import ModelFailedStep, ModelRequest, ModelStep, OwnStep, Step, StoredTrace, ToolStep
from predibot.jobs.read_traces import DecisionTrace, StepUsage, UsageReport
from predibot.ledger.read.decision_traces import TracedDecision
from predibot.reports.terminal.trace import print_trace, print_usage, trace_document
from tests.reports.views_of import piped

HOSTILE = "\x1b]0;owned\x07\x9b2J\u202eevil\u2028[red]markup[/red]"
DECISION = TracedDecision("r", "b", "1", "recorded", HOSTILE, "ab" * 32)
ASKED = ModelRequest(HOSTILE, "", 1, (Message("user", HOSTILE),), (), None, 100)
MODEL = ModelStep(
    asked=ASKED,
    reply=ChatReply(
        Message("assistant", HOSTILE, (ToolCall("1", HOSTILE, HOSTILE),)),
        "length",
        Usage(None, 5),
        Cost(None, "unknown"),
        HOSTILE,
        seconds=1.5,
        retries=2,
        refusal=HOSTILE,
    ),
)
FAILED = ModelFailedStep(asked=ASKED, error="AnswerLost", message="down", lost_tries=2)
TOOL = ToolStep(HOSTILE, {"q": HOSTILE}, HOSTILE * 40, "own", seconds=0.1)
ODD = OwnStep(HOSTILE, {"complaint": HOSTILE})


def _shown(*steps: Step, full: bool) -> str:
    return piped(print_trace, DecisionTrace(DECISION, StoredTrace(steps)), full=full)


def test_control_characters_and_reordering_never_reach_the_screen() -> None:
    for full in (False, True):
        shown = _shown(MODEL, TOOL, ODD, full=full)
        assert not set("\x1b\x07\x9b\u202e\u2028") & set(shown)
        assert "[red]markup[/red]" in shown


def test_a_single_retry_is_one() -> None:
    assert "1 retry," in _shown(replace(MODEL, reply=replace(MODEL.reply, retries=1)), full=False)


def test_retries_missing_tokens_and_unknown_cost_are_said() -> None:
    assert "– tokens in, 5 out, cost unknown, 2 retries, length, 1.50 s" in _shown(MODEL, full=False)


def test_tries_that_may_have_been_charged_are_said() -> None:
    shown = _shown(replace(MODEL, reply=replace(MODEL.reply, lost_tries=1)), FAILED, full=False)
    assert "2 retries, 1 try lost that may have been charged, length" in shown
    assert "2. model failed, 2 tries lost that may have been charged" in shown


def test_what_is_booked_by_estimate_is_said() -> None:
    shown = _shown(MODEL, replace(FAILED, lost_tries=1, estimated_usd=0.045), full=False)
    assert "2. model failed, 1 try lost that may have been charged, $0.045 estimated" in shown
    assert shown.count("estimated") == 1


def test_a_long_result_is_shortened_unless_all_is_asked_for() -> None:
    assert "…" in _shown(TOOL, full=False)
    assert _shown(TOOL, full=True).count("markup") > 40


def test_an_unknown_cost_is_shown_with_the_part_that_is_known() -> None:
    row = StepUsage("b", "all", steps=1, calls=1, calls_without_usage=1, cost_usd=None, cost_known_usd=0.25)
    shown = piped(print_usage, UsageReport((row,), 1, ()))
    assert "unknown, $0.25" in shown and "in no sum: 1" in shown


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_what_was_asked_for_is_shown_on_any_screen(columns: int) -> None:
    row = StepUsage("bot0", "model", steps=1, calls=1, cost_usd=None, cost_known_usd=0.006, cost_estimated_usd=0.026)
    title, header, cells, *_ = piped(print_usage, UsageReport((row,), 1, ()), columns=columns).splitlines()
    assert title.strip() == "Used in 1 trace"
    assert header.split()[:2] == ["bot", "step"] and header.rstrip().endswith("cost")
    assert cells.split()[:2] == ["bot0", "model"]
    assert cells.rstrip().endswith("unknown, $0.006 of it known, $0.026 estimated")


def test_a_number_that_is_none_does_not_break_the_document() -> None:
    trace = DecisionTrace(DECISION, StoredTrace((ToolStep("t", {"p": [float("nan")]}, "", "own"),)))
    assert trace_document(trace)["steps"][0]["arguments"] == {"p": ["nan"]}


def test_the_last_belief_stands_before_the_steps_and_every_one_at_its_own() -> None:
    def believing(probability: object, result: str = "written down") -> ToolStep:
        given = {"probabilities": [{"market_id": "m1", "probability": probability}], "evidence_for": HOSTILE}
        return ToolStep("update_belief", given, result, "own")

    refused = (believing("refused"), believing(0.75, "error: there is no market 'm1' here"))
    shown = _shown(believing(0.5), MODEL, believing(0.625), *refused, full=False)
    assert shown.index("last belief: m1 0.625") < shown.index("1. tool") < shown.index("   belief: m1 0.5\n")
    assert shown.count("evidence for: ") == 3 and "\x1b" not in shown
