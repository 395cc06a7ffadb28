"""One prompt, one JSON answer: for models without tools, and for turning a report into an answer."""

import json
import re
from collections.abc import Callable, Mapping

from predibot.agents.answer import MAX_REPAIRS, Check, LoopResult, parse_answer
from predibot.contracts import ChatModel, Context
from predibot.domain.chat import ChatReply, ChatRequest, Message
from predibot.domain.decision import Decision
from predibot.errors import AnswerError, BudgetSpent

_FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n\s*```\s*\Z", re.DOTALL)
MAX_OUTPUT_TOKENS = 4096
MAX_ABSTAIN_CHARACTERS = 500


def run_one_shot(
    model: ChatModel, prompt: str, check: Check, context: Context, *, max_output_tokens: int = MAX_OUTPUT_TOKENS
) -> LoopResult:
    """Return the decision a model answers with, after at most three repairs.

    A complaint goes back to the model word for word. A model that is told to
    may answer `{"abstain": "why"}`, which is an abstention and no decision.

    Raises:
        ModelError: If the model could not be reached, or refuses for good.
    """
    messages = [Message("user", prompt)]
    complaint = ""
    for _ in range(1 + MAX_REPAIRS):
        request = ChatRequest(tuple(messages), max_output_tokens=max_output_tokens)
        try:
            reply = model.chat(request, deadline_seconds=context.deadline_seconds)
        except BudgetSpent as error:
            return LoopResult(None, f"{error}; nothing was handed in{_after(complaint)}")
        if reply.finish_reason == "refusal":
            return LoopResult(None, f"the model refused to answer: {reply.refusal or reply.message.text}"[:500])
        try:
            return _taken(reply, check, context)
        except AnswerError as error:
            complaint = str(error)
            messages += [reply.message, Message("user", f"That cannot be taken: {complaint} Answer again, JSON only.")]
    return LoopResult(None, f"no answer held after {MAX_REPAIRS} repairs; the last complaint: {complaint}")


def _taken(reply: ChatReply, check: Check, context: Context) -> LoopResult:
    if reply.finish_reason == "length":
        raise AnswerError("the answer was cut off at its greatest length; be shorter.")
    answer = _json_of(reply.message.text)
    if isinstance(answer, Mapping) and set(answer) == {"abstain"}:
        return LoopResult(None, f"abstained: {answer['abstain']}"[:MAX_ABSTAIN_CHARACTERS])
    decision: Decision = parse_answer(reply.message.text if answer is None else answer, context.subject)
    check(decision)
    return LoopResult(decision, sources=reply.citations)


def _json_of(text: str) -> object:
    """Return the object of a text that is JSON and nothing else, alone or in one code fence; else None."""
    fenced = _FENCED.match(text)
    try:
        return json.loads(fenced.group(1) if fenced else text, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None


def _refused(name: str) -> Callable[[], None]:
    raise ValueError(f"{name} is not a number")


def _after(complaint: str) -> str:
    return f"; the last complaint: {complaint}" if complaint else ""
