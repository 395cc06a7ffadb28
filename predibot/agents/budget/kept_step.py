"""The kept step: one step of the budget that nothing but the answer may take."""

from typing import Self

from predibot.contracts import KeptReservation, Meter
from predibot.domain.budget import Spending


class KeptStep:
    """Sets a step aside while something else is done, so that a limit in steps leaves one for the answer."""

    def __init__(self, meter: Meter | None) -> None:
        """Set nothing aside yet; without a meter there is nothing to keep."""
        self._meter = meter
        self._kept: KeptReservation | None = None
        self._is_given = False

    def __enter__(self) -> Self:
        """Set the step aside.

        Raises:
            BudgetSpent: If there is none left; the message names the limit.
            ModelUnavailable: If others had set it aside for as long as one could wait.
        """
        if self._meter is not None:
            self._kept = self._meter.keep(Spending(steps=1))
        return self

    def __exit__(self, *_: object) -> None:
        """Give the step back, unless it was used."""
        if self._kept is not None:
            self._kept.release()

    def give_back(self) -> bool:
        """Let the next call have the step, and nobody else; return whether it was still kept."""
        if self._kept is None or self._is_given:
            return False
        self._is_given = True
        self._kept.offer()
        return True
