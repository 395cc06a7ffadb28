"""How talking to a model ends: with a decision that holds, or with the reason why there is none."""

from dataclasses import dataclass

from predibot.domain.decision import Decision, ReasonKind

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
