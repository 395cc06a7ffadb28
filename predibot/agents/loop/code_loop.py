"""The code loop: as the tool loop, but the model writes Python that calls the tools."""

import time
from collections.abc import Callable

from predibot.agents.answer.result import MAX_REPAIRS, LoopEnded, LoopResult
from predibot.agents.budget.budget import KeptStep
from predibot.agents.loop.container import ContainerSpec
from predibot.agents.loop.evidence import Research
from predibot.agents.loop.smolagents_library import load_smolagents
from predibot.agents.loop.tool_loop import LoopLimits, Talk, ended_with
from predibot.contracts import AnswerForm, ChatModel, Context
from predibot.errors import BudgetSpent


def run_code(
    model: ChatModel,
    prompt: str,
    research: Research,
    form: AnswerForm,
    context: Context,
    limits: LoopLimits,
    spec: ContainerSpec,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> LoopResult:
    """Return the decision a model comes to by writing code; see `predibot.agents.loop.tool_loop.run_tools`.

    Args:
        spec: Of a container that serves `predibot.agents.loop.container_worker`.

    Raises:
        ModelError: If the model could not be reached, or refuses for good.
    """
    load_smolagents()
    # Imports smolagents, which only bots that use it pay for.
    from predibot.agents.loop.code_steps import code_through

    try:
        with KeptStep(context.meter) as kept:
            talk = Talk(model, research, form, context, limits, clock, clock(), kept)
            code_through(talk, prompt, spec, max_steps=limits.max_steps + MAX_REPAIRS + 2)
    except (LoopEnded, BudgetSpent) as ended:
        return ended_with(ended)
    return talk.result()
