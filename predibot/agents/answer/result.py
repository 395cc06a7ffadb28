"""How a talk with a model ends: with a valid decision, or with the reason for none."""

from dataclasses import dataclass

from predibot.domain.decision import Decision, ReasonKind
from predibot.errors import BudgetSpent

MAX_REASON_CHARACTERS = 500
MAX_REPAIRS = 3
"""How often a model may answer again after a complaint."""


class LoopEnd(Exception):
    """Ends the talk with a model without a decision; the message is the reason."""

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
    """Web addresses that the model says it read by itself."""
    kind: ReasonKind = "answer"

    @classmethod
    def of(cls, ended: LoopEnd | BudgetSpent, more: str = "") -> "LoopResult":
        """Return a result without a decision."""
        if isinstance(ended, BudgetSpent):
            return cls(None, f"{ended}; nothing was handed in{more}"[:MAX_REASON_CHARACTERS], kind="budget")
        return cls(None, f"{ended}"[:MAX_REASON_CHARACTERS], kind=ended.kind)
