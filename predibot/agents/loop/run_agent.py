"""Running an agent: a model searches, reads, and hands in an answer that holds, or there is none."""

import time
from collections.abc import Callable

from predibot.agents.answer.result import LoopEnded, LoopResult
from predibot.agents.budget.budget import KeptStep
from predibot.agents.loop.container import ContainerSpec, Parameters
from predibot.agents.loop.evidence import Research
from predibot.agents.loop.smolagents_library import load_smolagents
from predibot.agents.loop.tool_loop import LoopLimits, Talk
from predibot.agents.loop.turns import cut
from predibot.contracts import AnswerForm, ChatModel, Context
from predibot.errors import BudgetSpent

MAX_REASON_CHARACTERS = 600


def run_agent(
    model: ChatModel,
    prompt: str,
    research: Research,
    form: AnswerForm,
    context: Context,
    limits: LoopLimits,
    *,
    container: Callable[[Parameters], ContainerSpec] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> LoopResult:
    """Return the decision a model comes to with its tools.

    Args:
        model: Metered, so that a limit shows as `BudgetSpent`.
        prompt: What it is asked.
        research: Its tools, and what counts as enough.
        form: How its answer is read.
        context: Of the decision, and where the trace goes.
        limits: Steps, tokens a call, seconds.
        container: Where the model is to call its tools by writing Python, which
            `predibot.agents.loop.container_worker` runs in there.
        clock: Seconds that never go back.

    Raises:
        ModelError: If the model could not be reached, or refuses for good.
    """
    load_smolagents()
    # Imports smolagents, which only bots that use it pay for.
    from predibot.agents.loop.smolagents_agents import run_code_agent, run_tool_agent

    try:
        with KeptStep(context.meter) as kept:
            talk = Talk(model, prompt, research, form, context, limits, clock, clock(), kept)
            if container is None:
                run_tool_agent(talk)
            else:
                run_code_agent(talk, container)
    except (LoopEnded, BudgetSpent) as ended:
        return _ended_with(ended)
    return talk.result()


def _ended_with(ended: LoopEnded | BudgetSpent) -> LoopResult:
    """Return that there is no decision, and why."""
    nothing = "; nothing was handed in" if isinstance(ended, BudgetSpent) else ""
    kind = "budget" if isinstance(ended, BudgetSpent) else ended.kind
    return LoopResult(None, cut(f"{ended}{nothing}", MAX_REASON_CHARACTERS), kind=kind)
