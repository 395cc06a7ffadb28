"""The rules of an agent's loop, while smolagents drives it and keeps its memory. smolagents must not decide the content
of requests, the tools on offer, whether an answer is valid, or when the loop ends. This module decides that.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import count

from predibot.agents.answer.asking import ModelDialogue
from predibot.agents.answer.calls import holds_calls
from predibot.agents.answer.reader import answer_text, call_in_words, read_object
from predibot.agents.answer.result import MAX_REPAIRS, LoopEnd
from predibot.agents.budget.budget import KeptStep
from predibot.agents.loop.belief import ERROR
from predibot.agents.loop.evidence import Research, ToolAnswer
from predibot.agents.loop.turns import ModelTurn, messages_of
from predibot.agents.models.failures import is_too_long
from predibot.agents.prompts.untrusted_text import complaint_for_model
from predibot.contracts import AnswerForm, Context, ToolError
from predibot.domain.chat import ChatReply, ChatRequest, Message, ToolCall, ToolSchema
from predibot.domain.decision import Abstention, Decision
from predibot.domain.trace import AbstainedStep, GaveUpStep, RefusedTurnStep, Step, ToolStep
from predibot.errors import AnswerError, BudgetSpent, ModelRefused, UsageError, VenueError
from predibot.games.answers import FINAL_ANSWER, AnswerComplaint, abstention_note, read_json

SYSTEM = Message("system", "You are a careful forecaster. Work by calling tools, several at once where that helps.")
MAX_CALLS_A_TURN = 8
LAST_SHARE = 0.15
"""When less than this share of the time is left, only the answer is taken."""
MAX_UNUSABLE = 3
"""Turns in a row without a usable call; with the probe for tools at most four are paid for."""
MAX_EARLY = 3
"""Valid answers in a row before enough research; the next one is taken as it is, and marked."""
_MENDABLE = (UsageError, VenueError, AnswerError, TimeoutError, ConnectionError)
"""Errors of a tool that the model gets to read; all others end the loop."""


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """The limits at which the loop ends by itself."""

    max_steps: int = 12
    """Turns of the model; the last one, and up to three repairs after it, may only answer."""
    max_output_tokens: int = 4096
    deadline_seconds: float = 600.0


@dataclass(slots=True)
class Talk(ModelDialogue):
    """One conversation with a model and its tools: its limits, its counts and its trace."""

    _: KW_ONLY
    prompt: str
    research: Research
    form: AnswerForm
    context: Context
    limits: LoopLimits
    kept: KeptStep
    early: int = 0
    turn: ModelTurn = field(default_factory=lambda: ModelTurn(Message("assistant")))
    """The latest turn that made calls."""
    unusable: int = 0
    submit_only: str = ""
    """Why only the answer is taken now; empty while every tool is offered."""
    tight: bool = False
    """Whether a limit of the budget was hit, so that messages and answers are kept short."""
    decision: Decision | None = None
    budget_seconds: float | None = field(init=False)
    """Left in the budget at the start; None is no limit."""

    def __post_init__(self) -> None:
        """Note the start, the seconds left in the budget, and what the board must know of the question."""
        # A class with slots is made twice, and `super()` knows the first only.
        ModelDialogue.__post_init__(self)
        self.budget_seconds = self._left_budget_seconds()
        self.research.board.question, self.research.board.market_ids = self.form.question, self.form.market_ids

    def next_turn(self, turns: Sequence[ModelTurn]) -> ModelTurn:
        """Ask the model for its next turn: calls, or a complaint why none of them is made.

        Raises `LoopEnd` if a limit is reached or too many turns were unusable, `BudgetSpent` if not even the answer
        fits the budget, and `ModelError` as `ChatModel.chat` does.
        """
        last = turns[-1] if turns else None
        if last is not None and not last.complaint:
            # An answer that was counted as early or as a repair is no refusal.
            if all(each.is_refusal for each in last.results):
                words = last.results[-1].words.removeprefix(f"{ERROR} ")
                # The fence is another one in each decision, and whoever reads why it failed needs none.
                self.count_unusable(self.research.fence.for_readers(words))
            elif last.said.tool_calls[-1].name != FINAL_ANSWER:
                self.unusable = self.early = 0
        answer = self.reply(lambda: self._request(turns))
        calls = self._calls(answer, turns)
        refused = self._refusal(answer, calls)
        if not refused:
            self.turn = ModelTurn(replace(answer.message, tool_calls=calls))
            return self.turn
        self.write(RefusedTurnStep(refused))
        self.count_unusable(refused)
        if any(call.name == FINAL_ANSWER for call in calls):
            self.count_repair(refused)
        return ModelTurn(replace(answer.message, tool_calls=()), complaint=refused)

    def take_answer(self, answer: Mapping[str, object]) -> bool:
        """Take a valid answer that comes after enough research; return True.

        Raises `AnswerError` if more research is needed or the answer may be mended, else `LoopEnd`.
        """
        began, counted = self.clock(), self.repairs + self.early
        try:
            self._take(answer)
        except AnswerError as error:
            refusal = ToolAnswer.refusal(complaint_for_model(error, self.research.fence))
            self.turn.results.append(replace(refusal, is_refusal=self.repairs + self.early == counted))
            self._write_tool(FINAL_ANSWER, answer, refusal, began)
            raise
        self._write_tool(FINAL_ANSWER, answer, ToolAnswer.own("taken"), began)
        return True

    def _take(self, answer: object) -> None:
        missing = None if self.submit_only else self.research.missing()
        try:
            result = read_object(answer, self.form)
        except AnswerError as error:
            if missing is not None:
                wrong = error.marked if isinstance(error, AnswerComplaint) else str(error)
                raise AnswerComplaint(f"{wrong} And {missing}") from None
            self.count_repair(str(error))
            raise
        if missing is not None:
            self.early += 1
            if self.early >= MAX_EARLY:
                self.submit_only = f"it came {MAX_EARLY} times before what had to be looked up"
            raise AnswerError(missing)
        if isinstance(result, Abstention):
            self.write(AbstainedStep(result.reason))
            raise LoopEnd(abstention_note(result.reason), "bot")
        self.decision = result

    def count_unusable(self, why: str) -> None:
        """Count a turn without a usable call; end the loop after too many in a row."""
        self.unusable += 1
        if self.unusable >= MAX_UNUSABLE:
            raise LoopEnd(f"nothing could be made of {MAX_UNUSABLE} turns in a row; of the last: {why}")

    def count_repair(self, complaint: str) -> None:
        """Count an invalid answer; end the loop after too many."""
        if not self.repair(complaint):
            self.write(GaveUpStep(complaint))
            raise self.too_many_repairs()

    def look_up(self, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
        """Return a tool's answer, and write it down so that a rerun can return it again."""
        began = self.clock()
        found = self.research.fence_result(ToolError("it was broken off"))
        try:
            found = self._call_tool(name, arguments)
        finally:
            self.turn.results.append(found)
            self._write_tool(name, arguments, found, began)
        return found

    def _call_tool(self, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
        if self.submit_only:
            return ToolAnswer.refusal("only final_answer is taken now")
        _, tool = self.research.tools()[name]
        try:
            return tool(arguments, self.left_seconds())
        except BudgetSpent as error:
            self.submit_only = str(error)
            return ToolAnswer.limit(str(error))
        except _MENDABLE as error:
            return self.research.fence_result(ToolError(str(error).strip() or type(error).__name__))

    def reply(self, request: Callable[[], ChatRequest]) -> ChatReply:
        """Return the model's reply; once a limit is reached, only the answer is taken. `request` is called again if its
        first result does not fit the budget.
        """
        self._check_limits()
        try:
            answer = self.ask(request())
        except BudgetSpent as error:
            # First leave only the answer, for which a step was kept; then also shorten the request; then end.
            if self.tight:
                raise LoopEnd(f"{error}; nothing was handed in{self.complaint_suffix()}", "budget") from error
            self.submit_only = self.submit_only or str(error)
            self.tight = not self.kept.give_back()
            return self.reply(request)
        except ModelRefused as error:
            # First shorten the request; then leave only the answer; then end with the provider's own message.
            if not is_too_long(str(error)) or (self.tight and self.submit_only):
                raise
            if self.tight:
                self.submit_only = "the conversation is as long as the model can read"
            self.tight = True
            return self.reply(request)
        if answer.more_room:
            again = "cut off, so the same is asked again with more room"
            self.write(RefusedTurnStep(again))
            self.count_unusable(again)
            return self.reply(request)
        return answer

    def max_output_tokens(self) -> int:
        """Return the longest allowed reply; short if the budget is nearly spent."""
        most = self.limits.max_output_tokens
        return min(most, self.form.enough_tokens) if self.tight else most

    def write(self, step: Step) -> None:
        """Write a step to the trace, if there is one."""
        if self.context.trace is not None:
            self.context.trace.write(step)

    def _write_tool(self, name: str, arguments: object, answer: ToolAnswer, began: float) -> None:
        words = answer.words if answer.outcome in ("error", "limit") else ""
        self.write(ToolStep(name, arguments, answer.text, answer.outcome, words, self.clock() - began))

    def _calls(self, answer: ChatReply, turns: Sequence[ModelTurn]) -> tuple[ToolCall, ...]:
        """Return the calls of a turn, or the one that its words make; an answer in words hands itself in. Ids become
        unique.
        """
        calls = answer.message.tool_calls
        if not calls and answer.finish_reason in ("stop", "other"):
            call = call_in_words(answer_text(answer), self.available_tools(), self.form)
            calls = () if call is None else (call,)
        used = {call.id for turn in turns for call in turn.said.tool_calls}
        taken = used | {call.id for call in calls}
        new = (each for number in count(1) if (each := f"turn_{self.replies}_call_{number}") not in taken)
        named = []
        for call in calls:
            named.append(replace(call, id=call.id if call.id and call.id not in used else next(new)))
            used.add(named[-1].id)
        return tuple(named)

    def _refusal(self, answer: ChatReply, calls: Sequence[ToolCall]) -> str:
        """Return why none of the calls of a turn is made, or an empty text."""
        names = [call.name for call in calls]
        offered = [tool.name for tool in self.available_tools()]
        unknown = [name for name in names if name not in offered]
        if answer.finish_reason == "length":
            most = answer.most_tokens or self.max_output_tokens()
            return f"Your reply was cut off at {most} tokens. Be shorter, and call a tool."
        if not calls and holds_calls(answer.message.text):
            return "You wrote several calls as text, and none was made; write one, alone and last."
        if not calls:
            what = "Text alone is not read." if answer.message.text.strip() else "Your reply was empty."
            return f"{what} Call a tool; to hand in your answer, call final_answer."
        if unknown:
            # The name may be a page's words, so it is not repeated.
            return f"There is no tool of that name now; call one of {', '.join(offered)}."
        if len(calls) > MAX_CALLS_A_TURN:
            return f"You made {len(calls)} calls at once; make at most {MAX_CALLS_A_TURN}."
        if FINAL_ANSWER in names and len(calls) > 1:
            return "Call final_answer alone; none of your calls was made."
        for call in calls:
            try:
                found = read_json(call.arguments_json, self.form.fields)
            except AnswerError as error:
                return f"{call.name} was not called: {str(error).replace('the answer', 'what you gave')}"
            if not isinstance(found, Mapping):
                return f"{call.name} was not called: give its arguments as one JSON object."
        return ""

    def _request(self, turns: Sequence[ModelTurn]) -> ChatRequest:
        board = self.research.board.text(self.research.fence, asks=not self.submit_only, short=self.tight)
        messages = (SYSTEM, *messages_of(self.prompt, turns, board, whole=not self.tight))
        if not self.submit_only:
            return ChatRequest(messages, self.available_tools(), None, self.max_output_tokens())
        now = Message("user", f"Hand in your answer now, with what you know ({self.submit_only}).")
        return ChatRequest((*messages, now), self.available_tools(), FINAL_ANSWER, self.max_output_tokens())

    def available_tools(self) -> tuple[ToolSchema, ...]:
        """Return the tools that are offered now, the one that hands in the answer last."""
        tools = () if self.submit_only else tuple(schema for schema, _ in self.research.tools().values())
        return (*tools, self.form.schema)

    def _check_limits(self) -> None:
        steps, seconds, budget_seconds = self.limits.max_steps, self.seconds, self.budget_seconds
        if self.replies >= steps + MAX_REPAIRS:
            more = f"{MAX_REPAIRS} more that were for the answer only"
            raise LoopEnd(f"no answer within {steps} steps and {more}{self.complaint_suffix()}")
        if self.submit_only:
            return
        if self.replies >= steps - 1:
            self.submit_only = f"this is the last of {steps} steps"
        elif self.left_seconds() < LAST_SHARE * seconds:
            self.submit_only = f"the {seconds:g} seconds are nearly over"
        elif budget_seconds and (self._left_budget_seconds() or 0.0) < LAST_SHARE * budget_seconds:
            self.submit_only = f"the {budget_seconds:g} seconds of the budget are nearly over"

    def _left_budget_seconds(self) -> float | None:
        return self.context.meter.left().seconds if self.context.meter is not None else None
