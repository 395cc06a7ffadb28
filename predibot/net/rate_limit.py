"""Rate limits: how many requests a venue gets in a window, by token buckets."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass

from predibot.contracts import Bucket, Paces
from predibot.errors import VenueUnavailable

BURST_SHARE = 0.25
"""The share of a window's requests that may go out at once; the others are spread, so that no window overflows."""


@dataclass(eq=False)
class RateLimiter:
    """A bucket for each address prefix; a request takes a token from every bucket whose prefix it has.

    Thread-safe. A bucket may go into debt: each caller waits for its own token, so requests go out in order.
    """

    requests_per_window: Mapping[str, float]
    """By address without query, such as `https://host` or `https://host/events`; a prefix ends at a slash."""
    _: KW_ONLY
    window_seconds: float = 10.0
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]
    paces: Paces | None = None
    """Shared with other processes."""

    def __post_init__(self) -> None:
        """Make full buckets."""
        self._lock = threading.Lock()
        self._buckets = {
            prefix: Bucket(max(1.0, BURST_SHARE * count), (1.0 - BURST_SHARE) * count / self.window_seconds)
            for prefix, count in self.requests_per_window.items()
        }
        self._tokens = {prefix: bucket.capacity for prefix, bucket in self._buckets.items()}
        self._filled_at = dict.fromkeys(self._buckets, self.monotonic())

    def wait(self, url: str, *, until: float) -> None:
        """Wait until a request to `url`, without its query, may go out. Raises `VenueUnavailable` if the wait would end
        after `until`, an instant of `monotonic`.
        """
        with self._lock:
            now = self.monotonic()
            prefixes = [prefix for prefix in self._buckets if url == prefix or url.startswith(prefix + "/")]
            for prefix in prefixes:
                self._add_tokens(prefix, now)
            delay_seconds = max(
                ((1.0 - self._tokens[prefix]) / self._buckets[prefix].per_second for prefix in prefixes), default=0.0
            )
            if now + delay_seconds >= until:
                raise VenueUnavailable(
                    f"{url} may be asked again only in {delay_seconds:.0f} s, later than the call's deadline; "
                    "ask with fewer workers"
                )
            for prefix in prefixes:
                self._tokens[prefix] -= 1.0
        # Outside of the lock: asking for the shared pace must not delay other threads.
        if self.paces is not None and prefixes:
            buckets = {prefix: self._buckets[prefix] for prefix in prefixes}
            shared_seconds = self.paces.take(buckets, longest_seconds=until - now)
            if shared_seconds is None:
                raise VenueUnavailable(
                    f"{url} may be asked again only later than the call's deadline, because other processes of this "
                    "ledger ask it too; ask with fewer workers"
                )
            delay_seconds = max(delay_seconds, shared_seconds)
        if delay_seconds > 0.0:
            self.sleep(delay_seconds)

    def _add_tokens(self, prefix: str, now: float) -> None:
        bucket = self._buckets[prefix]
        gained = (now - self._filled_at[prefix]) * bucket.per_second
        self._tokens[prefix] = min(bucket.capacity, self._tokens[prefix] + gained)
        self._filled_at[prefix] = now
