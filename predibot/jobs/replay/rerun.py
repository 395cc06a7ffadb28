"""Rerunning a run: each decision is made again from its recorded answers, and compared with the stored one."""

import json
import logging
import math
import re
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
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
    Progress,
    ProgressListener,
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
from predibot.domain.clock import parse_instant
from predibot.domain.decision import ReasonKind, Subject
from predibot.domain.event import Event
from predibot.domain.price import QUOTE_PRICES, Quote
from predibot.domain.trace import (
    GivenUpStep,
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
from predibot.errors import (
    BudgetSpent,
    LedgerError,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    PluginError,
    PredibotError,
    UsageError,
    VenueUnavailable,
)
from predibot.games.answers import ABSENT
from predibot.jobs.decide import bot_plan
from predibot.jobs.deciding.activity import StepListener
from predibot.jobs.deciding.decide_one import WorkResult, take
from predibot.jobs.deciding.opened_models import AnswerRoom, DeclaredModels
from predibot.jobs.deciding.venue_board import VenueBoard
from predibot.jobs.deciding.worker import DecideJob, Worker
from predibot.ledger.files.traces import Trace, Traces
from predibot.ledger.read.decision_traces import TracedDecision, find_decisions
from predibot.ledger.read.export import DecisionKey, Rows, decision_rows
from predibot.ledger.store import Store
from predibot.ledger.url import sqlite_address
from predibot.ledger.write.claims import Claimant
from predibot.ledger.write.events import catalogue
from predibot.ledger.write.process_identity import is_gone, new_owner
from predibot.ledger.write.runs import StoredRun, add_bots, find_run, freeze_run, frozen_events
from predibot.plugins.strategies import spec_of
from predibot.recipe.recipe import BotSpec, Recipe, in_order
from predibot.trust import allowed_programs
from predibot.version import __version__

_log = logging.getLogger(__name__)

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


_LEASE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Rerun:
    """The comparison of one decision."""

    bot: str
    event_id: str
    status: str
    equal: bool | None
    """Whether all its rows are the same; None where its trace is not enough to rerun it."""
    difference: str = ""
    """The tables whose rows differ, or why it was not rerun."""


_NO_EVENT = "it is about no event, and decisions of games with accounts are not rerun yet"


def rerun(
    store: Store, run_key: str, *, clock: Callable[[], datetime], listener: ProgressListener
) -> tuple[Rerun, ...]:
    """Make each decision of a run again from its recorded answers, and compare it; no model, tool or venue is asked.

    The same code decides into a scratch ledger; the rows of the canonical export are compared. UsageError is raised if
    no run has the key, or a trace was changed or is gone.
    """
    with store.read() as connection:
        run = find_run(connection, run_key)
        if run is None:
            raise UsageError(f"no run holds the key {run_key[:100]!r}; `predibot runs` lists them")
        events = frozen_events(connection, run.id)
        before = decision_rows(connection, run.key)
    recipe, lacking = _with_needs(Recipe.from_json(run.recipe_json))
    with scratch_ledger() as again:
        plan = replace(run, id=0, voided_at=None, void_reason=None, code_version=__version__, created_at=clock())
        with again.write() as connection:
            replica = freeze_run(connection, plan, events)
        worker = _make_worker(again, replica, events, recipe, clock())
        with again.write() as connection:
            bot_rows = add_bots(connection, replica, [bot_plan(bot) for bot in recipe.bots])
        found: list[Rerun] = []
        named = {bot.name: bot for bot in recipe.bots}
        order = in_order({name: bot.members for name, bot in named.items()})
        pairs = [(named[name], event) for names in order for name in names for event in events]
        for bot, event in pairs:
            if (bot.name, event.id) not in before:
                continue
            with store.read() as connection:
                stored = find_decisions(connection, run.key, bot.name, event.id)[0]
            kept = Traces(store).read(stored.trace_sha256) if stored.trace_sha256 else StoredTrace()
            if bot.name in lacking:
                found.append(Rerun(bot.name, event.id, stored.status, False, lacking[bot.name]))
            elif reason := _why_not_rerun(bot, stored, kept):
                found.append(Rerun(bot.name, event.id, stored.status, None, reason))
            else:
                record = Record(kept, stored.message, stored.reason_kind or "bot")
                own = _worker_of_decision(worker, before[bot.name, event.id], record)
                _decide_again(DecideJob(bot, bot_rows[bot.name], Subject("event", event.id)), own)
                found.append(_compare(stored, before, again, record))
            listener(Progress("rerun", len(found), len(before), f"{bot.name} on {event.id}"))
    others = [rows["decisions"][0] for rows in before.values() if rows["decisions"][0]["subject_kind"] != "event"]
    return (*found, *(Rerun(row["bot"], row["subject_id"], row["status"], None, _NO_EVENT) for row in others))


@contextmanager
def scratch_ledger() -> Iterator[Store]:
    """Yield an empty ledger in a temporary folder."""
    with (
        tempfile.TemporaryDirectory(prefix="predibot-scratch-") as folder,
        Store.open(sqlite_address(Path(folder, "ledger.db"))) as store,
    ):
        yield store


def _with_needs(recipe: Recipe) -> tuple[Recipe, Mapping[str, str]]:
    """Return a stored recipe with its strategies' needs of today, and why some bots cannot be made."""
    bots, lacking, allowed = [], {}, allowed_programs(Path())
    for bot in recipe.bots:
        try:
            if not allowed.issuperset(bot.programs):
                raise PluginError("it starts programs, and no recipe here that starts them is trusted")
            needs = spec_of(bot.strategy.name, bot.strategy.arguments).needs
            bots.append(replace(bot, strategy=replace(bot.strategy, needs=needs)))
        except PluginError as error:
            bots.append(bot)
            lacking[bot.name] = str(error)
    return replace(recipe, bots=tuple(bots)), lacking


def _decide_again(job: DecideJob, worker: Worker) -> None:
    """Make one decision; a crash of a strategy is recorded, as it was then."""
    try:
        work = take(job, worker)
        if not isinstance(work, WorkResult):
            work()
    except (LedgerError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a strategy raises is its result
        _log.info("%s crashed on %s: %s", job.bot.name, job.subject.id, error)


def _make_worker(store: Store, run: StoredRun, events: tuple[Event, ...], recipe: Recipe, now: datetime) -> Worker:
    with store.read() as connection:
        known = catalogue(connection, run.id)
    venue = RecordedVenue(run.venue_name)
    return Worker(
        store=store,
        venue=venue,
        game=recipe.make_game(),
        run=run,
        events={event.id: event for event in events},
        catalogue=known,
        claimant=Claimant(new_owner(), _LEASE, now, is_gone),
        clock=lambda: now,
        board=RecordedQuotes(venue, now),
    )


def _worker_of_decision(worker: Worker, rows: Rows, record: Record) -> Worker:
    decided_at = parse_instant(rows["decisions"][0]["decided_at"])
    quotes = [_recorded_quotes(rows["quotes"], role) for role in ("shown", "booked")]
    return replace(
        worker,
        run=replace(worker.run, as_of=decided_at),
        board=RecordedQuotes(worker.venue, decided_at, *quotes),
        agents=record,
        loopback=record.loopback(),
    )


def _recorded_quotes(rows: list[Mapping[str, Any]], role: str) -> Mapping[str, Quote]:
    return {
        row["market_id"]: Quote(parse_instant(row["at"]), **{name: row[name] for name in QUOTE_PRICES})
        for row in rows
        if row["role"] == role
    }


def _why_not_rerun(bot: BotSpec, stored: TracedDecision, kept: StoredTrace) -> str:
    """Return why a decision cannot be made again: its failure or its data is in no trace."""
    if bot.needs.history and not bot.needs.models:
        return "it follows from daily prices, which are not recorded"
    if bot.needs.settled:
        return "it follows from what had settled in the ledger then, which is not recorded"
    kinds = {step.kind for step in kept.steps}
    # The trace of an abandoned decision ends before the call in which it hung.
    is_of_model = stored.reason_kind == "answer" or ModelFailedStep.kind in kinds
    if stored.status != "failed" or (is_of_model and GivenUpStep.kind not in kinds):
        return ""
    return f"what failed it is not recorded: {stored.message}"


def _compare(stored: TracedDecision, before: Mapping[DecisionKey, Rows], again: Store, record: Record) -> Rerun:
    bot, event_id = stored.bot, stored.event_id
    with again.read() as connection:
        new = decision_rows(connection, stored.run).get((bot, event_id), {})
    old = before[bot, event_id]
    differing = [table for table in old if old[table] != new.get(table, [])]
    differences = [f"not the same: {', '.join(differing)}"] if differing else []
    if rest := record.rest():
        differences.append(f"{rest} recorded answers were not asked for")
    return Rerun(bot, event_id, stored.status, not differences, "; ".join(differences))
