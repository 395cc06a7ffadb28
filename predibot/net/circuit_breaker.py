"""Circuit breakers: a provider that fails again and again is left alone for a while."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

FAILURES = 5
REST_SECONDS = 20.0
PROBE_WAIT_SECONDS = 1.0
"""How long other calls wait while one call probes the provider."""


@dataclass(slots=True)
class Breaker:
    """A circuit breaker of one provider; thread-safe.

    A *closed* breaker lets every call through. After several failures in a row it is *open* and lets none through.
    After a rest it is *half-open*: one call may probe the provider, and its result closes or opens the breaker.
    """

    failures: int = FAILURES
    rest_seconds: float = REST_SECONDS
    monotonic: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _in_a_row: int = 0
    _open_until: float | None = None
    _probing: bool = False

    def admit(self) -> float:
        """Let a call through, or return how many seconds later to ask again. A call that got zero must later report
        `record_success`, `record_failure` or `release`.
        """
        with self._lock:
            if self._open_until is None:
                return 0.0
            left_seconds = self._open_until - self.monotonic()
            if left_seconds <= 0.0 and not self._probing:
                self._probing = True
                return 0.0
            return max(left_seconds, PROBE_WAIT_SECONDS)

    def record_success(self) -> None:
        """Note that the provider answered, even with a refusal."""
        with self._lock:
            self._in_a_row = 0
            self._open_until = None
            self._probing = False

    def record_failure(self) -> None:
        """Note that it did not answer."""
        with self._lock:
            self._in_a_row += 1
            self._probing = False
            if self._in_a_row >= self.failures:
                self._open_until = self.monotonic() + self.rest_seconds

    def release(self) -> None:
        """Note that a call ended without telling anything about the provider."""
        with self._lock:
            self._probing = False
