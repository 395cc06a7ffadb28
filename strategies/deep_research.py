"""A model that searches by itself, and a second one that turns its report into a decision."""

import re
import time
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from predibot.agents.answer.asking import refusal_of
from predibot.agents.answer.check import decided
from predibot.agents.answer.one_shot import one_shot_need, run_one_shot
from predibot.agents.budget.budget import KeptStep
from predibot.agents.models.background_models import works_in_background
from predibot.agents.prompts.render import extract_prompt, report_prompt
from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import ANY_GAME, Context, ModelNeed, Needs
from predibot.domain.chat import ChatReply, ChatRequest, Message
from predibot.domain.decision import Abstention, Decision
from predibot.errors import BudgetSpent, NoAnswer, PluginError

MAX_REPORT_TOKENS = 16_000
MAX_BACKGROUND_TOKENS = 100_000
"""Of a report that is written in the background: what the model thinks on the way is counted with it."""
TOKEN_BYTES = 4
"""Of a report's token; another model may count one for every byte."""
EXTRACT_SHARE = 0.1
"""Of the time: so much is kept for reading the report, which would be paid for in vain."""
_ELSEWHERE = re.compile(r"((openai|azure|gemini|vertex_ai)/|(?!.*/)|perplexity/preset/).*deep-research")
"""Models whose makers answer later and elsewhere, with a search tool that has to be named."""


@dataclass(frozen=True, slots=True)
class DeepResearch:
    """Have a searching model write a report, and a cheap one take the decision out of it."""

    model: str
    """One that searches by itself, such as `perplexity/sonar-deep-research` or `openai/o4-mini-deep-research`."""
    extract_model: str
    """One that turns the report into an answer; it is told not to forecast."""
    max_searches: Annotated[int, Field(ge=1, le=200)] = 20
    """How often OpenAI's models for deep research may search or open a page; no other can be told."""
    price_blind: bool = False
    """Whether prices are left out of the prompt, and of complaints about an answer."""

    games = ANY_GAME

    def __post_init__(self) -> None:
        """Refuse a model that cannot be asked the way models are asked here."""
        if _ELSEWHERE.match(self.model) and not works_in_background(self.model):
            raise PluginError(
                f"model {self.model!r} works in the background of an API of its own, which predibot does not speak; "
                "take openai/o3-deep-research, openai/o4-mini-deep-research, or one that answers chat completions, "
                "such as perplexity/sonar-deep-research"
            )
        if works_in_background(self.extract_model):
            raise PluginError(
                f"extract_model {self.extract_model!r} writes reports, for minutes and dollars; "
                "take a cheap one that answers at once, such as openai/gpt-5-mini"
            )

    @property
    def needs(self) -> Needs:
        """Return the model that searches and writes, and the one that reads what it wrote."""
        writer = ModelNeed(self.model, calls=1, output_tokens=self.report_tokens, max_searches=self._most_searches)
        reader = one_shot_need(self.extract_model, input_tokens=TOKEN_BYTES * self.report_tokens)
        return Needs(models=(writer, reader), history=not self.price_blind)

    @property
    def _most_searches(self) -> int | None:
        """Return how often the model is told that it may search, None for one that cannot be told."""
        return self.max_searches if works_in_background(self.model) else None

    @property
    def report_tokens(self) -> int:
        """Return how long a report may be, in tokens."""
        return MAX_BACKGROUND_TOKENS if works_in_background(self.model) else MAX_REPORT_TOKENS

    def decide(self, context: Context) -> Decision | Abstention:
        """Return what the report says, or an abstention with the reason.

        Raises:
            NoAnswer: If there is no report, or no answer in it.
        """
        began = time.monotonic()
        fence, form = Fence.of(context), context.form(price_blind=self.price_blind)
        request = ChatRequest(
            (Message("user", report_prompt(context, fence, form)),),
            max_output_tokens=self.report_tokens,
            max_searches=self._most_searches,
        )
        writing_seconds = (1.0 - EXTRACT_SHARE) * context.deadline_seconds
        try:
            # A report without a step left to read it would be paid for in vain.
            with KeptStep(context.meter):
                report = context.model(self.model).chat(request, deadline_seconds=writing_seconds)
        except BudgetSpent as error:
            return Abstention(f"{error}; no report was written", "budget")
        if reason := _unusable(report, report.most_tokens or self.report_tokens):
            raise NoAnswer(reason)
        result = run_one_shot(
            context.model(self.extract_model),
            extract_prompt(context, fence, form, report.message.text),
            form,
            context,
            deadline_seconds=context.deadline_seconds - (time.monotonic() - began),
        )
        return decided(replace(result, sources=report.citations))


def _unusable(report: ChatReply, most_tokens: int) -> str:
    """Return why nothing can be taken out of a report, or no text."""
    if report.finish_reason == "length":
        return f"the report was cut off at {most_tokens:,} tokens"
    return refusal_of(report) or ("" if report.message.text.strip() else "the report is empty")
