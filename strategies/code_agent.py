"""An agent that writes code, which runs in a container and nowhere else."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from pydantic import Field

from predibot.agents.answer.check import decided
from predibot.agents.loop.container import docker_problem, docker_spec
from predibot.agents.loop.evidence import Research, research_needs
from predibot.agents.loop.run_agent import run_agent
from predibot.agents.loop.tool_loop import LoopLimits
from predibot.agents.prompts.render import decide_prompt
from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import ANY_GAME, BUILT_IN_TOOLS, Context, Needs
from predibot.domain.decision import Abstention, Decision
from predibot.errors import PluginError


@dataclass(frozen=True, slots=True)
class CodeAgent:
    """Let a model write Python that searches, reads and decides, inside a container."""

    model: str
    """As litellm names it, such as `openai/gpt-5`."""
    executor: str = ""
    """Where its code runs: `docker`; there is no other that keeps it in."""
    image: str = "python:3.11-slim"
    """The container's image; it needs Python, and it is never pulled by itself."""
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

    def __post_init__(self) -> None:
        """Refuse to run what a model writes anywhere but in a container that is there."""
        why = "strategy 'code_agent' runs what a model writes, which only a container can hold"
        instead = "or use strategy 'tool_agent', which runs no code"
        if self.executor != "docker":
            raise PluginError(f'{why}; set executor = "docker", {instead}')
        if problem := docker_problem(self.image):
            raise PluginError(f"{why}, and {problem}; fix that, {instead}")

    games = ANY_GAME
    starts_program = True

    @property
    def needs(self) -> Needs:
        """Return its model and the tools it may call."""
        return research_needs(self.model, self.max_steps, self.tools)

    def decide(self, context: Context) -> Decision | Abstention:
        """Return what the agent hands in, or an abstention with the reason."""
        fence, form = Fence.of(context), context.form(price_blind=self.price_blind)
        research = Research.with_tools(
            context.tools, self.tools, fence, min_searches=self.min_searches, min_pages=self.min_pages
        )
        prompt = decide_prompt(context, fence, form, min_searches=self.min_searches, min_pages=self.min_pages)
        limits = LoopLimits(max_steps=self.max_steps, deadline_seconds=context.deadline_seconds)
        container = partial(docker_spec, self.image)
        return decided(
            run_agent(context.model(self.model), prompt, research, form, context, limits, container=container)
        )
