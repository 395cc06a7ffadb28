"""Activity: what each bot is doing at this moment, for those who watch."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from predibot.domain.decision import Status
from predibot.domain.trace import ModelFailedStep, ModelStep, PageVisitedStep, SearchStep, Step, ToolPaidStep, ToolStep

State = Literal["running", "skipped"] | Status
StepListener = Callable[[int, Step], None]
"""Hears of each step of a trace, with its number."""


@dataclass(frozen=True, slots=True)
class Activity:
    """The latest step of one decision; plain data, fit for another process."""

    bot: str
    event_id: str
    state: State
    step: int = 0
    """Its number in the trace; 0 without a step."""
    text: str = ""
    """A description; untrusted text."""
    cost_usd: float | None = 0.0
    """The step's cost; None where that is unknown."""

    @property
    def begins(self) -> bool:
        """Return whether the decision begins."""
        return self.state == "running" and self.step == 0


Watch = Callable[[Activity], None]
"""Hears of activities, from many threads; must be quick and never raise."""


def ignore_progress(_: object, /) -> None:
    """Ignore an activity or progress."""


def activity_of_step(bot: str, event_id: str, number: int, step: Step) -> Activity:
    """Return a step of a trace as an activity."""
    cost: float | None = 0.0
    text = step.kind.replace("_", " ")
    match step:
        case ModelStep():
            cost, text = step.reply.cost.usd, "thinks"
        case ModelFailedStep():
            cost = None if step.worst.usd else 0.0
        case SearchStep():
            cost, text = step.cost_usd, f"searched {step.query}"
        case ToolPaidStep():
            cost, text = step.cost_usd, f"paid for {step.name}"
        case PageVisitedStep():
            text = f"read {step.title or step.url}"
        case ToolStep():
            text = f"called {step.name}"
    return Activity(bot, event_id, "running", number, text[:200], cost)
