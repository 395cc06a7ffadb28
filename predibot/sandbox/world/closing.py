"""The closing of a market: when it is decided, proposed, stopped and settled."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from predibot.sandbox.world.calendar import MINUTES_A_DAY, MINUTES_AN_HOUR
from predibot.sandbox.world.draws import Draws
from predibot.sandbox.world.plan import EventPlan

VOID_SHARE = 0.04
"""The share of events whose markets pay one half."""
_DISPUTED_SHARE = 0.05
LONGEST_CLOSING_MINUTES = 12 * MINUTES_A_DAY


class Stage(StrEnum):
    """A stage of a market's life."""

    OPEN = "open"
    PROPOSED = "proposed"
    """Its outcome is known and proposed; it still trades."""
    STOPPED = "stopped"
    """It trades no more and is not paid yet."""
    SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class Closing:
    """The minutes of a market's last stages, and whether it is void, which pays one half."""

    decided_minute: int
    stopped_minute: int
    settled_minute: int
    is_disputed: bool
    is_void: bool

    def stage(self, minute: int) -> Stage:
        """Return the stage at a minute."""
        if minute < self.decided_minute:
            return Stage.OPEN
        if minute < self.stopped_minute:
            return Stage.PROPOSED
        return Stage.STOPPED if minute < self.settled_minute else Stage.SETTLED


def closings_of(draws: Draws, plan: EventPlan) -> tuple[Closing, ...]:
    """Return how each market ends; known at the minute its outcome is. Exclusive markets are void together, others
    alone.
    """
    decided = np.array([[market.decided_hour * MINUTES_AN_HOUR] for market in plan.markets])
    rows = np.arange(len(plan.markets))[:, np.newaxis]
    uniforms = draws.uniform("closing", event=plan.number, item=rows * 8 + np.arange(6), known_at_minute=decided)
    if plan.is_exclusive:
        uniforms[:, 5] = uniforms[0, 5]
    found = []
    for (decided_minute,), row in zip(decided.tolist(), uniforms.tolist(), strict=True):
        lateness, stop, settle, dispute, late_settle, void = row
        is_disputed = dispute < _DISPUTED_SHARE
        stopped_minute = decided_minute + (0 if lateness < 0.5 else int(60 + 240 * stop))
        wait_minutes = (3 + 3 * late_settle) * MINUTES_A_DAY if is_disputed else (2 + 28 * settle) * MINUTES_AN_HOUR
        settled_minute = stopped_minute + int(wait_minutes)
        found.append(Closing(decided_minute, stopped_minute, settled_minute, is_disputed, void < VOID_SHARE))
    return tuple(found)
