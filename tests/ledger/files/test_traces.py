"""Traces: what was recorded is read again, whatever strangers wrote in it."""

from pathlib import Path

import pytest

from predibot.errors import UsageError
from predibot.ledger.files.traces import Trace, TraceFolder


@pytest.mark.parametrize("text", ["a\u2028b\x85c\x0cd", "half a pair \ud83d", "\x00\x1b[2J", "\r\n\n"])
def test_whatever_was_written_is_read_again(tmp_path: Path, text: str) -> None:
    trace, folder = Trace(), TraceFolder(tmp_path)
    trace.record("tool", result=text)
    trace.record("tool", result="next")
    assert [step["result"] for step in folder.steps(folder.keep(trace))] == [text, "next"]


def test_a_trace_without_steps_has_none(tmp_path: Path) -> None:
    folder = TraceFolder(tmp_path)
    assert list(folder.steps(folder.keep(Trace()))) == []


def test_a_trace_that_was_changed_is_refused(tmp_path: Path) -> None:
    trace, folder = Trace(), TraceFolder(tmp_path)
    trace.record("tool", result="as it was")
    digest = folder.keep(trace)
    next(tmp_path.rglob("*.jsonl")).write_text("{}\n")
    with pytest.raises(UsageError, match="was changed since"):
        list(folder.steps(digest))
