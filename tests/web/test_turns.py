"""Turns of a trace on a page: what an agent believed, and what its samples said."""

from pathlib import Path

from predibot.domain.trace import SampleStep, ToolStep
from predibot.ledger.files.trace_lines import trace_lines
from predibot.ledger.files.traces import Trace, Traces
from predibot.ledger.store import Store
from predibot.web.turns import turn_starts, turns_of

BELIEF = {
    "probabilities": [{"market_id": "m1", "probability": 0.25}, {"market_id": "m2", "probability": 0.5}],
    "evidence_for": "a strike",
    "evidence_against": "a majority",
}


def test_a_belief_and_each_sample_are_said_in_a_line_of_their_own(tmp_path: Path) -> None:
    trace = Trace()
    trace.write(ToolStep("update_belief", BELIEF, "written down", "own"))
    trace.write(ToolStep("update_belief", {**BELIEF, "probabilities": []}, "error: give probabilities", "own"))
    trace.write(SampleStep("x.sample#1", "recorded", "", {"m1": 0.3, "m2": 0.4}))
    trace.write(SampleStep("x.sample#2", "failed", "the server is gone"))
    with Store.open(f"sqlite:///{tmp_path}/l.db") as store:
        traces = Traces(store)
        lines = trace_lines(traces.files, traces.keep(trace))
        turns = list(turns_of(lines, turn_starts(lines), 0, 9))
    assert [(turn.action, turn.about, turn.result) for turn in (turns[0], *turns[2:])] == [
        ("Believed", "m1 0.25, m2 0.5", "evidence for: a strike; evidence against: a majority"),
        ("Sampled", "x.sample#1", "m1 0.30, m2 0.40"),
        ("Sampled", "x.sample#2", "failed: the server is gone"),
    ]
    assert turns[1].action == "Called update_belief"
    assert ("belief", "m1 0.25, m2 0.5") in turns[0].steps[0][1]


def test_where_turns_begin_is_known_without_reading_the_trace_again(tmp_path: Path) -> None:
    trace = Trace()
    for _ in range(3):
        trace.write(SampleStep("x.sample#1", "recorded", "", {"m1": 0.3}))
    with Store.open(f"sqlite:///{tmp_path}/l.db") as store:
        traces = Traces(store)
        lines = trace_lines(traces.files, traces.keep(trace))
        for file in tmp_path.rglob("*.jsonl"):
            file.unlink()
        assert turn_starts(lines) == (0, 1, 2)
