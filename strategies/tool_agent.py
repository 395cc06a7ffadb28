"""An agent that searches the web, reads pages, and hands in a decision."""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from predibot.agents.answer.check import decided
from predibot.agents.answer.one_shot import run_one_shot
from predibot.agents.answer.result import MAX_REPAIRS, LoopResult
from predibot.agents.loop.evidence import Research, research_needs
from predibot.agents.loop.run_agent import run_agent
from predibot.agents.loop.tool_loop import LoopLimits
from predibot.agents.prompts.render import decide_prompt, one_shot_prompt
from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import ANY_GAME, BUILT_IN_TOOLS, AnswerForm, Context, Needs
from predibot.domain.decision import WITHOUT_TOOLS, Abstention, Decision
from predibot.errors import NoAnswer


@dataclass(frozen=True, slots=True)
class ToolAgent:
    """Let a model search and read until it hands in a decision that holds."""

    model: str
    """As litellm names it, such as `openai/gpt-5`."""
    max_steps: Annotated[int, Field(ge=1, le=100)] = 12
    """How many turns it has; in the last one only its answer is taken."""
    min_searches: Annotated[int, Field(ge=0, le=20)] = 2
    """Different searches that must return something before an answer is taken."""
    min_pages: Annotated[int, Field(ge=0, le=20)] = 2
    """Pages that must have been read before an answer is taken."""
    tools: tuple[str, ...] = BUILT_IN_TOOLS
    """What it may call besides handing in its answer; those of your own by the names of their files."""
    price_blind: bool = False
    """Whether prices are left out of the prompt, and of complaints about an answer."""
    without_tools: Literal["fail", "one_shot"] = "fail"
    """What becomes of a model that calls no tools: a failure, or one answer without any research."""

    games = ANY_GAME

    @property
    def needs(self) -> Needs:
        """Return its model and the tools it may call."""
        return research_needs(self.model, self.max_steps, self.tools)

    def decide(self, context: Context) -> Decision | Abstention:
        """Return what the agent hands in, or an abstention with the reason."""
        fence, form = Fence.of(context), context.form(price_blind=self.price_blind)
        if why := context.why_no_tools(self.model):
            if self.without_tools == "fail":
                raise NoAnswer(f"{why}; take another model, or allow it with without_tools = 'one_shot'")
            return decided(self._without_tools(context, fence, form))
        research = Research.with_tools(
            context.tools, self.tools, fence, min_searches=self.min_searches, min_pages=self.min_pages
        )
        prompt = decide_prompt(context, fence, form, min_searches=self.min_searches, min_pages=self.min_pages)
        limits = LoopLimits(max_steps=self.max_steps, deadline_seconds=context.deadline_seconds)
        return decided(run_agent(context.model(self.model), prompt, research, form, context, limits))

    def _without_tools(self, context: Context, fence: Fence, form: AnswerForm) -> LoopResult:
        """Return what a model that calls no tools answers at once, and say that it did."""
        prompt = one_shot_prompt(context, fence, form)
        # What the question whether it calls tools took counts as repairs.
        left = MAX_REPAIRS if context.meter is None else max(0, MAX_REPAIRS - context.meter.spent().steps)
        result = run_one_shot(context.model(self.model), prompt, form, context, most_repairs=left)
        return replace(result, notes=(*result.notes, WITHOUT_TOOLS, "under_researched"))
