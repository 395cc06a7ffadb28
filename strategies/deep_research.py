"""A model that searches by itself, and a second one that turns its report into a decision."""

import re
import time
from dataclasses import dataclass, replace

from predibot.agents.fence import Fence
from predibot.agents.kept_step import KeptStep
from predibot.agents.one_shot import refusal_of, run_one_shot
from predibot.agents.prompt import extract_prompt, report_prompt
from predibot.agents.taken import checked_by, decided
from predibot.contracts import Context
from predibot.domain.chat import ChatReply, ChatRequest, Message
from predibot.domain.decision import Abstention, Decision
from predibot.errors import BudgetSpent, PluginError

MAX_REPORT_TOKENS = 16_000
_IN_THE_BACKGROUND = re.compile(r"((openai|azure|gemini|vertex_ai)/|(?!.*/)|perplexity/preset/).*deep-research")
"""Models whose makers answer later and elsewhere, with a search tool that has to be named."""


@dataclass(frozen=True, slots=True)
class DeepResearch:
    """Have a searching model write a report, and a cheap one take the decision out of it."""

    model: str
    """One that searches by itself, such as `perplexity/sonar-deep-research`."""
    extract_model: str
    """One that turns the report into an answer; it is told not to forecast."""
    price_blind: bool = False
    """Whether prices are left out of the prompt, and of complaints about an answer."""

    searches_itself = True
    """Such a model cannot be kept from the future, so a replay refuses it."""

    def __post_init__(self) -> None:
        """Refuse a model that cannot be asked the way models are asked here."""
        if _IN_THE_BACKGROUND.match(self.model):
            raise PluginError(
                f"model {self.model!r} works in the background of an API of its own (OpenAI's is Responses, with the "
                "tool web_search_preview), which predibot does not speak; take one that answers chat completions, "
                "such as perplexity/sonar-deep-research"
            )

    def decide(self, context: Context) -> Decision | Abstention:
        """Return what the report says, or an abstention with the reason."""
        began = time.monotonic()
        fence = Fence.drawn(context.rng)
        request = ChatRequest(
            (Message("user", report_prompt(context, fence, price_blind=self.price_blind)),),
            max_output_tokens=MAX_REPORT_TOKENS,
        )
        try:
            # A report without a step left to read it would be paid for in vain.
            with KeptStep(context.meter):
                report = context.model(self.model).chat(request, deadline_seconds=context.deadline_seconds)
        except BudgetSpent as error:
            return Abstention(f"{error}; no report was written")
        if reason := _unusable(report):
            return Abstention(reason)
        result = run_one_shot(
            context.model(self.extract_model),
            extract_prompt(context, fence, report.message.text),
            checked_by(context, price_blind=self.price_blind),
            context,
            deadline_seconds=context.deadline_seconds - (time.monotonic() - began),
            may_abstain=True,
        )
        return decided(replace(result, sources=report.citations))


def _unusable(report: ChatReply) -> str:
    """Return why nothing can be taken out of a report, or no text."""
    if report.finish_reason == "length":
        return f"the report was cut off at {MAX_REPORT_TOKENS:,} tokens"
    return refusal_of(report) or ("" if report.message.text.strip() else "the report is empty")
