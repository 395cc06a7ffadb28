"""Retries: how many, after which waits, and when to give up."""

import logging
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception_type

from predibot.net.failures import LostAnswer, TryAgain

MAX_TRIES = 8
MAX_LOST_TRIES = 3
"""A lost answer may have been paid for."""
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 16.0
WORTH_SAYING_SECONDS = 10.0
_UNITS = (("retry-after-ms", 0.001), ("retry-after", 1.0))

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Tries a call until there is an answer, a refusal, or no time left; thread-safe."""

    tries: int = MAX_TRIES
    """Unless a failure states its own number."""
    lost_tries: int = MAX_LOST_TRIES
    longest_wait_seconds: float = LONGEST_WAIT_SECONDS
    """Unless the other side asks for a wait."""
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    rng: random.Random = field(default_factory=random.Random)

    def call(self, once: Callable[[], T], *, deadline: float, given_up: Callable[[str], Exception]) -> T:
        """Return the first answer, or raise the error that `given_up` makes of the last message.

        `once` makes one try, and raises `TryAgain` if another may help; all tries and waits end by `deadline`, an
        instant of `monotonic`.
        """
        started = self.monotonic()
        failures: list[TryAgain] = []

        def attempt() -> T:
            # A wait may have overrun.
            if failures and self.monotonic() >= deadline:
                raise failures[-1]
            try:
                return once()
            except TryAgain as failure:
                failures.append(failure)
                raise

        retrying = Retrying(
            retry=retry_if_exception_type(TryAgain),
            wait=lambda state: self.wait_seconds(state.attempt_number, _failure(state).wait_seconds),
            stop=lambda state: self._is_last(state, deadline),
            sleep=self.sleep,
            reraise=True,
        )
        try:
            return retrying(attempt)
        except TryAgain as failure:
            tries, seconds = len(failures), self.monotonic() - started
            wait = "" if failure.wait_seconds is None else f", and it asks to wait {failure.wait_seconds:.0f} s"
            times = "try" if tries == 1 else "tries"
            # Short times depend on this machine's load; leaving them out keeps stored messages equal between runs.
            took = f" in {seconds:.0f} s" if seconds >= WORTH_SAYING_SECONDS else ""
            message = f"{failure}; given up after {tries} {times}{took}{wait}. Try again later"
        # Outside of the handler, so that the foreign error is not chained and shown.
        raise given_up(message)

    def wait_seconds(self, tries: int, asked_seconds: float | None) -> float:
        """Return the wait before the next try, counted from 1: the requested one, or about twice as long each time.
        Waits are random, so that callers who failed at the same instant do not all come back at it.
        """
        longest_seconds = min(self.longest_wait_seconds, FIRST_WAIT_SECONDS * 2.0 ** (tries - 1))
        own_seconds = self.rng.uniform(0.5, 1.0) * longest_seconds
        return own_seconds if asked_seconds is None else asked_seconds + 0.2 * own_seconds

    def _is_last(self, state: RetryCallState, deadline: float) -> bool:
        """Return whether a further try would be one too many or come too late."""
        failure = _failure(state)
        _log.debug("try %d failed: %s", state.attempt_number, failure)
        tries = failure.tries or (self.lost_tries if isinstance(failure, LostAnswer) else self.tries)
        return state.attempt_number >= tries or self.monotonic() + state.upcoming_sleep >= deadline


def _failure(state: RetryCallState) -> TryAgain:
    outcome: Any = state.outcome
    failure: TryAgain = outcome.exception()
    return failure


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the wait that `Retry-After` asks for, in any of its forms, or None.

    `headers` have names in lower case, or ignore case. `now` counts if the answer has no date of its own.

    Examples:
        >>> retry_after_seconds({"retry-after": "7"}, datetime(2026, 2, 13, tzinfo=UTC))
        7.0
    """
    for name, unit_seconds in _UNITS:
        text = headers.get(name, "").strip()
        if text.isascii() and text.replace(".", "", 1).isdigit():
            return float(text[:12]) * unit_seconds
    at = http_date(headers.get("retry-after", ""))
    if at is None:
        return None
    # Measured by the other side's own clock, if its answer has a date.
    return max(0.0, (at - (http_date(headers.get("date", "")) or now)).total_seconds())


def http_date(text: str) -> datetime | None:
    """Return the UTC instant of an HTTP date, or None."""
    try:
        at = parsedate_to_datetime(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
