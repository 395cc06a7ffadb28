"""A model that searches by itself, and a second one that turns its report into a decision."""

from dataclasses import dataclass, replace

from predibot.agents.fence import Fence
from predibot.agents.one_shot import run_one_shot
from predibot.agents.prompt import extract_prompt, one_shot_prompt
from predibot.agents.taken import checked_by, decided
from predibot.contracts import Context
from predibot.domain.chat import ChatRequest, Message
from predibot.domain.decision import Abstention, Decision
from predibot.errors import BudgetSpent

MAX_REPORT_TOKENS = 16_000


@dataclass(frozen=True, slots=True)
class DeepResearch:
    """Have a searching model write a report, and a cheap one take the decision out of it."""

    model: str
    """One that searches by itself, such as `perplexity/sonar-deep-research`."""
    extract_model: str
    """One that turns the report into an answer; it is told not to forecast."""
    price_blind: bool = False
    """Whether prices are left out of the prompt."""

    searches_itself = True
    """Such a model cannot be kept from the future, so a replay refuses it."""

    def decide(self, context: Context) -> Decision | Abstention:
        """Return what the report says, or an abstention with the reason."""
        prompt = one_shot_prompt(context, price_blind=self.price_blind)
        request = ChatRequest((Message("user", prompt),), max_output_tokens=MAX_REPORT_TOKENS)
        try:
            report = context.model(self.model).chat(request, deadline_seconds=context.deadline_seconds)
        except BudgetSpent as error:
            return Abstention(f"{error}; no report was written")
        if report.finish_reason == "refusal":
            return Abstention(f"the model refused to answer: {report.refusal or report.message.text}"[:500])
        extract = extract_prompt(context, Fence.drawn(context.rng), report.message.text)
        result = run_one_shot(context.model(self.extract_model), extract, checked_by(context), context)
        return decided(replace(result, sources=report.citations))
