"""Watching: what each bot is doing at this moment, for who looks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from predibot.domain.decision import Status

State = Literal["running", "skipped"] | Status


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


class Watch(Protocol):
    """Somebody who looks on; called from many threads."""

    def __call__(self, activity: Activity, /) -> None:
        """Take note; must be quick and never raise."""
        ...


def unwatched(activity: Activity, /) -> None:
    """Take no note: nobody looks."""


def of_step(bot: str, event_id: str, step: Mapping[str, Any]) -> Activity:
    """Return what a step of a trace says about what a bot is doing."""
    kind = str(step["kind"])
    cost: float | None = 0.0
    text = kind.replace("_", " ")
    if kind == "model":
        cost, text = step["cost"]["usd"], "thinks"
    elif kind == "model_failed":
        cost = None if step["worst"]["usd"] else 0.0
    elif kind == "search":
        cost, text = step["cost_usd"], f"searched {step['query']}"
    elif kind == "tool_paid":
        cost, text = step["cost_usd"], f"paid for {step['name']}"
    elif kind == "page_visited":
        text = f"read {step['title'] or step['url']}"
    elif kind == "tool":
        text = f"called {step['name']}"
    return Activity(bot, event_id, "running", int(step["step"]), text[:200], cost)
