"""What a trace holds of a decision's models and tools, played back in the place of both."""

import json
import math
import re
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from predibot.agents.answer.result import LoopEnded
from predibot.agents.budget.budget import Budget
from predibot.agents.loop.evidence import ERROR
from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import (
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
from predibot.domain.chat import ChatReply, ChatRequest, Cost, Message, ToolCall, ToolSchema, Usage
from predibot.domain.terms import ModelSettings
from predibot.errors import BudgetSpent, ModelError, ModelRefused, ModelUnavailable, PredibotError
from predibot.jobs.deciding.opened_models import OpenedModels
from predibot.ledger.files.traces import Trace
from predibot.plugins.strategies import StrategySpec

Step = Mapping[str, Any]

_ASKED = ("model_name", "messages_sent", "tools", "forced_tool", "max_output_tokens")
_CALLS = ("model", "model_failed")
_LOOKED_UP = ("search", "page_visited", "page_refused", "tool_paid")
_PROBE = ["ping"]
_REFUSALS = ("ModelRefused", "RequestRefused", "AnswerUnusable")
_MARK = re.compile(r"[0-9a-f]{16,64}")
_OLD_FENCE = re.compile(
    r"\A<<untrusted (?P<mark>[0-9a-f]{16})>>\n(?P<text>.*)\n<<end of untrusted (?P=mark)>>\Z", re.DOTALL
)
"""How traces say that a tool found something which do not say it by `outcome`."""
_LIMIT = re.compile(
    r"the (?:decision|bot|run|day)'s limit of .*? is reached: .*?; raise that limit, or go on with what there is",
    re.DOTALL,
)
_LOOPBACK = re.compile(r"http://127\.0\.0\.1:\d+")


class NotRecorded(PredibotError):
    """A bot asks for something that its trace does not hold: it does not do what it did."""


@dataclass(slots=True)
class Record:
    """The recorded answers of one decision, each given once; for one thread."""

    steps: Sequence[Step]
    message: str
    """What is stored of how the decision ended; a limit that was reached is named there."""
    trace: Trace = field(default_factory=Trace)
    """What is played back, written down anew."""
    _replies: deque[Step] = field(default_factory=deque)
    _results: dict[tuple[object, ...], deque[tuple[Step, list[Step]]]] = field(default_factory=dict)
    _opened: dict[str, Step] = field(default_factory=dict)
    """Tools of the user's own, by name."""
    _fence: Fence = field(default_factory=lambda: Fence(untrusted_mark()))

    def __post_init__(self) -> None:
        """Sort the steps by what they answer."""
        mark = self.steps[0].get("untrusted_mark") if self.steps else None
        if isinstance(mark, str) and _MARK.fullmatch(mark):
            self._fence = Fence(mark)
        before: list[Step] = []
        for step in self.steps:
            if step["kind"] in _CALLS and step["tools"] != _PROBE:
                self._replies.append(step)
            elif step["kind"] == "tool_opened":
                self._opened[step["name"]] = step
            elif step["kind"] in _LOOKED_UP:
                before.append(step)
            elif step["kind"] == "tool":
                self._results.setdefault(_key(step), deque()).append((step, before))
                before = []

    def set_up(self, context: Context, strategy: StrategySpec, settings: ModelSettings | None = None) -> Context:
        """Return a context with what a strategy decides with again; no time passes, so there is no deadline."""
        return replace(
            context,
            model=OpenedModels(strategy, self._model, settings),
            calls_tools=self._calls_tools,
            tools=Toolbox(self._search, self._visit, self._open),
            meter=Budget.of("decision", Limits()),
            trace=self.trace,
            # The prompt is part of no decision; what the model said to it is recorded.
            history=no_history,
            deadline_seconds=math.inf,
            untrusted_mark=self._fence.mark,
        )

    def loopback(self) -> str | None:
        """Return the address a sandbox had, where the trace has one."""
        found = Counter(_LOOPBACK.findall(str(self.steps)))
        return found.most_common(1)[0][0] if found else None

    def reply(self, name: str, request: ChatRequest) -> ChatReply:
        """Return the next recorded answer.

        Raises:
            BudgetSpent: If the recorded bot was asked otherwise next, no more, or not again after a lost answer: a
                limit stood in its way.
            LoopEnded: If it was asked no more for another reason, such as its deadline.
            ModelError: If that is what was recorded.
        """
        if not self._replies:
            raise self._end()
        row, tools = self._replies[0], [tool.name for tool in request.tools]
        asked = (name, len(request.messages), tools, request.forced_tool, request.max_output_tokens)
        if asked != tuple(row[each] for each in _ASKED):
            raise BudgetSpent(_reason(row))
        self._replies.popleft()
        self._write_down(row)
        if row["kind"] == "model_failed":
            raise _failure(row)
        return _reply(row)

    def rest(self) -> int:
        """Return how many recorded answers of models nobody asked for."""
        return len(self._replies)

    def _model(self, name: str) -> ChatModel:
        return _RecordedModel(name, self)

    def _calls_tools(self, _name: str) -> bool:
        return not self._replies or any(row["tools"] for row in self._replies)

    def _end(self) -> BudgetSpent | LoopEnded:
        """Return what kept the bot from asking once more, as it was said then."""
        limit = _LIMIT.match(self.message)
        return BudgetSpent(limit.group()) if limit else LoopEnded(self.message)

    def _search(self, query: str) -> ToolResult:
        return self._result(("web_search", query))

    def _visit(self, url: str, part: int, focus: str | None) -> ToolResult:
        return self._result(("visit_webpage", url, part, focus))

    def _open(self, name: str) -> Tool:
        step = self._opened.get(name)
        if step is None:
            raise NotRecorded(f"the tool {name!r} was not opened")
        self._write_down(step)
        schema = ToolSchema(name, step["description"], step["parameters"])
        return Tool(schema, lambda arguments, _seconds: self._result(_user_key(name, arguments)))

    def _result(self, key: tuple[object, ...]) -> ToolResult:
        waiting = self._results.get(key)
        if not waiting:
            raise NotRecorded(f"{key[0]} was not called with {str(key[1:])[:200]}")
        row, before = waiting.popleft()
        for step in before:
            self._write_down(step)
        outcome, result = row.get("outcome") or _old_outcome(row), str(row["result"])
        said = result.removeprefix(ERROR).strip()
        if outcome == "limit":
            raise BudgetSpent(said)
        if outcome == "text":
            old = _OLD_FENCE.match(result)
            return ToolText(old["text"] if old else self._fence.inside(result))
        # In our own words it said that the tool returned nothing.
        return ToolError(self._fence.inside(said) if outcome == "error" else "")

    def _write_down(self, step: Step) -> None:
        self.trace.record(step["kind"], **{name: step[name] for name in step if name not in ("step", "kind")})


@dataclass(frozen=True, slots=True)
class _RecordedModel:
    """A model that says again what it said."""

    name: str
    record: Record

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the recorded answer."""
        return self.record.reply(self.name, request)


def _old_outcome(row: Step) -> str:
    """Return how a call ended in a trace that does not say it by itself."""
    result = str(row["result"])
    if _OLD_FENCE.match(result):
        return "text"
    return "limit" if _LIMIT.match(result.removeprefix(ERROR).strip()) else "own"


def _key(step: Step) -> tuple[object, ...]:
    """Return what a call of a tool is found by: what the tool is given in the end."""
    given = step["arguments"] if isinstance(step["arguments"], Mapping) else {}
    if step["name"] == "visit_webpage":
        url, part = given.get("url"), given.get("part")
        return (step["name"], url.strip() if isinstance(url, str) else url, part or 1, given.get("focus") or None)
    return (step["name"], given.get("query")) if step["name"] == "web_search" else _user_key(step["name"], given)


def _user_key(name: str, arguments: Mapping[str, object]) -> tuple[object, ...]:
    return (name, json.dumps(arguments, sort_keys=True))


def _reason(row: Step) -> str:
    """Return why a bot was asked for its answer alone, as it was told."""
    said = str(row["new_messages"])
    found = re.search(r"\(((?:the|this) [^\n]*)\)\.", said)
    return found.group(1) if found else said


def _failure(row: Step) -> ModelError | BudgetSpent:
    if row["error"] == BudgetSpent.__name__:
        return BudgetSpent(row["message"])
    kind: Callable[[str], ModelError] = ModelRefused if row["error"] in _REFUSALS else ModelUnavailable
    return kind(row["message"])


def _reply(row: Step) -> ChatReply:
    said = row["message"]
    calls = tuple(ToolCall(**call) for call in said["tool_calls"])
    return ChatReply(
        message=Message(said["role"], said["text"], calls, said["tool_call_id"]),
        finish_reason=row["finish_reason"],
        usage=Usage(**row["usage"]),
        cost=Cost(**row["cost"]),
        model=row["model"],
        seconds=row["seconds"],
        retries=row["retries"],
        lost_tries=row.get("lost_tries", 0),
        refusal=row["refusal"],
        citations=tuple(row["citations"]),
        refused_settings=tuple(row.get("refused_settings", ())),
    )
