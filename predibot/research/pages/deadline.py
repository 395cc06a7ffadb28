"""A deadline: the instant of a monotonic clock when a whole piece of work must be done."""

from collections.abc import Callable
from dataclasses import dataclass

from predibot.research.pages.errors import PageUnavailable


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of a piece of work."""

    seconds: float
    """The time for the whole work."""
    at: float
    monotonic: Callable[[], float]

    @classmethod
    def after(cls, seconds: float, monotonic: Callable[[], float]) -> "Deadline":
        """Return the deadline that many seconds from now."""
        return cls(seconds, monotonic() + seconds, monotonic)

    def left_seconds(self) -> float:
        """Return the time left, more than zero, or raise `PageUnavailable`."""
        left = self.at - self.monotonic()
        if left <= 0.0:
            raise self.timeout_error()
        return left

    def timeout_error(self) -> PageUnavailable:
        """Return the error for a passed deadline."""
        return PageUnavailable(f"the page was not there after {self.seconds:g} s; try another source")
