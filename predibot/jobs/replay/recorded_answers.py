"""What a trace holds of a decision's models and tools, given again in the place of both: what a rerun asks."""

import json
import math
import re
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from predibot.agents.answer.result import LoopEnded
from predibot.agents.budget.budget import Budget
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
    no_history,
    untrusted_mark,
)
from predibot.domain.budget import Limits
from predibot.domain.chat import ChatReply, ChatRequest, ToolSchema
from predibot.domain.decision import ReasonKind
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
from predibot.errors import BudgetSpent, ModelError, ModelRefused, ModelUnavailable, PredibotError
from predibot.games.answers import ABSENT
from predibot.jobs.deciding.activity import StepListener
from predibot.jobs.deciding.opened_models import OpenedModels, Room
from predibot.ledger.files.traces import Trace
from predibot.recipe.recipe import BotSpec

ModelCall: TypeAlias = ModelStep | ModelFailedStep | ModelNotAskedStep

_PROBE = ("ping",)
_REFUSALS = ("ModelRefused", "RequestRefused", "AnswerUnusable")
_ONLY_ANSWER = "only the answer was taken then"
"""What a model is told where it was asked for less than now, which no step explains: its time was nearly over."""
_LOOPBACK = re.compile(r"http://127\.0\.0\.1:\d+")


class NotRecorded(PredibotError):
    """A bot asks for something that its trace does not hold: it does not do what it did."""


@dataclass(slots=True)
class Record:
    """The recorded answers of one decision, each given once; for one thread."""

    recorded: StoredTrace
    message: str = ""
    """What is stored of why the decision has no answer."""
    reason_kind: ReasonKind = "bot"
    """Of the message."""
    trace: Trace = field(default_factory=Trace)
    """What is given again, written down anew."""
    _calls: deque[ModelCall] = field(default_factory=deque)
    _results: dict[tuple[str, str], deque[tuple[ToolStep, list[Step]]]] = field(default_factory=dict)
    _opened: dict[str, ToolOpenedStep] = field(default_factory=dict)
    """Tools of the user's own, by name."""

    def __post_init__(self) -> None:
        """Sort the steps by what they answer."""
        before: list[Step] = []
        for step in self.recorded.steps:
            match step:
                case ModelStep() | ModelFailedStep() | ModelNotAskedStep():
                    if self._calls and _stands_for(step, self._calls[-1]):
                        self._calls.pop()
                    if step.asked.tools != _PROBE:
                        self._calls.append(step)
                case ToolOpenedStep():
                    self._opened[step.name] = step
                case SearchStep() | PageVisitedStep() | PageRefusedStep() | ToolPaidStep():
                    before.append(step)
                case ToolStep():
                    given = step.arguments if isinstance(step.arguments, Mapping) else {}
                    self._results.setdefault(_key(step.name, given), deque()).append((step, before))
                    before = []

    def set_up(self, context: Context, bot: BotSpec, listener: StepListener | None = None) -> Context:
        """Return a context with what a strategy decides with again; no time passes, so there is no deadline."""
        return replace(
            context,
            model=OpenedModels(bot.strategy, self._model, bot.terms.settings, self._room),
            why_no_tools=self._why_no_tools,
            tools=Toolbox(self._search, self._visit, self._open),
            meter=Budget.of("decision", Limits()),
            trace=self.trace,
            # The prompt is part of no decision; what the model said to it is recorded.
            history=no_history,
            deadline_seconds=math.inf,
            untrusted_mark=self.recorded.untrusted_mark or untrusted_mark(),
        )

    def write_off(self) -> None:
        """Book nothing: nothing is spent."""

    def loopback(self) -> str | None:
        """Return the address a sandbox had, where the trace has one; a local model's stands in messages as it is."""
        other = _LOOPBACK.findall(self.message)
        found = Counter(address for address in _LOOPBACK.findall(str(self.recorded)) if address not in other)
        return found.most_common(1)[0][0] if found else None

    def reply(self, name: str, request: ChatRequest) -> ChatReply:
        """Return the next recorded answer.

        Raises:
            BudgetSpent: If a limit stood in the way then, or the bot was asked otherwise next.
            LoopEnded: If it was asked no more, for what is stored with the decision.
            ModelError: If that is what was recorded.
        """
        if not self._calls:
            raise LoopEnded(self.message, self.reason_kind)
        step, tools = self._calls[0], tuple(tool.name for tool in request.tools)
        if (name, len(request.messages), tools, request.forced_tool) != _form(step.asked):
            raise BudgetSpent(_ONLY_ANSWER)
        self.trace.write(self._calls.popleft())
        if isinstance(step, ModelStep):
            # For more than was asked for then the budget had no room.
            most_tokens = step.asked.max_output_tokens
            is_less = most_tokens < request.max_output_tokens
            return replace(step.reply, most_tokens=most_tokens) if is_less else step.reply
        if isinstance(step, ModelNotAskedStep) or _did_not_fit(step):
            raise BudgetSpent(step.message)
        kind: Callable[[str], ModelError] = ModelRefused if step.error in _REFUSALS else ModelUnavailable
        raise kind(step.message)

    def rest(self) -> int:
        """Return how many recorded answers of models nobody asked for."""
        return len(self._calls)

    def _model(self, name: str) -> ChatModel:
        return _RecordedModel(name, self)

    def _room(self, name: str) -> Room:
        """Return how long a model's answers could be: as long as was ever asked for."""
        calls = (step.asked for step in self.recorded.steps if isinstance(step, ModelCall))
        its = (asked for asked in calls if asked.model_name == name and asked.tools != _PROBE)
        lengths = [asked.max_output_tokens for asked in its]
        return Room(max(lengths, default=None), thinks=lengths[:1] >= [THINKING_TOKENS])

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
        key = _key(name, given)
        waiting = self._results.get(key)
        if not waiting:
            raise NotRecorded(f"{name} was not called with {key[1][:200]}")
        step, before = waiting.popleft()
        for found in before:
            self.trace.write(found)
        if step.outcome == "limit":
            raise BudgetSpent(step.said)
        # In our own words it said that the tool returned nothing.
        return ToolText(inside_fence(step.result) or "") if step.outcome == "text" else ToolError(step.said)


@dataclass(frozen=True, slots=True)
class _RecordedModel:
    """A model that says again what it said."""

    name: str
    record: Record

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the recorded answer."""
        return self.record.reply(self.name, request)


def _stands_for(step: ModelCall, before: ModelCall) -> bool:
    """Return whether a call asks the same as the one before it, for which the budget had no room, for less."""
    is_shorter = step.asked.max_output_tokens < before.asked.max_output_tokens
    return _did_not_fit(before) and is_shorter and _form(step.asked) == _form(before.asked)


def _did_not_fit(step: ModelCall) -> bool:
    error = "" if isinstance(step, ModelStep) else getattr(step, "error", BudgetSpent.__name__)
    return error == BudgetSpent.__name__


def _form(asked: ModelRequest) -> tuple[object, ...]:
    """Return what tells the requests of a conversation apart."""
    return asked.model_name, asked.messages_sent, asked.tools, asked.forced_tool


def _key(name: str, given: Mapping[str, object]) -> tuple[str, str]:
    """Return what a call of a tool is found by: what the tool is given in the end, and a model may give anything."""
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
