"""A user's own tool and search provider as a decision has them: whatever they do, it is an answer."""

import sys
import threading
from asyncio import CancelledError
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from predibot.agents.budget.budget import Budget
from predibot.contracts import Tool, ToolError, ToolResult, ToolText
from predibot.domain.budget import Limits
from predibot.domain.trace import cost_of_steps
from predibot.errors import BudgetSpent, UsageError
from predibot.ledger.files.traces import Trace
from predibot.plugins.tools import (
    MAX_ABANDONED_CALLS,
    MAX_RESULT_BYTES,
    UserSearch,
    open_tool,
    require_replayable,
    tool_plugin,
)
from predibot.research.search.provider import SearchAnswer, SearchFailed, SearchResult
from tests.jobs.program import wait_until
from tests.plugins.conftest import Plugins, plugins

__all__ = ["plugins"]

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
KEY = "sk-planted-secret"
HEAD = '"""Mine."""\nfrom datetime import datetime\nfrom predibot.contracts import ToolError, ToolText\n'
Made = Callable[..., Tool]


@pytest.fixture
def made(plugins: Plugins) -> Made:
    """Return what opens a tool with this body."""

    def make(
        body: str,
        *,
        takes: str = "word: str = 'x'",
        limits: Limits | None = None,
        trace: Trace | None = None,
        head: str = "",
    ) -> Tool:
        plugins.write("mine", f"{HEAD}{head}\ndef mine({takes}) -> str:\n    'Doc.'\n    {body}\n")
        written = trace or Trace()
        meter = Budget.of("decision", limits or Limits())
        return open_tool(
            tool_plugin("mine"),
            now=NOW,
            meter=meter,
            trace=written,
            hidden=written.without_secrets,
        )

    return make


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return f'about {word}'", ToolText("about rain")),
        ("return ToolText('error: no error')", ToolText("error: no error")),
        ("return ToolError('nothing there')", ToolError("nothing there")),
        ("return {'a': 1}", ToolError("mine returned a dict; a tool returns text")),
        ("return None", ToolError("mine returned a NoneType; a tool returns text")),
        ("return b'x'", ToolError("mine returned a bytes; a tool returns text")),
        ("return 1 / 0", ToolError("mine failed: ZeroDivisionError: division by zero")),
        ("raise SystemExit(3)", ToolError("mine failed: SystemExit: 3")),
        ("raise KeyboardInterrupt", ToolError("mine failed: KeyboardInterrupt")),
        ("raise GeneratorExit('end')", ToolError("mine failed: GeneratorExit: end")),
        ("import asyncio; raise asyncio.CancelledError", ToolError("mine failed: CancelledError")),
        ("raise TimeoutError('mine')", ToolError("mine failed: TimeoutError: mine")),
        ("return 'a\\x1b[31m\\u202eb'", ToolText("a [31m b")),
    ],
)
def test_whatever_a_tool_does_is_an_answer(made: Made, body: str, said: ToolResult) -> None:
    assert made(body).call({"word": "rain"}, 60.0) == said


def test_a_tool_that_hangs_is_left_behind_at_the_deadline(made: Made) -> None:
    hanging = made("import threading; threading.Event().wait(10); return ''")
    assert hanging.call({}, 0.05) == ToolError("mine gave no answer in 0.05 s and was abandoned")
    assert hanging.call({}, 0.0) == ToolError("mine gave no answer in 0 s and was abandoned")


def test_only_so_many_calls_may_hang_at_once(made: Made) -> None:
    gate, begun = threading.Event(), []
    sys.modules["gate_for_tests"] = SimpleNamespace(gate=gate, begun=begun)  # type: ignore[assignment]
    hanging = made("import gate_for_tests as g; g.begun.append(1); g.gate.wait(60); return 'at last'")
    try:
        said = {hanging.call({}, 0.01).text for _ in range(3 * MAX_ABANDONED_CALLS)}
        assert len(begun) <= MAX_ABANDONED_CALLS
        assert f"mine was not called: {MAX_ABANDONED_CALLS} calls of tools were abandoned and still run" in str(said)
        with pytest.raises(SearchFailed, match="mine was not asked: 16 calls"):
            searched(SearchAnswer((), 0.0))
    finally:
        gate.set()
        wait_until(lambda: hanging.call({}, 60.0) == ToolText("at last"))
        del sys.modules["gate_for_tests"]


@pytest.mark.parametrize("letter", ["x", "ü", "雨", "🌧"])
def test_a_result_without_end_is_cut(made: Made, letter: str) -> None:
    result = made(f"return '{letter}' * 1_000_000").call({}, 60.0)
    assert len(result.text.encode()) <= MAX_RESULT_BYTES + 100
    assert result.text.endswith("… (shortened)")


def test_wrong_arguments_are_told_and_not_tried(made: Made) -> None:
    result = made("raise SystemExit").call({"word": 3, "other": 1}, 60.0)
    assert isinstance(result, ToolError)
    assert not result.was_called
    assert result.text.startswith("mine was not called: word: Input should be a valid string; other: ")


def test_the_instant_of_the_decision_is_given_and_is_no_argument_of_a_model(made: Made) -> None:
    tool = made("return as_of.isoformat()", takes="as_of: datetime")
    assert tool.call({}, 60.0) == ToolText(NOW.isoformat())
    assert "as_of" not in str(tool.schema)
    assert isinstance(tool.call({"as_of": "2030-01-01T00:00:00Z"}, 60.0), ToolError)


def test_a_tool_that_does_not_keep_to_the_past_is_refused_in_a_replay(plugins: Plugins) -> None:
    plugins.write("blind", "def blind() -> str:\n    'Doc.'\n")
    plugins.write("dated", "from datetime import datetime\ndef dated(as_of: datetime) -> str:\n    'Doc.'\n")
    require_replayable(tool_plugin("dated"))
    with pytest.raises(UsageError, match="tool 'blind' does not say that it keeps to the past"):
        require_replayable(tool_plugin("blind"))


def test_each_call_counts_as_a_search_and_costs_what_the_tool_says(made: Made) -> None:
    trace = Trace()
    tool = made("return word", limits=Limits(searches=2, usd=1.0), trace=trace, head="USD_PER_CALL = 0.25\n")
    for _ in range(2):
        tool.call({}, 60.0)
    with pytest.raises(BudgetSpent, match="limit of 2 searches is reached"):
        tool.call({}, 60.0)
    assert cost_of_steps(trace.steps) == (0.5, 0.5)
    assert [step.kind for step in trace.steps] == ["tool_opened", "tool_paid", "tool_paid"]


@pytest.mark.parametrize("body", ["return '{0}'", "return ToolError('{0}')", "raise ValueError('{0}')"])
def test_no_key_of_ours_gets_to_a_model_through_a_tool(made: Made, body: str) -> None:
    trace = Trace((KEY,))
    result = made(body.format(f"at ?key={KEY}"), trace=trace).call({}, 60.0)
    assert "at ?key=***" in result.text


# ---------------------------------------------------------------- search providers


def searched(answer: object) -> SearchAnswer:
    class Provider:
        def search(self, query: str, *, before: datetime | None, count: int) -> Any:
            if isinstance(answer, BaseException):
                raise answer
            return answer

    return UserSearch(Provider(), "mine", True, 0.0, Trace((KEY,)).without_secrets).search("rain", before=None, count=3)


def found(**changed: object) -> SearchResult:
    return replace(SearchResult("t", "https://a.example", "s", NOW, "mine"), **changed)  # type: ignore[arg-type]


def test_an_answer_in_its_form_is_taken() -> None:
    answer = SearchAnswer((found(), found(published_at=None)), 0.01)
    assert searched(answer) == answer


def wrong_answers() -> Iterator[object]:
    yield from (None, [], "text", SearchAnswer([found()], 0.0))  # type: ignore[arg-type]
    yield from (SearchAnswer((), cost) for cost in (-1.0, float("nan"), float("inf"), "free", True))  # type: ignore[arg-type]
    yield SearchAnswer(({"title": "t"},), 0.0)  # type: ignore[arg-type]
    for field in ("title", "url", "snippet"):
        yield from (SearchAnswer((found(**{field: value}),), 0.0) for value in (None, 3, b"x", "x" * 20_001))
    yield from (SearchAnswer((found(published_at=at),), 0.0) for at in ("2026-01-01", datetime(2026, 1, 1)))  # noqa: DTZ001
    yield from (KeyError("bug"), ValueError("bug"), SystemExit(1), RuntimeError("bug"))
    yield from (CancelledError(), KeyboardInterrupt(), GeneratorExit(), TimeoutError("bug"))


@pytest.mark.parametrize("answer", list(wrong_answers()), ids=lambda answer: repr(answer)[:40])
def test_anything_else_is_a_failure_and_the_next_provider_is_asked(answer: object) -> None:
    with pytest.raises(SearchFailed, match=r"mine (answered|failed)"):
        searched(answer)


def test_a_failure_it_states_itself_is_passed_on_and_no_key_of_ours_is_in_any() -> None:
    with pytest.raises(SearchFailed, match=r"busy at \?key=\*\*\*$") as failed:
        searched(SearchFailed(f"busy at ?key={KEY}", was_asked=False))
    assert not failed.value.was_asked
    with pytest.raises(SearchFailed, match=r"mine failed \(ValueError: at \?key=\*\*\*\)"):
        searched(ValueError(f"at ?key={KEY}"))


def test_no_key_of_ours_gets_to_a_model_through_a_result() -> None:
    results = tuple(
        found(**{field: f"https://a.example/?key={KEY}"}) for field in ("title", "url", "snippet", "provider")
    )
    answer = searched(SearchAnswer(results, 0.0))
    assert KEY not in repr(answer)
    assert [answer.results[0].title, answer.results[1].url, answer.results[2].snippet] == [
        "https://a.example/?key=***"
    ] * 3
