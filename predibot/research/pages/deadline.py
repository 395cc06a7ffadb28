"""A deadline: one instant of a monotonic clock that a whole piece of work must not pass."""

from collections.abc import Callable
from dataclasses import dataclass

from predibot.research.pages.errors import PageUnavailable


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a piece of work must be done."""

    seconds: float
    """What it was given as a whole."""
    at: float
    """On the clock below."""
    monotonic: Callable[[], float]

    @classmethod
    def after(cls, seconds: float, monotonic: Callable[[], float]) -> "Deadline":
        """Return the deadline that many seconds from now."""
        return cls(seconds, monotonic() + seconds, monotonic)

    def left_seconds(self) -> float:
        """Return what is left, more than zero.

        Raises:
            PageUnavailable: If nothing is left.
        """
        left = self.at - self.monotonic()
        if left <= 0.0:
            raise self.passed()
        return left

    def passed(self) -> PageUnavailable:
        """Return the complaint that nothing is left."""
        return PageUnavailable(f"the page was not there after {self.seconds:g} s; try another source")
