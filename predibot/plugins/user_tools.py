"""Calls of users' own tools and search providers: bounded, paid for, and checked."""

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from predibot.contracts import Meter, Tool, ToolError, ToolResult, ToolText, TraceWriter
from predibot.domain.budget import Spending
from predibot.domain.trace import ToolOpenedStep, ToolPaidStep
from predibot.domain.untrusted_text import shorten
from predibot.errors import PluginError, UsageError, describe_error
from predibot.net.deadline import start_call
from predibot.plugins.registry import own_code
from predibot.plugins.tools import ToolPlugin, search_class
from predibot.research.search.provider import SearchAnswer, SearchFailed, SearchProvider, SearchResult

CALL_SECONDS = 60.0
"""The longest call of a user's tool or search provider."""
MAX_RESULT_BYTES = 15_000
MAX_TEXT_CHARACTERS = 20_000
"""The longest text in a search result."""

MAX_ABANDONED_CALLS = 16
"""The most abandoned calls that may still run in a process, because no thread can be ended from outside."""

_log = logging.getLogger(__name__)


class _TooManyAbandoned(Exception):
    """So many calls of users' code run on that no more are made."""


_abandoned: set["Future[object]"] = set()
_lock = threading.Lock()


def _run_to_end(call: Callable[[], object], seconds: float) -> "Future[object]":
    """Run a call in a thread of its own, where no Ctrl-C arrives, and return its finished future.

    Raises `TimeoutError` if it has to be abandoned, and `_TooManyAbandoned` if too many calls were.
    """
    with _lock:
        _abandoned.difference_update([each for each in _abandoned if each.done()])
        if len(_abandoned) >= MAX_ABANDONED_CALLS:
            raise _TooManyAbandoned(f"{MAX_ABANDONED_CALLS} calls of tools were abandoned and still run; do without")
    future = start_call(call)
    if wait([future], timeout=seconds).not_done:
        with _lock:
            _abandoned.add(future)
        raise TimeoutError
    return future


def require_replayable(plugin: ToolPlugin) -> None:
    """Refuse a tool that takes no `as_of`, as it may show the future of a replay."""
    if not plugin.takes_as_of:
        name = plugin.schema.name
        raise UsageError(
            f"tool {name!r} does not say that it keeps to the past, so a replay refuses it. Give it an argument "
            "`as_of: datetime` and show nothing later than that, or leave it out"
        )


def open_tool(
    plugin: ToolPlugin, *, now: datetime, meter: Meter, trace: TraceWriter, hidden: Callable[[str], str]
) -> Tool:
    """Return a user's tool for one decision; each call counts as a search, and costs the most that the tool declares.

    The meter is reserved before each call and settled after; the trace gets the tool's description and the cost of its
    calls. `hidden` removes API keys from a text, because no model may read them either.
    """
    schema = plugin.schema
    trace.write(ToolOpenedStep(schema.name, schema.description, schema.parameters, plugin.source_sha256))

    def call(arguments: Mapping[str, object], left_seconds: float) -> ToolResult:
        try:
            typed = plugin.arguments(arguments)
        except ValueError as error:
            return ToolError(f"{schema.name} was not called: {error}", was_called=False)
        if plugin.takes_as_of:
            typed["as_of"] = now
        worst = Spending(usd=plugin.usd_per_call, searches=1)
        reservation = meter.reserve(worst)
        try:
            return _call_tool(schema.name, lambda: plugin.function(**typed), min(CALL_SECONDS, left_seconds), hidden)
        finally:
            reservation.settle(worst)
            if plugin.usd_per_call:
                trace.write(ToolPaidStep(schema.name, plugin.usd_per_call))

    return Tool(schema, call)


def _call_tool(name: str, call: Callable[[], object], seconds: float, hidden: Callable[[str], str]) -> ToolResult:
    try:
        ended = _run_to_end(call, max(0.0, seconds))
    except TimeoutError:
        return ToolError(f"{name} gave no answer in {seconds:.3g} s and was abandoned")
    except _TooManyAbandoned as error:
        return ToolError(f"{name} was not called: {error}")
    if (failure := ended.exception()) is not None:
        why = hidden(describe_error(failure))
        _log.warning("tool %s failed: %s", name, why)
        return ToolError(f"{name} failed: {why}")
    found = ended.result()
    if isinstance(found, ToolError) and isinstance(found.text, str):
        return ToolError(hidden(found.text))
    text = found.text if isinstance(found, ToolText) else found
    if not isinstance(text, str):
        return ToolError(f"{name} returned a {type(text).__name__}; a tool returns text")
    # As long as a page in a prompt may be, without control characters.
    text = hidden(text)
    first = text[:MAX_RESULT_BYTES].encode("utf-8", "replace")[:MAX_RESULT_BYTES].decode("utf-8", "ignore")
    return ToolText(shorten(text, len(first)))


@dataclass(frozen=True, slots=True)
class UserSearch:
    """A user's own search provider; its errors become failures, and its answers are checked."""

    inner: Any
    name: str
    dates_results: bool
    usd_per_call: float | None
    hidden: Callable[[str], str]
    """Removes API keys from a text."""

    def search(self, query: str, *, before: datetime | None, count: int) -> SearchAnswer:
        """Return its answer."""
        try:
            ended = _run_to_end(lambda: self.inner.search(query, before=before, count=count), CALL_SECONDS)
        except TimeoutError:
            raise SearchFailed(f"{self.name} gave no answer in {CALL_SECONDS:g} s and was abandoned") from None
        except _TooManyAbandoned as error:
            raise SearchFailed(f"{self.name} was not asked: {error}", was_asked=False) from None
        failure = ended.exception()
        if isinstance(failure, SearchFailed):
            raise SearchFailed(self.hidden(str(failure)), was_asked=failure.was_asked)
        if failure is not None:
            why = self.hidden(describe_error(failure))
            _log.warning("search provider %s failed: %s", self.name, why)
            raise SearchFailed(f"{self.name} failed ({why})")
        answer = ended.result()
        if problem := _answer_problem(answer):
            raise SearchFailed(f"{self.name} answered {self.hidden(problem)}")
        found = cast(SearchAnswer, answer)
        return SearchAnswer(tuple(map(self._without_keys, found.results)), found.cost_usd)

    def _without_keys(self, result: SearchResult) -> SearchResult:
        title, url, snippet = map(self.hidden, (result.title, result.url, result.snippet))
        return SearchResult(title, url, snippet, result.published_at, self.name)


def user_search(name: str, *, given: Mapping[str, object], hidden: Callable[[str], str]) -> SearchProvider:
    """Return a user's own search provider.

    Of `clock`, `key`, `base_url` and `usd_per_call` it is `given` those that it takes and that are not None. Raises
    `PluginError` if there is none of that name, it cannot be made, or declares impossible values.
    """
    cls = search_class(name)
    takes = getattr(cls, "__dataclass_fields__", {})
    arguments = {word: value for word, value in given.items() if word in takes and value is not None}
    lacks = ", ".join(word for word in given if word in takes and word not in arguments)
    hint = f" (what it takes and was not given: {lacks})" if lacks else ""
    with own_code(f"search provider {name!r} cannot be made{hint}"):
        inner = cls(**arguments)
        dates, price = inner.dates_results, inner.usd_per_call
    if not isinstance(dates, bool):
        raise PluginError(f"search provider {name!r}: dates_results is {dates!r}; it is True or False")
    if price is not None and not _is_amount(price):
        raise PluginError(f"search provider {name!r}: usd_per_call is {price!r}; it is dollars from 0, or None")
    return UserSearch(inner, name, dates, price, hidden)


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value < 1_000.0


def _answer_problem(answer: object) -> str:
    if not isinstance(answer, SearchAnswer) or not isinstance(answer.results, tuple):
        return f"a {type(answer).__name__}; it answers a SearchAnswer with a tuple of results"
    if answer.cost_usd is not None and not _is_amount(answer.cost_usd):
        return f"a cost of {answer.cost_usd!r:.40}; it is dollars from 0, or None"
    return next(filter(None, map(_result_problem, answer.results)), "")


def _result_problem(result: object) -> str:
    if not isinstance(result, SearchResult):
        return f"a result that is a {type(result).__name__}; it is a SearchResult"
    texts = (result.title, result.url, result.snippet)
    if not all(isinstance(text, str) and len(text) <= MAX_TEXT_CHARACTERS for text in texts):
        return f"a result whose title, url or snippet is no text of at most {MAX_TEXT_CHARACTERS:,} characters"
    at = result.published_at
    if at is not None and (not isinstance(at, datetime) or at.tzinfo is None):
        return "a result whose published_at is no instant with a time zone"
    return ""
