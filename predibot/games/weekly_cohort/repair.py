"""Repairs: what follows an answer that was refused: it is asked for once more, then the system holds."""

from collections.abc import Sequence

from predibot.domain.decision import Decision

MAX_REPAIRS = 1
SYSTEM_HOLD = "held by the system"
"""With which the note of a HOLD begins that no bot has said."""
_MAX_SHOWN = 2_000


def after_refusals(complaints: Sequence[str]) -> str | Decision:
    """Return what follows refused answers: the words that ask for another one, or the decision to hold.

    Args:
        complaints: Why each answer to one question was refused, the first one first.

    Raises:
        ValueError: If none was refused.

    Examples:
        >>> print(after_refusals(["action is missing; give one of BET, SELL, HOLD."]))
        Your answer was refused: action is missing; give one of BET, SELL, HOLD.
        Hand in the whole answer once more, mended. If it is refused again, you hold.
        >>> is_system_hold(after_refusals(["bets is empty.", "bets is empty."]))
        True
    """
    if not complaints:
        raise ValueError("no answer was refused, so nothing follows")
    last = complaints[-1][:_MAX_SHOWN]
    if len(complaints) <= MAX_REPAIRS:
        return (
            f"Your answer was refused: {last}\n"
            "Hand in the whole answer once more, mended. If it is refused again, you hold."
        )
    return Decision(notes=(f"{SYSTEM_HOLD}, {len(complaints)} answers were refused: {last}",))


def is_system_hold(decision: object) -> bool:
    """Return whether a decision is the system's: no bot said it, and it counts as no answer."""
    return (
        isinstance(decision, Decision)
        and not decision.orders
        and any(note.startswith(SYSTEM_HOLD) for note in decision.notes)
    )
