"""The kept step: one step of the budget that nothing but the answer may take."""

from typing import Self

from predibot.contracts import Meter, Reservation
from predibot.domain.budget import Spending


class KeptStep:
    """Sets a step aside while something else is done, so that a limit in steps leaves one for the answer."""

    def __init__(self, meter: Meter | None) -> None:
        """Set nothing aside yet; without a meter there is nothing to keep."""
        self._meter = meter
        self._reservation: Reservation | None = None

    def __enter__(self) -> Self:
        """Set the step aside.

        Raises:
            BudgetSpent: If there is none left; the message names the limit.
        """
        if self._meter is not None:
            self._reservation = self._meter.reserve(Spending(steps=1))
        return self

    def __exit__(self, *_: object) -> None:
        """Give the step back."""
        self.give_back()

    def give_back(self) -> bool:
        """Make the step free for whoever asks next; return whether it was still kept."""
        kept, self._reservation = self._reservation, None
        if kept is not None:
            kept.settle(Spending())
        return kept is not None
