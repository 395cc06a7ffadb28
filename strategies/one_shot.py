"""One prompt, one answer: what a model says without looking anything up."""

from dataclasses import dataclass

from predibot.agents.answer.check import checked_by, decided
from predibot.agents.answer.one_shot import one_shot_need, run_one_shot
from predibot.agents.prompts.render import one_shot_prompt
from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import Context, Needs
from predibot.domain.decision import Abstention, Decision


@dataclass(frozen=True, slots=True)
class OneShot:
    """Ask a model once, without tools; it answers from what it has learnt."""

    model: str
    """As litellm names it, such as `openai/gpt-5`."""
    price_blind: bool = False
    """Whether prices are left out of the prompt, and of complaints about an answer."""

    @property
    def needs(self) -> Needs:
        """Return its model, asked once."""
        return Needs(models=(one_shot_need(self.model),), history=not self.price_blind)

    def decide(self, context: Context) -> Decision | Abstention:
        """Return what the model answers, or an abstention with the reason."""
        prompt = one_shot_prompt(context, Fence.of(context), price_blind=self.price_blind)
        check = checked_by(context, price_blind=self.price_blind)
        return decided(run_one_shot(context.model(self.model), prompt, check, context))
