"""One prompt, one answer, repaired by the model itself; `test_reader.py` says what is read as an answer."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from predibot.agents.answer.check import MAX_SOURCES, decided
from predibot.agents.answer.one_shot import run_one_shot
from predibot.agents.answer.result import LoopResult
from predibot.contracts import Context
from predibot.domain.chat import Message
from predibot.domain.decision import Decision
from predibot.errors import NoAnswer
from tests.agents.scripted import ScriptedModel, answer, context, reply, said

GOOD = json.dumps(answer())
BAD = json.dumps(answer(said(estimated_probability="60%")))


def run(model: ScriptedModel, *, seen: Context | None = None, clock: Callable[[], float] = lambda: 0.0) -> LoopResult:
    where = seen or context()
    return run_one_shot(model, "the prompt", where.form(), where, clock=clock)


def test_a_complaint_goes_back_word_for_word_behind_the_models_own_answer() -> None:
    thought = '[{"model": "scripted", "reasoning_content": "hm"}]'
    model = ScriptedModel([replace(reply(BAD), message=Message("assistant", BAD, state_json=thought)), GOOD])
    assert run(model).decision is not None
    prompt, own, complaint = model.requests[1].messages
    assert (prompt.text, own) == ("the prompt", Message("assistant", BAD, state_json=thought))
    assert "is the text '60%'; write 0.6" in complaint.text


def test_one_deadline_holds_for_the_answer_and_its_repairs_together() -> None:
    instants = iter(range(0, 10_000, 70))
    model = ScriptedModel([BAD])
    result = run(model, seen=context(deadline_seconds=200.0), clock=lambda: float(next(instants)))
    assert model.deadlines == [130.0, 60.0]
    assert result.reason.startswith("no answer within 200 seconds; the last complaint: ")


def test_citations_become_sources_bounded_and_on_one_line() -> None:
    cited = reply(GOOD, citations=("http://a.example\n/x", "", *("http://b.example/" + "x" * 999,) * 100))
    with pytest.raises(NoAnswer, match="no answer held after 3 repairs"):
        decided(run(ScriptedModel([BAD])))
    decision = decided(run(ScriptedModel([cited])))
    assert isinstance(decision, Decision)
    assert decision.notes[0] == "source: http://a.example /x"
    assert len(decision.notes) < MAX_SOURCES
    assert max(map(len, decision.notes)) < 520
