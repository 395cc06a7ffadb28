"""A recorded decision: the answers of its models and tools, and its quotes, given again to a rerun."""

import json
import math
import re
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NoReturn, TypeAlias

from predibot.agents.answer.result import LoopEnd
from predibot.agents.budget.budget import Budget
from predibot.agents.loop.belief import UPDATE_BELIEF
from predibot.contracts import (
    THINKING_TOKENS,
    VISIT_WEBPAGE,
    WEB_SEARCH,
    ChatModel,
    Context,
    Tool,
    Toolbox,
    ToolError,
    ToolResult,
    ToolText,
    Venue,
    no_history,
    untrusted_mark,
)
from predibot.domain.budget import Limits
from predibot.domain.chat import ChatReply, ChatRequest, ToolSchema
from predibot.domain.decision import ReasonKind
from predibot.domain.event import Event
from predibot.domain.price import Quote
from predibot.domain.trace import (
    ModelFailedStep,
    ModelNotAskedStep,
    ModelRequest,
    ModelStep,
    PageRefusedStep,
    PageVisitedStep,
    SearchStep,
    Step,
    StoredTrace,
    ToolOpenedStep,
    ToolPaidStep,
    ToolStep,
    inside_fence,
)
from predibot.errors import BudgetSpent, ModelError, ModelRefused, ModelUnavailable, PredibotError, VenueUnavailable
from predibot.games.answers import ABSENT
from predibot.jobs.deciding.activity import StepListener
from predibot.jobs.deciding.opened_models import AnswerRoom, DeclaredModels
from predibot.jobs.deciding.venue_board import VenueBoard
from predibot.ledger.files.traces import Trace
from predibot.recipe.recipe import BotSpec

ModelCall: TypeAlias = ModelStep | ModelFailedStep | ModelNotAskedStep

_PROBE = ("ping",)
_REFUSALS = ("ModelRefused", "RequestRefused", "AnswerUnusable")
_ONLY_ANSWER = "only the answer was taken then"
"""Message for a model that got another request than in the record, for no recorded reason: its time was nearly over."""
_RENAMED = {"note_evidence": UPDATE_BELIEF}
"""Older names of tools that answer without the record."""
_LOOPBACK = re.compile(r"http://127\.0\.0\.1:\d+")


class NotRecorded(PredibotError):
    """A bot makes a request that its trace does not hold, so it behaves differently."""


@dataclass(slots=True)
class Record:
    """The recorded answers of one decision, each given once; for one thread."""

    recorded: StoredTrace
    message: str = ""
    """The stored reason why the decision has no answer."""
    reason_kind: ReasonKind = "bot"
    trace: Trace = field(default_factory=Trace)
    """The given answers, traced anew."""
    _calls: deque[ModelCall] = field(default_factory=deque)
    _results: dict[tuple[str, str], deque[tuple[ToolStep, list[Step]]]] = field(default_factory=dict)
    _opened: dict[str, ToolOpenedStep] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Sort the steps by the request they answer."""
        before: list[Step] = []
        for step in self.recorded.steps:
            match step:
                case ModelStep() | ModelFailedStep() | ModelNotAskedStep():
                    if self._calls and _is_shorter_retry(step, self._calls[-1]):
                        self._calls.pop()
                    if step.asked.tools != _PROBE:
                        self._calls.append(step)
                case ToolOpenedStep():
                    self._opened[step.name] = step
                case SearchStep() | PageVisitedStep() | PageRefusedStep() | ToolPaidStep():
                    before.append(step)
                case ToolStep():
                    given = step.arguments if isinstance(step.arguments, Mapping) else {}
                    self._results.setdefault(_call_key(step.name, given), deque()).append((step, before))
                    before = []

    def set_up(self, context: Context, bot: BotSpec, listener: StepListener | None = None) -> Context:
        """Return a context that gives the recorded answers; no time passes, so there is no deadline."""
        return replace(
            context,
            model=DeclaredModels(bot.strategy, self._model, bot.terms.settings, self._room),
            why_no_tools=self._why_no_tools,
            tools=Toolbox(self._search, self._visit, self._open),
            meter=Budget.of("decision", Limits()),
            trace=self.trace,
            # Prices were part of the prompt only, and the model's answer to it is recorded.
            history=no_history,
            deadline_seconds=math.inf,
            untrusted_mark=self.recorded.untrusted_mark or untrusted_mark(),
        )

    def write_off(self) -> None:
        """Book nothing, as nothing is spent."""

    def loopback(self) -> str | None:
        """Return a sandbox's address in the trace; addresses in the message are a local model's."""
        other = _LOOPBACK.findall(self.message)
        found = Counter(address for address in _LOOPBACK.findall(str(self.recorded)) if address not in other)
        return found.most_common(1)[0][0] if found else None

    def reply(self, name: str, request: ChatRequest) -> ChatReply:
        """Return the next recorded answer.

        Raises:
            BudgetSpent: If a limit was in the way, or the next recorded request is another one.
            LoopEnd: If there was no further request, for the stored reason.
            ModelError: If one was recorded.
        """
        if not self._calls:
            raise LoopEnd(self.message, self.reason_kind)
        step, tools = self._calls[0], tuple(tool.name for tool in request.tools)
        if (name, len(request.messages), tools, request.forced_tool) != _request_key(step.asked):
            raise BudgetSpent(_ONLY_ANSWER)
        self.trace.write(self._calls.popleft())
        if isinstance(step, ModelStep):
            # A shorter recorded answer means that the budget had no room for more.
            most_tokens = step.asked.max_output_tokens
            is_less = most_tokens < request.max_output_tokens
            said = _rename_calls(step.reply)
            return replace(said, most_tokens=most_tokens) if is_less else said
        if isinstance(step, ModelNotAskedStep) or _did_not_fit(step):
            raise BudgetSpent(step.message)
        kind: Callable[[str], ModelError] = ModelRefused if step.error in _REFUSALS else ModelUnavailable
        raise kind(step.message)

    def rest(self) -> int:
        """Return how many recorded answers were not requested."""
        return len(self._calls)

    def _model(self, name: str) -> ChatModel:
        return _ReplayedModel(name, self)

    def _room(self, name: str) -> AnswerRoom:
        """Return how long a model's answers could be, by the longest recorded request."""
        calls = (step.asked for step in self.recorded.steps if isinstance(step, ModelCall))
        its = (request for request in calls if request.model_name == name and request.tools != _PROBE)
        lengths = [request.max_output_tokens for request in its]
        return AnswerRoom(max(lengths, default=None), thinks=lengths[:1] >= [THINKING_TOKENS])

    def _why_no_tools(self, _name: str) -> str:
        has_none = bool(self._calls) and not any(step.asked.tools for step in self._calls)
        return (self.message or "it called none then") if has_none else ""

    def _search(self, query: str, *, recent_days: int | None = None, by_date: bool = False) -> ToolResult:
        sort = "date" if by_date else None
        return self._result(WEB_SEARCH, {"query": query, "recent_days": recent_days, "sort": sort})

    def _visit(self, url: str, part: int = 1, focus: str | None = None, links: bool = False, /) -> ToolResult:
        return self._result(VISIT_WEBPAGE, {"url": url, "part": part, "focus": focus, "links": links})

    def _open(self, name: str) -> Tool:
        step = self._opened.get(name)
        if step is None:
            raise NotRecorded(f"the tool {name!r} was not opened")
        self.trace.write(step)
        schema = ToolSchema(name, step.description, step.parameters)
        return Tool(schema, lambda arguments, _seconds: self._result(name, arguments))

    def _result(self, name: str, given: Mapping[str, object]) -> ToolResult:
        key = _call_key(name, given)
        waiting = self._results.get(key)
        if not waiting:
            raise NotRecorded(f"{name} was not called with {key[1][:200]}")
        step, before = waiting.popleft()
        for found in before:
            self.trace.write(found)
        if step.outcome == "limit":
            raise BudgetSpent(step.said)
        # Without a fence the text is our own note that the tool returned nothing.
        return ToolText(inside_fence(step.result) or "") if step.outcome == "text" else ToolError(step.said)


@dataclass(frozen=True, slots=True)
class _ReplayedModel:
    name: str
    record: Record

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        return self.record.reply(self.name, request)


def _is_shorter_retry(step: ModelCall, before: ModelCall) -> bool:
    """Return whether a call repeats one that did not fit the budget, with a shorter answer."""
    is_shorter = step.asked.max_output_tokens < before.asked.max_output_tokens
    return _did_not_fit(before) and is_shorter and _request_key(step.asked) == _request_key(before.asked)


def _did_not_fit(step: ModelCall) -> bool:
    error = "" if isinstance(step, ModelStep) else getattr(step, "error", BudgetSpent.__name__)
    return error == BudgetSpent.__name__


def _request_key(request: ModelRequest) -> tuple[object, ...]:
    tools = tuple(_RENAMED.get(name, name) for name in request.tools)
    return request.model_name, request.messages_sent, tools, request.forced_tool


def _rename_calls(reply: ChatReply) -> ChatReply:
    """Return a reply whose calls have today's names, because tools are found by these."""
    calls = tuple(replace(call, name=_RENAMED.get(call.name, call.name)) for call in reply.message.tool_calls)
    return replace(reply, message=replace(reply.message, tool_calls=calls))


def _call_key(name: str, given: Mapping[str, object]) -> tuple[str, str]:
    """Return the key of a tool call, with arguments as the tool sees them; a model may send anything."""
    if name == VISIT_WEBPAGE:
        url = given.get("url")
        page = url.strip() if isinstance(url, str) else url
        links = given.get("links") is True
        given = {"url": page, "part": given.get("part") or 1, "focus": given.get("focus") or None, "links": links}
    elif name == WEB_SEARCH:
        days, sort = given.get("recent_days"), given.get("sort")
        given = {
            "query": given.get("query"),
            "recent_days": None if days in ABSENT else days,
            "sort": None if sort in (*ABSENT, "rank") else sort,
        }
    return name, json.dumps(given, sort_keys=True)


class RecordedVenue(Venue):
    """A venue's name, for a rerun that asks it for nothing."""

    name, live = "", False

    def __init__(self, name: str) -> None:
        """Take the name."""
        self.name = name

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise VenueUnavailable(f"{self.name} is not asked for anything while a run is rerun")

    events = event = price_path = resolutions = quotes = _refuse


class RecordedQuotes(VenueBoard):
    """The stored quotes of a decision: first those it was shown, then those it was booked at."""

    def __init__(self, venue: Venue, now: datetime, *quoted: Mapping[str, Quote]) -> None:
        """Take them in order."""
        super().__init__(venue, lambda: now)
        self._recorded = list(quoted)

    def open_event(self, event: Event, *, after: datetime | None = None) -> Event:
        """Return the event with the next quotes, unchanged if none are stored."""
        quotes = self._recorded.pop(0) if self._recorded else {}
        if not quotes:
            return event
        return replace(
            event, markets=tuple(each if each.is_named else each.with_quotes(quotes) for each in event.markets)
        )
