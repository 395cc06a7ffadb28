"""Running an agent: a model searches, reads, and hands in a valid answer, or gives up."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from predibot.agents.answer.result import LoopEnd, LoopResult
from predibot.agents.budget.budget import KeptStep
from predibot.agents.loop.container import ContainerSpec, Parameters
from predibot.agents.loop.evidence import Research
from predibot.agents.loop.tool_loop import LoopLimits, Talk
from predibot.contracts import AnswerForm, ChatModel, Context
from predibot.errors import BudgetSpent, UsageError

_NO_DOTENV = "PYTHON_DOTENV_DISABLED"


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
    """Return the model's decision after it has used its tools.

    The model is metered, so that a limit shows as `BudgetSpent`. In a `container` it calls its tools by writing Python,
    which `container_worker` runs there. Raises `ModelError` if it could not be reached, or its provider refuses for
    good.
    """
    load_smolagents()
    # Imports smolagents, so only bots that use it pay for that.
    from predibot.agents.loop.smolagents_agents import run_code_agent, run_tool_agent

    try:
        with KeptStep(context.meter) as kept:
            talk = Talk(
                model, limits.deadline_seconds, clock,
                prompt=prompt, research=research, form=form, context=context, limits=limits, kept=kept,
            )  # fmt: skip
            if container is None:
                run_tool_agent(talk)
            else:
                run_code_agent(talk, container)
    except (LoopEnd, BudgetSpent) as ended:
        return LoopResult.of(ended)
    if talk.decision is None:
        return LoopResult(None, "the model handed in no answer")
    return LoopResult(talk.decision, notes=research.notes)


def load_smolagents() -> None:
    """Import smolagents, which takes 0.3 s, and leave the environment as it is.

    Without care the import would read the `.env` file of the current folder, or of the project that smolagents is
    installed in: keys that nobody gave to this program. Raises `UsageError` if Python leaves out assertions, because
    smolagents checks answers with them.
    """
    if not __debug__:
        raise UsageError("agents with tools check answers by assertions, which python -O leaves out; run without -O")
    if "smolagents" not in sys.modules:
        with _without_dotenv():
            import smolagents  # noqa: F401


@contextmanager
def _without_dotenv() -> Iterator[None]:
    """Keep dotenv from reading anything; only an environment variable can switch it off."""
    if _NO_DOTENV in os.environ:  # noqa: TID251
        yield
        return
    os.environ[_NO_DOTENV] = "1"  # noqa: TID251
    try:
        yield
    finally:
        # Another thread may have removed it already.
        os.environ.pop(_NO_DOTENV, None)  # noqa: TID251
