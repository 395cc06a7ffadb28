"""A deadline: one instant of a monotonic clock that a whole piece of work must not pass."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

from predibot.research.pages.errors import PageUnavailable

T = TypeVar("T")


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


def in_time(call: Callable[[], T], seconds: float) -> T:
    """Return what a call returns, or stop waiting for it.

    For what cannot be interrupted, such as a name look-up. The thread that is left behind is a daemon and ends with the
    call or the program.

    Raises:
        TimeoutError: If it has not returned in time.
    """
    future: Future[T] = Future()

    def fulfil() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - the caller gets it, whatever it is
            future.set_exception(error)

    threading.Thread(target=fulfil, name="predibot-page", daemon=True).start()
    return future.result(timeout=seconds)
