"""One prompt, one answer: what a model says without looking anything up."""

from dataclasses import dataclass

from predibot.agents.answer.check import decided
from predibot.agents.answer.one_shot import one_shot_need, run_one_shot
from predibot.agents.prompts.render import one_shot_prompt
from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import ANY_GAME, Context, Needs, ReasonedForm
from predibot.domain.decision import Abstention, Decision
from predibot.errors import PluginError


@dataclass(frozen=True, slots=True)
class OneShot:
    """Ask a model once, without tools; it answers from what it has learnt."""

    model: str
    """As litellm names it, such as `openai/gpt-5`."""
    price_blind: bool = False
    """Whether prices are left out of the prompt, and of complaints about an answer."""
    chain_of_thought: bool = False
    """Whether it gives its reasons before the answer, in a game that can ask for them."""

    games = ANY_GAME

    @property
    def needs(self) -> Needs:
        """Return its model, asked once."""
        return Needs(models=(one_shot_need(self.model),), history=not self.price_blind)

    def decide(self, context: Context) -> Decision | Abstention:
        """Return what the model answers, or an abstention with the reason."""
        form = context.form(price_blind=self.price_blind)
        if self.chain_of_thought:
            if not isinstance(form, ReasonedForm):
                raise PluginError(f"game {context.game.name!r} asks for no reasons; leave chain_of_thought out")
            form = form.reasoned()
        prompt = one_shot_prompt(context, Fence.of(context), form)
        return decided(run_one_shot(context.model(self.model), prompt, form, context))
