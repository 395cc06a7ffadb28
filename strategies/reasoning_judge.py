"""A judge: what the reasons of another bot rest on, of a label that it gave with reasons."""

from dataclasses import dataclass

from predibot.agents.answer.check import decided
from predibot.agents.answer.one_shot import one_shot_need, run_one_shot
from predibot.agents.prompts.render import one_shot_prompt
from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import Context, JudgingForm, Needs
from predibot.domain.decision import Abstention, Decision
from predibot.errors import PluginError


@dataclass(frozen=True, slots=True)
class ReasoningJudge:
    """Ask a model whether another bot's reasons are logical, causal, confounding or narrative."""

    model: str
    """As litellm names it, such as `openai/gpt-5`."""
    of: str
    """The bot of the recipe whose reasons are judged; one that gives them, as `one_shot` with `chain_of_thought`."""

    games = ("beliefbench",)

    @property
    def needs(self) -> Needs:
        """Return its model, asked once, and the bot it judges."""
        return Needs(models=(one_shot_need(self.model, input_tokens=2_000),), members=(self.of,))

    def decide(self, context: Context) -> Decision | Abstention:
        """Return of what kind the reasons are, or an abstention where there are none."""
        said, form = context.members.get(self.of), context.form()
        if said is None or not said.rationale:
            return Abstention(f"{self.of} gave no reasons", "members" if said is None else "bot")
        if not isinstance(form, JudgingForm):
            raise PluginError(f"game {context.game.name!r} has no reasons to judge; leave this strategy out")
        form = form.judging(said.rationale)
        prompt = one_shot_prompt(context, Fence.of(context), form)
        return decided(run_one_shot(context.model(self.model), prompt, form, context))
