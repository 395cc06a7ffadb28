"""Watching: what each bot is doing at this moment, for who looks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from predibot.domain.decision import Status
from predibot.domain.trace import ModelFailedStep, ModelStep, PageVisitedStep, SearchStep, Step, ToolPaidStep, ToolStep

State = Literal["running", "skipped"] | Status
StepListener = Callable[[int, Step], None]
"""Told of each step of a trace, by its number there."""


@dataclass(frozen=True, slots=True)
class Activity:
    """What just happened to one decision; plain data, fit for another process."""

    bot: str
    event_id: str
    state: State
    step: int = 0
    """Of its trace; 0 where there is none."""
    text: str = ""
    """What it does; untrusted text."""
    cost_usd: float | None = 0.0
    """What this step cost; None where that is unknown."""

    @property
    def begins(self) -> bool:
        """Return whether it is the first of a decision."""
        return self.state == "running" and self.step == 0


class Watch(Protocol):
    """Somebody who looks on; called from many threads."""

    def __call__(self, activity: Activity, /) -> None:
        """Take note; must be quick and never raise."""
        ...


def unwatched(_: object, /) -> None:
    """Take no note of an activity or of progress: nobody looks."""


def of_step(bot: str, event_id: str, number: int, step: Step) -> Activity:
    """Return what a step of a trace, by its number there, says about what a bot is doing."""
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
