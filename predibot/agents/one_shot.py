"""One prompt, one JSON answer: for models without tools, and for turning a report into an answer."""

import re
import time
from collections.abc import Callable, Mapping

from predibot.agents.answer import MAX_REPAIRS, Check, LoopEnded, LoopResult, parse_answer, read_json
from predibot.contracts import ChatModel, Context
from predibot.domain.chat import ChatReply, ChatRequest, Message
from predibot.errors import AnswerError, BudgetSpent

MAX_OUTPUT_TOKENS = 4096
MAX_REASON_CHARACTERS = 500
_FENCED = re.compile(r"\A\s*```(?:json)?[ \t]*\n(.*?)\n[ \t]*```\s*\Z", re.DOTALL)


def run_one_shot(
    model: ChatModel,
    prompt: str,
    check: Check,
    context: Context,
    *,
    deadline_seconds: float | None = None,
    may_abstain: bool = False,
    seed: int | None = None,
    max_output_tokens: int = MAX_OUTPUT_TOKENS,
    clock: Callable[[], float] = time.monotonic,
) -> LoopResult:
    """Return the decision a model answers with, after at most three repairs.

    A complaint goes back to the model word for word.

    Args:
        model: Metered, so that a limit shows as `BudgetSpent`.
        prompt: What it is asked.
        check: The rules of the game.
        context: The event.
        deadline_seconds: For the answer and its repairs together; the context's where it is not given.
        may_abstain: Whether `{"abstain": "why"}` is an answer; the prompt must say so.
        seed: Of the model's sampling, where its provider knows such a thing.
        max_output_tokens: A call.
        clock: Seconds that never go back.

    Raises:
        ModelError: If the model could not be reached, or refuses for good.
    """
    allowed_seconds = context.deadline_seconds if deadline_seconds is None else deadline_seconds
    ends = clock() + allowed_seconds
    messages = [Message("user", prompt)]
    complaint = ""
    for _ in range(1 + MAX_REPAIRS):
        left_seconds = ends - clock()
        if left_seconds <= 0:
            return LoopResult(None, f"no answer within {allowed_seconds:g} seconds{_after(complaint)}")
        request = ChatRequest(tuple(messages), max_output_tokens=max_output_tokens, seed=seed)
        try:
            reply = model.chat(request, deadline_seconds=left_seconds)
        except BudgetSpent as error:
            return LoopResult(None, f"{error}; nothing was handed in{_after(complaint)}", kind="budget")
        except LoopEnded as ended:
            return LoopResult(None, str(ended), kind=ended.kind)
        try:
            return _taken(reply, check, context, may_abstain=may_abstain)
        except AnswerError as error:
            complaint = str(error)
            said = Message("assistant", reply.message.text or "(no text)")
            messages += [said, Message("user", f"That cannot be taken: {complaint} Answer again, JSON only.")]
    return LoopResult(None, f"no answer held after {MAX_REPAIRS} repairs{_after(complaint)}"[:MAX_REASON_CHARACTERS])


def refusal_of(reply: ChatReply) -> str:
    """Return why a model answered nothing at all, or no text."""
    if reply.finish_reason != "refusal":
        return ""
    return f"the model refused to answer: {reply.refusal or reply.message.text}"[:MAX_REASON_CHARACTERS]


def _taken(reply: ChatReply, check: Check, context: Context, *, may_abstain: bool) -> LoopResult:
    if reason := refusal_of(reply):
        return LoopResult(None, reason)
    if reply.finish_reason == "length":
        raise AnswerError("the answer was cut off at its greatest length; be shorter.")
    fenced = _FENCED.match(reply.message.text)
    answer = read_json(fenced.group(1) if fenced else reply.message.text)
    if may_abstain and isinstance(answer, Mapping) and answer.keys() == {"abstain"}:
        return LoopResult(None, f"abstained: {answer['abstain']}"[:MAX_REASON_CHARACTERS])
    decision = parse_answer(answer, context.subject)
    check(decision)
    return LoopResult(decision, sources=reply.citations)


def _after(complaint: str) -> str:
    return f"; the last complaint: {complaint}" if complaint else ""
