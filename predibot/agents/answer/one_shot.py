"""One prompt, one answer: for models without tools, and for turning a report into an answer."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from predibot.agents.answer.asking import ModelDialogue
from predibot.agents.answer.reader import answer_text, read_text
from predibot.agents.answer.result import MAX_REPAIRS, LoopEnd, LoopResult
from predibot.agents.prompts.untrusted_text import Fence, complaint_for_model
from predibot.contracts import ANSWER_TOKENS, AnswerForm, ChatModel, Context, ModelNeed
from predibot.domain.chat import ChatReply, ChatRequest, Message
from predibot.domain.decision import Abstention
from predibot.errors import AnswerError, BudgetSpent, NoAnswer
from predibot.games.answers import abstention_note


def one_shot_need(model: str, *, input_tokens: int = 0) -> ModelNeed:
    """Return the needs of a strategy that asks a model with `run_one_shot`: one answer and its repairs. `input_tokens`
    counts the prompt beside instructions and event, such as a report.
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
    """Return the model's decision, after at most three repairs, or as many as its game allows.

    A complaint goes back to the model; words of the answer that the complaint quotes are fenced. If no repair is left,
    the game may give a default answer. The model is metered, so that a limit shows as `BudgetSpent`. The deadline, by
    default the context's, is for the answer and its repairs together, `max_output_tokens` for each call. `most_repairs`
    are fewer than three if some calls are spent. Raises `ModelError` if the model could not be reached, refuses for
    good, or is cut off at any length.
    """
    seconds = context.deadline_seconds if deadline_seconds is None else deadline_seconds
    # In packages made for an older predibot the form has these rules, not the game.
    rules: Any = form if hasattr(form, "repairs") else context.game
    repairs = most_repairs if rules.repairs is None else rules.repairs
    asking = ModelDialogue(model, seconds, clock, repairs)
    messages = [Message("user", prompt)]
    schema = None if form.labels else form.schema
    try:
        while asking.replies <= most_repairs:
            request = ChatRequest(tuple(messages), max_output_tokens=max_output_tokens, seed=seed, answer=schema)
            reply = asking.ask(request)
            if reply.more_room:
                asking.complaint = "the answer was cut off."
                continue
            try:
                return _read_reply(reply, form)
            except AnswerError as error:
                if not asking.repair(str(error)):
                    break
                answer = replace(reply.message, text=reply.message.text or "(no text)", tool_calls=())
                wrong = complaint_for_model(error, Fence.of(context))
                messages += [answer, Message("user", f"That cannot be taken: {wrong} Answer again, JSON only.")]
    except BudgetSpent as error:
        return LoopResult.of(error, asking.complaint_suffix())
    except LoopEnd as ended:
        # A missing label is a miss; no default takes its place.
        if rules.repairs is not None and not form.labels:
            return LoopResult(rules.given_up(str(ended)))
        return LoopResult.of(ended)
    except NoAnswer as error:
        if rules.repairs is None:
            raise
        asking.complaint = str(error)
    if rules.repairs is None:
        return LoopResult.of(asking.too_many_repairs())
    return LoopResult(rules.given_up(asking.complaint))


def _read_reply(reply: ChatReply, form: AnswerForm) -> LoopResult:
    if reply.finish_reason == "length":
        raise AnswerError("the answer was cut off at its greatest length; be shorter.")
    answer = read_text(answer_text(reply), form)
    if isinstance(answer, Abstention):
        return LoopResult(None, abstention_note(answer.reason), kind="bot")
    return LoopResult(answer, sources=reply.citations)
