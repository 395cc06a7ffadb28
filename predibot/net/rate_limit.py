"""Rates: how fast a venue lets itself be asked, kept by token buckets."""

import threading
from collections.abc import Callable, Mapping

from predibot.contracts import Bucket, Paces
from predibot.errors import VenueUnavailable

BURST_SHARE = 0.25
"""Of what a window allows, how much may go out at once; the rest is spread, so that no window is overrun."""


class RateLimiter:
    """Buckets for address prefixes; a request takes a token from each one it falls under.

    Thread-safe. A bucket may go into debt: a caller that takes a token that is not
    there yet waits for its own, so that waiting requests go out in order.
    """

    def __init__(
        self,
        requests_per_window: Mapping[str, float],
        *,
        window_seconds: float = 10.0,
        monotonic: Callable[[], float],
        sleep: Callable[[float], None],
        paces: Paces | None = None,
    ) -> None:
        """Make full buckets.

        Args:
            requests_per_window: By address without query, such as
                `https://host` or `https://host/events`; a prefix counts up to a
                slash.
            window_seconds: The time the venue counts in.
            monotonic: A clock in seconds that never goes back.
            sleep: Waits that many seconds.
            paces: What this process shares with others; left out, it is alone.
        """
        self._paces = paces
        self._monotonic = monotonic
        self._sleep = sleep
        self._lock = threading.Lock()
        self._buckets = {
            prefix: Bucket(max(1.0, BURST_SHARE * count), (1.0 - BURST_SHARE) * count / window_seconds)
            for prefix, count in requests_per_window.items()
        }
        self._tokens = {prefix: bucket.capacity for prefix, bucket in self._buckets.items()}
        self._filled_at = dict.fromkeys(self._buckets, monotonic())

    def wait(self, url: str, *, until: float) -> None:
        """Return when a request may go out.

        Args:
            url: Its address without query.
            until: The instant of `monotonic` it has to go out by.

        Raises:
            VenueUnavailable: If its turn comes only later; no token is taken.
        """
        with self._lock:
            now = self._monotonic()
            prefixes = [prefix for prefix in self._buckets if url == prefix or url.startswith(prefix + "/")]
            for prefix in prefixes:
                self._fill(prefix, now)
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
        # Nobody here is kept waiting by how long it takes to see what others do.
        if self._paces is not None and prefixes:
            buckets = {prefix: self._buckets[prefix] for prefix in prefixes}
            shared_seconds = self._paces.take(buckets, longest_seconds=until - now)
            if shared_seconds is None:
                raise VenueUnavailable(
                    f"{url} may be asked again only later than the call's deadline, because other processes of this "
                    "ledger ask it too; ask with fewer workers"
                )
            delay_seconds = max(delay_seconds, shared_seconds)
        if delay_seconds > 0.0:
            self._sleep(delay_seconds)

    def _fill(self, prefix: str, now: float) -> None:
        """Add the tokens that have come since a bucket was last looked at."""
        bucket = self._buckets[prefix]
        gained = (now - self._filled_at[prefix]) * bucket.per_second
        self._tokens[prefix] = min(bucket.capacity, self._tokens[prefix] + gained)
        self._filled_at[prefix] = now
