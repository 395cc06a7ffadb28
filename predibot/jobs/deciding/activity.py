"""What steps of a trace tell: what a bot does at this moment, for those who watch, and what it looked up."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from predibot.domain.clock import parse_instant
from predibot.domain.decision import Source, Status
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


SANDBOX_HOST = "http://sandbox.invalid"


def sources_of(steps: Iterable[Step], *, loopback: str | None = None) -> tuple[Source, ...]:
    """Return the searches and pages of a trace, each page once, in order; `loopback` is stored as `SANDBOX_HOST`."""
    found: dict[tuple[str, str], Source] = {}
    for step in steps:
        if isinstance(step, SearchStep):
            source = Source("search", step.query, results=len(step.results))
        elif isinstance(step, PageVisitedStep):
            source = Source(
                "page",
                replace_loopback(step.url, loopback),
                final_url=replace_loopback(step.final_url, loopback),
                sha256=step.sha256,
                title=step.title or "",
                published_at=_parse_or_none(step.published),
            )
        else:
            continue
        found.setdefault((source.kind, source.text), source)
    return tuple(found.values())


def replace_loopback(text: str, loopback: str | None) -> str:
    """Return a text with `SANDBOX_HOST` in place of a sandbox's address."""
    return text.replace(loopback, SANDBOX_HOST) if loopback else text


def _parse_or_none(text: str | None) -> datetime | None:
    try:
        return parse_instant(text) if text else None
    except ValueError:
        return None
