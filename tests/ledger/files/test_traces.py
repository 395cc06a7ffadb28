"""Traces: what was recorded is read again, whatever strangers wrote in it."""

from pathlib import Path

import pytest
from sqlalchemy import text

from predibot.domain.trace import OwnStep, StoredTrace
from predibot.errors import UsageError
from predibot.ledger.files.content_store import artefacts
from predibot.ledger.files.traces import Trace, Traces
from predibot.ledger.store import Store


def a_trace(*results: str) -> Trace:
    """Return a trace of tools that said this."""
    trace = Trace()
    for said in results:
        trace.record("mine", result=said)
    return trace


def said_of(trace: StoredTrace) -> list[object]:
    """Return what the steps of a trace say."""
    return [step.fields["result"] for step in trace.steps if isinstance(step, OwnStep)]


@pytest.mark.parametrize("said", ["a\u2028b\x85c\x0cd", "half a pair \ud83d", "\x00\x1b[2J", "\r\n\n"])
def test_whatever_was_written_is_read_again(store: Store, said: str) -> None:
    traces = Traces(store)
    assert said_of(traces.read(traces.keep(a_trace(said, "next")))) == [said, "next"]


def test_a_trace_without_steps_has_none(store: Store) -> None:
    assert Traces(store).read(Traces(store).keep(Trace())) == StoredTrace()


def test_a_trace_that_was_changed_is_refused(store: Store, tmp_path: Path) -> None:
    digest = Traces(store).keep(a_trace("as it was"))
    if store.files is None:
        with store.write() as connection:
            assert connection.execute(text("UPDATE artefacts SET content = 'rubbish'")).rowcount == 1
    else:
        next(tmp_path.rglob("*.jsonl")).write_text("{}\n")
    with pytest.raises(UsageError, match="was changed since"):
        Traces(store).read(digest)


def test_the_same_trace_is_kept_once_and_small(store: Store, tmp_path: Path) -> None:
    trace = a_trace("again and again " * 10_000)
    assert Traces(store).keep(trace) == Traces(store).keep(trace)
    with store.read() as connection:
        rows = connection.execute(artefacts.select()).all()
    if store.files is None:
        assert [len(row.content) < 10_000 for row in rows] == [True]
    else:
        assert (rows, len([*store.files.rglob("*.jsonl")])) == ([], 1)


def test_a_trace_of_before_they_belonged_to_a_ledger_is_still_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(f"sqlite:///{tmp_path}/other.db") as other:
        digest = Traces(other).keep(a_trace("long ago"))
        assert other.files is not None
        monkeypatch.chdir(tmp_path)
        Path("runs/out").mkdir(parents=True)
        with pytest.raises(UsageError, match="there is no trace"):
            Traces(store).read(digest)
        (other.files / "traces").rename("runs/out/traces")
    assert said_of(Traces(store).read(digest)) == ["long ago"]
