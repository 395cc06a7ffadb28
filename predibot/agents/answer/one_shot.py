"""One prompt, one JSON answer: for models without tools, and for turning a report into an answer."""

import time
from collections.abc import Callable

from predibot.agents.answer.reader import read_text, said_in
from predibot.agents.answer.result import MAX_REPAIRS, LoopEnded, LoopResult
from predibot.agents.prompts.untrusted_text import Fence, told
from predibot.contracts import ANSWER_TOKENS, AnswerForm, ChatModel, Context, LastWordForm, ModelNeed, WordForm
from predibot.domain.chat import ChatReply, ChatRequest, Message
from predibot.errors import AnswerError, BudgetSpent, NoAnswer
from predibot.games.answers import abstained

MAX_REASON_CHARACTERS = 500


def one_shot_need(model: str, *, input_tokens: int = 0) -> ModelNeed:
    """Return what a strategy declares that asks a model with `run_one_shot`: one answer and its repairs.

    Args:
        model: Its name.
        input_tokens: What its prompt holds besides instructions and event, such as a report.
    """
    return ModelNeed(model, calls=1 + MAX_REPAIRS, input_tokens=input_tokens)


def run_one_shot(
    model: ChatModel,
    prompt: str,
    form: AnswerForm,
    context: Context,
    *,
    deadline_seconds: float | None = None,
    seed: int | None = None,
    max_output_tokens: int = ANSWER_TOKENS,
    most_repairs: int = MAX_REPAIRS,
    clock: Callable[[], float] = time.monotonic,
) -> LoopResult:
    """Return the decision a model answers with, after at most three repairs, or as many as its game allows.

    A complaint goes back to the model, what it quotes of the answer in the fence. What follows when none is left, a
    game may say.

    Args:
        model: Metered, so that a limit shows as `BudgetSpent`.
        prompt: What it is asked.
        form: How its answer is read.
        context: Of the decision.
        deadline_seconds: For the answer and its repairs together; the context's where it is not given.
        seed: Of the model's sampling, where its provider knows such a thing.
        max_output_tokens: A call.
        most_repairs: Fewer than three where some of its calls are spent.
        clock: Seconds that never go back.

    Raises:
        ModelError: If the model could not be reached, refuses for good, or is cut off whatever room it has.
    """
    allowed_seconds = context.deadline_seconds if deadline_seconds is None else deadline_seconds
    ends = clock() + allowed_seconds
    messages = [Message("user", prompt)]
    schema = None if isinstance(form, WordForm) else form.schema
    complaint, repairs = "", form.repairs if isinstance(form, LastWordForm) else most_repairs
    for _ in range(1 + most_repairs):
        left_seconds = ends - clock()
        if left_seconds <= 0:
            return _without(f"no answer within {allowed_seconds:g} seconds{_after(complaint)}", form)
        request = ChatRequest(tuple(messages), max_output_tokens=max_output_tokens, seed=seed, answer=schema)
        try:
            reply = model.chat(request, deadline_seconds=left_seconds)
        except BudgetSpent as error:
            return LoopResult(None, f"{error}; nothing was handed in{_after(complaint)}", kind="budget")
        except LoopEnded as ended:
            return LoopResult(None, str(ended), kind=ended.kind)
        except NoAnswer as error:
            if not isinstance(form, LastWordForm):
                raise
            complaint = str(error)
            break
        if reply.more_room:
            complaint = "the answer was cut off."
            continue
        if refusal := refusal_of(reply):
            return _without(refusal, form)
        try:
            return _taken(reply, form)
        except AnswerError as error:
            complaint = str(error)
            if repairs == 0:
                break
            repairs -= 1
            said = Message("assistant", reply.message.text or "(no text)")
            wrong = told(error, Fence.of(context))
            messages += [said, Message("user", f"That cannot be taken: {wrong} Answer again, JSON only.")]
    if isinstance(form, LastWordForm):
        return LoopResult(form.given_up(complaint))
    return LoopResult(None, f"no answer held after {most_repairs} repairs{_after(complaint)}"[:MAX_REASON_CHARACTERS])


def refusal_of(reply: ChatReply) -> str:
    """Return why a model answered nothing at all, or no text."""
    if reply.finish_reason != "refusal":
        return ""
    return f"the model refused to answer: {reply.refusal or reply.message.text}"[:MAX_REASON_CHARACTERS]


def _without(reason: str, form: AnswerForm) -> LoopResult:
    """Return that there is no decision, or what a game makes of that; a label is a miss without being put in place."""
    if isinstance(form, LastWordForm) and not isinstance(form, WordForm):
        return LoopResult(form.given_up(reason))
    return LoopResult(None, reason)


def _taken(reply: ChatReply, form: AnswerForm) -> LoopResult:
    if reply.finish_reason == "length":
        raise AnswerError("the answer was cut off at its greatest length; be shorter.")
    reading = read_text(said_in(reply), form)
    if reading.decision is None:
        return LoopResult(None, abstained(reading.abstains), kind="bot")
    return LoopResult(reading.decision, sources=reply.citations)


def _after(complaint: str) -> str:
    return f"; the last complaint: {complaint}" if complaint else ""
