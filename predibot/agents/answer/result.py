"""How talking to a model ends: with a decision that holds, or with the reason why there is none."""

from dataclasses import dataclass

from predibot.domain.decision import Decision, ReasonKind
from predibot.errors import BudgetSpent

MAX_REASON_CHARACTERS = 500
MAX_REPAIRS = 3
"""How often an answer may be handed in again after a complaint."""


class LoopEnded(Exception):
    """Leaves the talk with a model without a decision; the text says why."""

    def __init__(self, reason: str, kind: ReasonKind = "answer") -> None:
        """Keep the reason and its kind."""
        super().__init__(reason)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class LoopResult:
    """How talking to a model ended."""

    decision: Decision | None
    reason: str = ""
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Addresses that the model says it read by itself."""
    kind: ReasonKind = "answer"
    """Of the reason: without more a failure, since no answer of the model could be taken."""

    @classmethod
    def of(cls, ended: LoopEnded | BudgetSpent, more: str = "") -> "LoopResult":
        """Return that there is no decision, and why."""
        if isinstance(ended, BudgetSpent):
            return cls(None, f"{ended}; nothing was handed in{more}"[:MAX_REASON_CHARACTERS], kind="budget")
        return cls(None, f"{ended}"[:MAX_REASON_CHARACTERS], kind=ended.kind)
