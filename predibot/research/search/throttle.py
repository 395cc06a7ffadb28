"""The pace of a search provider, shared by a run's agents: a least time between calls, a rest after each failure."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from predibot.contracts import Bucket, Paces
from predibot.research.search.provider import SearchAnswer, SearchFailed, SearchProvider, asked_after

FIRST_REST_SECONDS = 5.0
LONGEST_REST_SECONDS = 300.0


@dataclass
class PacedProvider:
    """A provider that is called at most every so often, and rests longer and longer while it fails; thread-safe. A call
    that comes too early waits for its turn.
    """

    inner: SearchProvider
    seconds_between: float
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]
    paces: Paces | None = None
    """Shared with other processes; without it this process is alone."""
    longest_wait_seconds: float = 30.0
    """A call with a later turn fails at once."""
    _next_at: float = 0.0
    _rests_until: float = 0.0
    _failures: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        """Say of itself what the provider does."""
        inner = self.inner
        self.name, self.dates_results, self.usd_per_call = inner.name, inner.dates_results, inner.usd_per_call
        self.takes_after: bool = getattr(inner, "takes_after", False)

    def search(self, query: str, *, before: datetime | None, count: int, after: datetime | None = None) -> SearchAnswer:
        """Return the provider's answer when its turn has come; raise `SearchFailed` if it fails, rests, or the turn is
        too late.
        """
        wait_seconds = self._take_turn()
        if wait_seconds > 0.0:
            self.sleep(wait_seconds)
        try:
            answer = self.inner.search(query, before=before, count=count, **asked_after(after, self.inner))
        except SearchFailed:
            with self._lock:
                self._failures += 1
                rest_seconds = min(FIRST_REST_SECONDS * 2.0 ** (self._failures - 1), LONGEST_REST_SECONDS)
                self._rests_until = self.monotonic() + rest_seconds
            raise
        with self._lock:
            self._failures = 0
        return answer

    def _take_turn(self) -> float:
        with self._lock:
            now = self.monotonic()
            if now < self._rests_until:
                raise SearchFailed(
                    f"{self.name} rests for {self._rests_until - now:.0f} s after a failure", was_asked=False
                )
            turn_at = max(now, self._next_at)
            if turn_at - now > self.longest_wait_seconds:
                raise SearchFailed(f"{self.name} is asked by too many at once", was_asked=False)
            self._next_at = turn_at + self.seconds_between
        if self.paces is None or self.seconds_between <= 0.0:
            return turn_at - now
        bucket = Bucket(1.0, 1.0 / self.seconds_between)
        shared_seconds = self.paces.take({f"search/{self.name}": bucket}, longest_seconds=self.longest_wait_seconds)
        if shared_seconds is None:
            raise SearchFailed(f"{self.name} is asked by too many at once", was_asked=False)
        return max(turn_at - now, shared_seconds)
