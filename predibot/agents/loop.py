"""The tool loop: a model searches, reads, and hands in an answer that holds, or there is none.

The steps are smolagents' `ToolCallingAgent`; what is ours is what it must not
decide: which tools are offered when, what counts as an answer, and when it ends.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from predibot.agents.answer import MAX_REPAIRS, Check, LoopResult, parse_answer
from predibot.agents.compaction import compacted
from predibot.agents.research import ERROR, Research
from predibot.contracts import ChatModel, Context
from predibot.domain.chat import ChatReply, ChatRequest, Message, ToolCall, ToolSchema
from predibot.domain.decision import Decision
from predibot.errors import AnswerError, BudgetSpent, ModelError

if TYPE_CHECKING:
    import smolagents

FINAL_ANSWER = ToolSchema(
    "final_answer",
    "Hand in your decision, once, alone. It is checked; a complaint says what to mend.",
    {
        "type": "object",
        "properties": {
            "market_decisions": {
                "type": "array",
                "description": "One entry for every market.",
                "items": {
                    "type": "object",
                    "properties": {
                        "market_id": {"type": "string"},
                        "estimated_probability": {"type": "number", "description": "Of YES, between 0 and 1."},
                        "bet": {"type": "number", "description": "Dollars: positive buys YES, negative NO, 0 none."},
                        "confidence": {"type": "number", "description": "0 to 10."},
                        "rationale": {"type": "string"},
                    },
                    "required": ["market_id", "estimated_probability", "bet", "confidence", "rationale"],
                },
            },
            "unallocated_capital": {"type": "number", "description": "Dollars that are not bet."},
        },
        "required": ["market_decisions", "unallocated_capital"],
    },
)


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """When the loop ends by itself."""

    max_steps: int = 12
    max_output_tokens: int = 4096
    deadline_seconds: float = 600.0


@dataclass(slots=True)
class _State:
    """What the loop knows while it runs."""

    limits: LoopLimits
    research: Research
    check: Check
    context: Context
    began: float = field(default_factory=time.monotonic)
    calls: int = 0
    repairs: int = 0
    submit_only: str = ""
    """Why nothing but the answer is taken any more; empty while everything is offered."""
    ended: str = ""
    """Why there will be no decision; empty while there may be one."""
    decision: Decision | None = None

    def left_seconds(self) -> float:
        """Return how long the loop may still take."""
        return self.limits.deadline_seconds - (time.monotonic() - self.began)


class _Ended(Exception):
    """Leaves smolagents' loop; the state says why."""


def run_tools(
    model: ChatModel, prompt: str, research: Research, check: Check, context: Context, limits: LoopLimits
) -> LoopResult:
    """Return the decision a model comes to with its tools.

    Args:
        model: Metered, so that a limit shows as `BudgetSpent`.
        prompt: What it is asked.
        research: Its tools, and what counts as enough.
        check: The rules of the game.
        context: The event, and where the trace goes.
        limits: Steps, tokens a call, seconds.

    Raises:
        ModelError: If the model could not be reached, or refuses for good.
    """
    # smolagents costs 0.3 s, which only bots that use it pay.
    import smolagents

    state = _State(limits, research, check, context)
    tools = {name: _guarded(state, _traced(name, call, context)) for name, (_, call) in research.tools().items()}
    schemas = [schema for schema, _ in research.tools().values()]
    offered = {**tools, FINAL_ANSWER.name: lambda arguments: _hand_in(state, arguments)}
    agent = smolagents.ToolCallingAgent(
        tools=[_smol_tool(name, call) for name, call in offered.items()],
        model=_adapter(model, state, [*schemas, FINAL_ANSWER]),
        # Ours ends first; theirs would make a free-text answer look like a decision.
        max_steps=limits.max_steps + MAX_REPAIRS + 3,
        verbosity_level=smolagents.LogLevel.OFF,
        max_tool_threads=1,
    )
    agent.prompt_templates["system_prompt"] = "You are a careful forecaster. Call one tool at a time."
    try:
        agent.run(prompt, return_full_result=True)
    except smolagents.AgentError as error:
        _reraise(error)
    if state.decision is not None:
        notes = ("under_researched",) if research.under_researched else ()
        return LoopResult(state.decision, notes=notes)
    return LoopResult(None, state.ended or "the model handed in no answer")


def _reraise(error: BaseException) -> None:
    """Raise what really happened, where it is more than the end of the loop."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, _Ended):
            return
        if isinstance(cause, ModelError):
            raise cause
        cause = cause.__cause__
    raise error


def _hand_in(state: _State, arguments: Mapping[str, object]) -> str:
    """Take an answer that holds, or raise what to mend."""
    missing = None if state.submit_only else state.research.missing()
    if missing is not None and not _nothing_works(state):
        raise AnswerError(missing)
    try:
        decision = parse_answer(arguments.get("answer", arguments), state.context.subject)
        state.check(decision)
    except AnswerError as error:
        state.repairs += 1
        if state.repairs > MAX_REPAIRS:
            state.ended = f"no answer held after {MAX_REPAIRS} repairs; the last complaint: {error}"
        raise
    state.decision = decision
    return "taken"


def _guarded(state: _State, call: Callable[[Mapping[str, object]], str]) -> Callable[[Mapping[str, object]], str]:
    """Return a tool that is not to be had any more once only the answer is taken."""

    def guarded(arguments: Mapping[str, object]) -> str:
        return f"{ERROR} only final_answer is taken now" if state.submit_only else call(arguments)

    return guarded


def _nothing_works(state: _State) -> bool:
    """Return whether looking things up has failed so often that a decision is taken without."""
    wanted = state.research.min_searches + state.research.min_pages
    return state.research.tried >= max(3, wanted)


def _traced(
    name: str, call: Callable[[Mapping[str, object]], str], context: Context
) -> Callable[[Mapping[str, object]], str]:
    def called(arguments: Mapping[str, object]) -> str:
        began = time.monotonic()
        result = call(arguments)
        if context.trace is not None:
            seconds = time.monotonic() - began
            context.trace.record("tool", name=name, arguments=dict(arguments), result=result, seconds=seconds)
        return result

    return called


def _smol_tool(name: str, call: Callable[[Mapping[str, object]], str]) -> "smolagents.Tool":
    """Return a tool that takes anything: what is wrong with arguments is said by us."""
    import smolagents

    names = ("query", "url", "part", "focus", "date", "line", "speaks", "market_decisions", "unallocated_capital")
    anything = {
        each: {"type": "any", "description": each, "nullable": True} for each in (*names, "answer", "rationale")
    }

    def forward(self: object, *texts: object, **arguments: object) -> str:
        given = {"answer": texts[0]} if texts else {key: value for key, value in arguments.items() if value is not None}
        return call(given)

    attributes: dict[str, Any] = {
        "name": name,
        "description": name,
        "inputs": anything,
        "output_type": "string",
        "skip_forward_signature_validation": True,
        "forward": forward,
    }
    made: smolagents.Tool = type("AgentTool", (smolagents.Tool,), attributes)()
    return made


def _adapter(model: ChatModel, state: _State, schemas: Sequence[ToolSchema]) -> "smolagents.Model":
    """Return our model in the form smolagents calls one."""
    import smolagents

    class Adapter(smolagents.Model):  # type: ignore[misc]
        """Decides, call by call, what is sent and what is offered."""

        def generate(self, messages: list[Any], **_: object) -> smolagents.ChatMessage:
            reply = _next_reply(model, state, schemas, messages)
            return _smol_message(reply)

    return Adapter(model_id=model.name)


def _next_reply(model: ChatModel, state: _State, schemas: Sequence[ToolSchema], messages: list[Any]) -> ChatReply:
    _look_at_the_limits(state)
    if state.ended:
        raise _Ended(state.ended)
    state.calls += 1
    try:
        reply = model.chat(_request(state, schemas, messages), deadline_seconds=max(0.1, state.left_seconds()))
    except BudgetSpent as error:
        if state.submit_only:
            state.ended = f"{error}; nothing was handed in"
            raise _Ended(state.ended) from error
        state.submit_only = str(error)
        return _next_reply(model, state, schemas, messages)
    if reply.finish_reason == "refusal":
        state.ended = f"the model refused to answer: {reply.refusal or reply.message.text}"[:500]
        raise _Ended(state.ended)
    return reply


def _look_at_the_limits(state: _State) -> None:
    over = state.calls - state.limits.max_steps
    if over > MAX_REPAIRS or state.left_seconds() <= 0:
        state.ended = state.ended or f"no answer within {state.limits.max_steps} steps and {MAX_REPAIRS} repairs"
    elif over >= -1 and not state.submit_only:
        state.submit_only = f"the last of {state.limits.max_steps} steps"


def _request(state: _State, schemas: Sequence[ToolSchema], messages: list[Any]) -> ChatRequest:
    converted = [_message(message) for message in messages]
    observations = [str(getattr(message.role, "value", message.role)) == "tool-response" for message in messages]
    sent = compacted(converted, observations=observations, board=state.research.board_text())
    if state.submit_only:
        sent = (*sent, Message("user", f"Hand in your answer now, with what you know ({state.submit_only})."))
        return ChatRequest(sent, (FINAL_ANSWER,), FINAL_ANSWER.name, state.limits.max_output_tokens)
    return ChatRequest(sent, tuple(schemas), None, state.limits.max_output_tokens)


def _message(message: Any) -> Message:
    """Return one of smolagents' messages as ours; calls and their answers are plain text there."""
    role = str(getattr(message.role, "value", message.role))
    content = message.content
    text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content or ())
    if role == "system":
        return Message("system", text)
    return Message("assistant" if role in ("assistant", "tool-call") else "user", text)


def _smol_message(reply: ChatReply) -> "smolagents.ChatMessage":
    from smolagents.models import (
        ChatMessage,
        ChatMessageToolCall,
        ChatMessageToolCallFunction,
        MessageRole,
        TokenUsage,
    )

    def call_of(call: ToolCall) -> ChatMessageToolCall:
        function = ChatMessageToolCallFunction(name=call.name, arguments=call.arguments_json)
        return ChatMessageToolCall(id=call.id, type="function", function=function)

    return ChatMessage(
        role=MessageRole.ASSISTANT,
        content=reply.message.text or None,
        tool_calls=[call_of(call) for call in reply.message.tool_calls] or None,
        token_usage=TokenUsage(reply.usage.input_tokens or 0, reply.usage.output_tokens or 0),
    )
