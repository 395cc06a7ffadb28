"""An agent that searches the web, reads pages, and hands in a decision."""

from dataclasses import dataclass

from predibot.agents.fence import Fence
from predibot.agents.loop import LoopLimits, run_tools
from predibot.agents.prompt import decide_prompt
from predibot.agents.research import Research
from predibot.agents.taken import checked_by, decided
from predibot.contracts import Context
from predibot.domain.decision import Abstention, Decision


@dataclass(frozen=True, slots=True)
class ToolAgent:
    """Let a model search and read until it hands in a decision that holds."""

    model: str
    """As litellm names it, such as `openai/gpt-5`."""
    max_steps: int = 12
    """How many turns it has before only its answer is taken."""
    min_searches: int = 2
    """Different searches that must return something before an answer is taken."""
    min_pages: int = 2
    """Pages that must have been read before an answer is taken."""
    price_blind: bool = False
    """Whether prices are left out of the prompt."""

    def decide(self, context: Context) -> Decision | Abstention:
        """Return what the agent hands in, or an abstention with the reason."""
        fence = Fence.drawn(context.rng)
        research = Research(context.tools, fence, self.min_searches, self.min_pages)
        prompt = decide_prompt(
            context, fence, price_blind=self.price_blind, min_searches=self.min_searches, min_pages=self.min_pages
        )
        limits = LoopLimits(max_steps=self.max_steps, deadline_seconds=context.deadline_seconds)
        model = context.model(self.model)
        return decided(run_tools(model, prompt, research, checked_by(context), context, limits))
