"""The tool loop: a model searches, reads, and hands in an answer that holds, or there is none.

The steps are smolagents' `ToolCallingAgent`; what is ours is what it must not
decide: which tools are offered when, what counts as an answer, and when it ends.
"""

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from predibot.agents.answer.reader import call_of, read_object, said_in
from predibot.agents.answer.result import MAX_REPAIRS, LoopEnded, LoopResult
from predibot.agents.budget.budget import KeptStep
from predibot.agents.loop.evidence import ERROR, Research, Told
from predibot.agents.loop.smolagents_library import load_smolagents
from predibot.agents.loop.transcript import Transcript, cut
from predibot.agents.models.failures import is_too_long
from predibot.agents.prompts.untrusted_text import told
from predibot.contracts import AnswerForm, ChatModel, Context, ToolError
from predibot.domain.chat import ChatReply, ChatRequest, Message, ToolCall, ToolSchema
from predibot.domain.decision import Decision
from predibot.domain.trace import AbstainedStep, GaveUpStep, RefusedTurnStep, Step, ToolStep
from predibot.errors import AnswerError, BudgetSpent, ModelRefused, UsageError, VenueError
from predibot.games.answers import FINAL_ANSWER, abstained, read_json

SYSTEM = Message("system", "You are a careful forecaster. Work by calling tools, several at once where that helps.")
MAX_CALLS_A_TURN = 8
LAST_SHARE = 0.15
"""Of the time: when less is left, only the answer is taken."""
MAX_REASON_CHARACTERS = 600
MAX_UNUSABLE = 3
"""Turns in a row that are empty, cut off, or no call that is made; with the question whether a model calls tools
at most four are paid for."""
_TOLD = (UsageError, VenueError, AnswerError, TimeoutError, ConnectionError)
"""What a tool may raise that the model is told of; everything else ends the loop."""


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """When the loop ends by itself."""

    max_steps: int = 12
    """Turns of the model; in the last one, and in up to three repairs after it, only the answer is taken."""
    max_output_tokens: int = 4096
    deadline_seconds: float = 600.0


def run_tools(
    model: ChatModel,
    prompt: str,
    research: Research,
    form: AnswerForm,
    context: Context,
    limits: LoopLimits,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> LoopResult:
    """Return the decision a model comes to with its tools.

    Args:
        model: Metered, so that a limit shows as `BudgetSpent`.
        prompt: What it is asked.
        research: Its tools, and what counts as enough.
        form: How its answer is read.
        context: Of the decision, and where the trace goes.
        limits: Steps, tokens a call, seconds.
        clock: Seconds that never go back.

    Raises:
        ModelError: If the model could not be reached, or refuses for good.
    """
    load_smolagents()
    # Imports smolagents, which only bots that use it pay for.
    from predibot.agents.loop.smolagents_steps import step_through

    names = [*research.tools(), FINAL_ANSWER]
    most_calls = (limits.max_steps + MAX_REPAIRS + 1) * MAX_CALLS_A_TURN
    try:
        with KeptStep(context.meter) as kept:
            talk = Talk(model, research, form, context, limits, clock, clock(), kept)
            talk.transcript.tell(prompt)
            step_through(talk, names, model_name=model.name, max_steps=most_calls)
    except (LoopEnded, BudgetSpent) as ended:
        return ended_with(ended)
    return talk.result()


def ended_with(ended: LoopEnded | BudgetSpent) -> LoopResult:
    """Return that there is no decision, and why."""
    nothing = "; nothing was handed in" if isinstance(ended, BudgetSpent) else ""
    kind = "budget" if isinstance(ended, BudgetSpent) else ended.kind
    return LoopResult(None, cut(f"{ended}{nothing}", MAX_REASON_CHARACTERS), kind=kind)


@dataclass(slots=True)
class Talk:
    """One conversation with a model: what was said, what waits, and how far it is."""

    model: ChatModel
    research: Research
    form: AnswerForm
    context: Context
    limits: LoopLimits
    clock: Callable[[], float]
    began: float
    kept: KeptStep
    """Of the budget, for the answer."""
    transcript: Transcript = field(default_factory=Transcript)
    waiting: deque[ToolCall] = field(default_factory=deque)
    """Calls of the latest turn that are still to be made."""
    replies: int = 0
    repairs: int = 0
    unusable: int = 0
    """Turns in a row of which nothing could be made."""
    idle: bool = False
    """Whether no call of the latest turn was made so far."""
    complaint: str = ""
    """The latest about an answer that was handed in."""
    submit_only: str = ""
    """Why nothing but the answer is taken any more; empty while everything is offered."""
    tight: bool = False
    """Whether a limit of the budget was hit, so that as little as possible is sent."""
    decision: Decision | None = None
    budget_seconds: float | None = None
    """What the budget had of them at the beginning; None is no limit."""

    def __post_init__(self) -> None:
        """See how long the budget lasts."""
        self.budget_seconds = self._left_budget_seconds()

    def next_call(self) -> ToolCall:
        """Return the call that is to be made next, asking the model until it says one that can be made."""
        while not self.waiting:
            self._turn()
        return self.waiting[0]

    def perform(self, call_id: str) -> str:
        """Return what the waiting call returns, after writing it down."""
        call = self.waiting.popleft()
        arguments = read_json(call.arguments_json, self.form.fields)
        given = arguments if isinstance(arguments, Mapping) else {}
        began, repairs = self.clock(), self.repairs
        complaint: AnswerError | None = None
        try:
            if call.name == FINAL_ANSWER:
                self.take(given)
                result = Told.own("taken")
            else:
                result = self.look_up(call.name, given)
        except AnswerError as error:
            # One that comes too early is no lost turn where it would hold; else one that does not is a repair.
            is_lost = self.repairs == repairs and not self._holds(given)
            complaint, result = error, replace(Told.refusal(self.told_complaint(error)), is_refusal=is_lost)
        self.transcript.returned(call_id, result.text, gist=result.gist)
        self.write_tool(call.name, arguments, result, self.clock() - began)
        self.idle = self.idle and result.is_refusal
        if self.idle and not self.waiting:
            self.count_unusable(result.words.removeprefix(f"{ERROR} "))
        if complaint is not None:
            raise complaint
        if not self.idle:
            self.unusable = 0
        return result.text

    def told_complaint(self, error: AnswerError) -> str:
        """Return a complaint as the model is told it, what it quotes in the fence."""
        return told(error, self.research.fence)

    def result(self) -> LoopResult:
        """Return how it ended."""
        if self.decision is None:
            return LoopResult(None, "the model handed in no answer")
        return LoopResult(self.decision, notes=("under_researched",) if self.research.under_researched else ())

    def take(self, answer: object) -> Decision:
        """Return the decision of an answer that holds.

        Raises:
            AnswerError: If more is to be looked up first, or the answer does not
                hold and may be fixed.
            LoopEnded: If it abstains, or may not be fixed any more.
        """
        missing = None if self.submit_only else self.research.missing()
        if missing is not None:
            raise AnswerError(missing)
        try:
            reading = read_object(answer, self.form)
        except AnswerError as error:
            self.count_repair(str(error))
            raise
        if reading.decision is None:
            self.write(AbstainedStep(reading.abstains))
            raise LoopEnded(abstained(reading.abstains), "bot")
        self.decision = reading.decision
        return reading.decision

    def _holds(self, answer: object) -> bool:
        """Return whether an answer would be taken, were it not too early."""
        try:
            read_object(answer, self.form)
        except AnswerError:
            return False
        return True

    def count_unusable(self, why: str) -> None:
        """Count a turn of which nothing could be made, and end where there were too many in a row."""
        self.unusable += 1
        if self.unusable >= MAX_UNUSABLE:
            raise LoopEnded(f"nothing could be made of {MAX_UNUSABLE} turns in a row; of the last: {why}")

    def count_repair(self, complaint: str) -> None:
        """Count an answer that did not hold, and end where there were too many."""
        self.repairs += 1
        self.complaint = complaint
        if self.repairs > MAX_REPAIRS:
            self.write(GaveUpStep(complaint))
            raise LoopEnded(f"no answer held after {MAX_REPAIRS} repairs; the last complaint: {complaint}")

    def look_up(self, name: str, arguments: Mapping[str, object]) -> Told:
        """Return what a tool returns, or why nothing."""
        if self.submit_only:
            return Told.refusal("only final_answer is taken now")
        _, tool = self.research.tools()[name]
        try:
            return tool(arguments, self.left_seconds())
        except BudgetSpent as error:
            self.submit_only = str(error)
            return Told.limit(str(error))
        except _TOLD as error:
            return self.research.told(ToolError(str(error).strip() or type(error).__name__))

    def reply(self, request: Callable[[], ChatRequest]) -> ChatReply:
        """Return what the model answers, in submit-only mode once a limit is reached.

        Args:
            request: Makes what is asked; called again where the first does not
                fit the budget.
        """
        self._look_at_the_limits()
        try:
            answer = self.model.chat(request(), deadline_seconds=max(0.1, self.left_seconds()))
        except BudgetSpent as error:
            # Leave only the answer, for which a step was kept; then also make what is sent short; then end.
            if self.tight:
                raise LoopEnded(f"{error}; nothing was handed in{self._after_complaint()}", "budget") from error
            self.submit_only = self.submit_only or str(error)
            self.tight = not self.kept.give_back()
            return self.reply(request)
        except ModelRefused as error:
            # Make what is sent short; then leave only the answer; then end, with what the provider says of the length.
            if not is_too_long(str(error)) or (self.tight and self.submit_only):
                raise
            if self.tight:
                self.submit_only = "the conversation is as long as the model can read"
            self.tight = True
            return self.reply(request)
        self.replies += 1
        if answer.more_room:
            again = "cut off, so the same is asked again with more room"
            self.write(RefusedTurnStep(again))
            self.count_unusable(again)
            return self.reply(request)
        if answer.finish_reason == "refusal":
            raise LoopEnded(f"the model refused to answer: {answer.refusal or answer.message.text}")
        return answer

    def left_seconds(self) -> float:
        """Return how long the loop may still take."""
        return self.limits.deadline_seconds - (self.clock() - self.began)

    def max_output_tokens(self) -> int:
        """Return how long an answer may be; short where the budget is nearly spent."""
        return (
            min(self.limits.max_output_tokens, self.form.enough_tokens) if self.tight else self.limits.max_output_tokens
        )

    def write(self, step: Step) -> None:
        """Write a step down, where there is a trace."""
        if self.context.trace is not None:
            self.context.trace.write(step)

    def write_tool(self, name: str, arguments: object, told: Told, seconds: float | None = None) -> None:
        """Write down what a call returned, so that a rerun can return it again."""
        said = told.words if told.outcome in ("error", "limit") else ""
        self.write(ToolStep(name, arguments, told.text, told.outcome, said, seconds))

    def _turn(self) -> None:
        """Let the model speak once: its calls wait to be made, or it is told why they cannot be."""
        answer = self.reply(self._request)
        calls = self._with_own_ids(answer.message.tool_calls or self._written_calls(answer))
        refused = self._refused(answer, calls)
        if not refused:
            self.idle = True
            self.transcript.said(answer.message.text, calls, answer.message.state_json)
            self.waiting.extend(calls)
            return
        self.transcript.said(answer.message.text)
        self.transcript.tell(refused)
        self.write(RefusedTurnStep(refused))
        self.count_unusable(refused)
        if any(call.name == FINAL_ANSWER for call in calls):
            self.count_repair(refused)

    def _written_calls(self, answer: ChatReply) -> tuple[ToolCall, ...]:
        """Return the call that a turn is in words, or where only the answer is taken the answer that it is."""
        if answer.finish_reason not in ("stop", "other"):
            return ()
        call = call_of(said_in(answer), [tool.name for tool in self._offered()], self.form)
        return () if call is None else (call,)

    def _refused(self, answer: ChatReply, calls: Sequence[ToolCall]) -> str:
        """Return why none of the calls of a turn is made, or nothing."""
        names = [call.name for call in calls]
        offered = [tool.name for tool in self._offered()]
        unknown = [name for name in names if name not in offered]
        if answer.finish_reason == "length":
            most = answer.most_tokens or self.max_output_tokens()
            return f"Your reply was cut off at {most} tokens. Be shorter, and call a tool."
        if not calls:
            return "Text alone is not read. Call a tool; to hand in your answer, call final_answer."
        if unknown:
            # A page may have had the model say what it called it, so that is not said again.
            return f"There is no tool of that name now; call one of {', '.join(offered)}."
        if len(calls) > MAX_CALLS_A_TURN:
            return f"You made {len(calls)} calls at once; make at most {MAX_CALLS_A_TURN}."
        if FINAL_ANSWER in names and len(calls) > 1:
            return "Call final_answer alone; none of your calls was made."
        return next(filter(None, (_unreadable(call, self.form.fields) for call in calls)), "")

    def _request(self) -> ChatRequest:
        board = self.research.board_text()
        messages = (SYSTEM, *self.transcript.sent(board, whole=not self.tight))
        if not self.submit_only:
            return ChatRequest(messages, self._offered(), None, self.max_output_tokens())
        now = Message("user", f"Hand in your answer now, with what you know ({self.submit_only}).")
        return ChatRequest((*messages, now), self._offered(), FINAL_ANSWER, self.max_output_tokens())

    def _offered(self) -> tuple[ToolSchema, ...]:
        tools = () if self.submit_only else tuple(schema for schema, _ in self.research.tools().values())
        return (*tools, self.form.schema)

    def _look_at_the_limits(self) -> None:
        """Go over to submit-only mode near a limit, and end at it."""
        limits = self.limits
        if self.left_seconds() <= 0:
            raise LoopEnded(f"no answer within {limits.deadline_seconds:g} seconds{self._after_complaint()}")
        if self.replies >= limits.max_steps + MAX_REPAIRS:
            more = f"{MAX_REPAIRS} more that were for the answer only"
            raise LoopEnded(f"no answer within {limits.max_steps} steps and {more}{self._after_complaint()}")
        if self.submit_only:
            return
        if self.replies >= limits.max_steps - 1:
            self.submit_only = f"this is the last of {limits.max_steps} steps"
        elif self.left_seconds() < LAST_SHARE * limits.deadline_seconds:
            self.submit_only = f"the {limits.deadline_seconds:g} seconds are nearly over"
        elif self.budget_seconds and (self._left_budget_seconds() or 0.0) < LAST_SHARE * self.budget_seconds:
            self.submit_only = f"the {self.budget_seconds:g} seconds of the budget are nearly over"

    def _left_budget_seconds(self) -> float | None:
        return self.context.meter.left().seconds if self.context.meter is not None else None

    def _after_complaint(self) -> str:
        return f"; the last complaint: {self.complaint}" if self.complaint else ""

    def _with_own_ids(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """Return calls with the ids they came with, or new ones where those are missing or were used before."""
        used = set(self.transcript.gists)
        named = []
        for number, call in enumerate(calls, start=1):
            own = call.id if call.id and call.id not in used else f"turn_{self.replies}_call_{number}"
            used.add(own)
            named.append(replace(call, id=own))
        return tuple(named)


def _unreadable(call: ToolCall, fields: Collection[str]) -> str:
    """Return why a call's arguments cannot be read, or nothing."""
    try:
        found = read_json(call.arguments_json, fields)
    except AnswerError as error:
        said = str(error).replace("the answer", "what you gave")
        return f"{call.name} was not called: {said}"
    return "" if isinstance(found, Mapping) else f"{call.name} was not called: give its arguments as one JSON object."
