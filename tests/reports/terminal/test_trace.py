"""Traces on a screen: everything is there, and nothing a stranger wrote does anything."""

from io import StringIO
from typing import Any

import pytest

from predibot.jobs.read_traces import ReadTrace, Used, UsedReport
from predibot.ledger.read.decision_traces import TracedDecision
from predibot.reports.terminal.terminal import console_for
from predibot.reports.terminal.trace import print_trace, print_used, trace_document

HOSTILE = "\x1b]0;owned\x07\x9b2J\u202eevil\u2028[red]markup[/red]"
DECISION = TracedDecision("r", "b", "1", "recorded", HOSTILE, "ab" * 32)
MODEL = {
    "step": 1,
    "kind": "model",
    "model_name": HOSTILE,
    "new_messages": [{"role": "user", "text": HOSTILE}],
    "message": {"text": HOSTILE, "tool_calls": [{"name": HOSTILE, "arguments_json": HOSTILE}]},
    "usage": {"input_tokens": None, "output_tokens": 5},
    "cost": {"usd": None},
    "retries": 2,
    "finish_reason": "length",
    "refusal": HOSTILE,
    "seconds": 1.5,
}
TOOL = {"step": 2, "kind": "tool", "name": HOSTILE, "arguments": {"q": HOSTILE}, "result": HOSTILE * 40, "seconds": 0.1}
ODD = {"step": 3, "kind": HOSTILE, "complaint": HOSTILE}


def _shown(*steps: dict[str, Any], full: bool) -> str:
    screen = StringIO()
    print_trace(console_for(screen), ReadTrace(DECISION, steps), full=full)
    return screen.getvalue()


def test_control_characters_and_reordering_never_reach_the_screen() -> None:
    for full in (False, True):
        shown = _shown(MODEL, TOOL, ODD, full=full)
        assert not set("\x1b\x07\x9b\u202e\u2028") & set(shown)
        assert "[red]markup[/red]" in shown


def test_a_single_retry_is_one() -> None:
    assert "1 retry," in _shown({**MODEL, "retries": 1}, full=False)


def test_retries_missing_tokens_and_unknown_cost_are_said() -> None:
    assert "– tokens in, 5 out, cost unknown, 2 retries, length, 1.50 s" in _shown(MODEL, full=False)


def test_tries_that_may_have_been_charged_are_said() -> None:
    failed = {"step": 4, "kind": "model_failed", "message": "down", "lost_tries": 2}
    shown = _shown({**MODEL, "lost_tries": 1}, failed, full=False)
    assert "2 retries, 1 try lost that may have been charged, length" in shown
    assert "4. model failed, 2 tries lost that may have been charged" in shown


def test_what_is_booked_by_estimate_is_said() -> None:
    failed = {"step": 4, "kind": "model_failed", "message": "down", "lost_tries": 1, "estimated_usd": 0.045}
    shown = _shown({**MODEL, "estimated_usd": 0.0}, failed, full=False)
    assert "4. model failed, 1 try lost that may have been charged, $0.045 estimated" in shown
    assert shown.count("estimated") == 1


def test_a_long_result_is_shortened_unless_all_is_asked_for() -> None:
    assert "…" in _shown(TOOL, full=False)
    assert _shown(TOOL, full=True).count("markup") > 40


def test_an_unknown_cost_is_shown_with_the_part_that_is_known() -> None:
    screen = StringIO()
    row = Used("b", "all", steps=1, calls=1, calls_without_usage=1, cost_usd=None, cost_known_usd=0.25)
    print_used(console_for(screen), UsedReport((row,), 1, ()))
    assert "unknown, $0.25" in screen.getvalue()
    assert "in no sum: 1" in screen.getvalue()


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_what_was_asked_for_is_shown_on_any_screen(columns: int) -> None:
    screen = StringIO()
    row = Used("bot0", "model", steps=1, calls=1, cost_usd=None, cost_known_usd=0.006, cost_estimated_usd=0.026)
    print_used(console_for(screen, columns=columns), UsedReport((row,), 1, ()))
    title, header, cells, *_ = screen.getvalue().splitlines()
    assert title.strip() == "Used in 1 trace"
    assert header.split()[:2] == ["bot", "step"] and header.rstrip().endswith("cost")
    assert cells.split()[:2] == ["bot0", "model"]
    assert cells.rstrip().endswith("unknown, $0.006 of it known, $0.026 estimated")


def test_a_number_that_is_none_does_not_break_the_document() -> None:
    trace = ReadTrace(DECISION, ({"step": 1, "kind": "tool", "arguments": {"p": [float("nan")]}},))
    assert trace_document(trace)["steps"][0]["arguments"] == {"p": ["nan"]}
