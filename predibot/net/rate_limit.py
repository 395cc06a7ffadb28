"""Rates: how fast a venue lets itself be asked, kept by token buckets."""

import threading
from collections.abc import Callable, Mapping

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
    ) -> None:
        """Make full buckets.

        Args:
            requests_per_window: By address without query, such as
                `https://host` or `https://host/events`; a prefix counts up to a
                slash.
            window_seconds: The time the venue counts in.
            monotonic: A clock in seconds that never goes back.
            sleep: Waits that many seconds.
        """
        self._monotonic = monotonic
        self._sleep = sleep
        self._lock = threading.Lock()
        self._capacity = {prefix: max(1.0, BURST_SHARE * count) for prefix, count in requests_per_window.items()}
        self._per_second = {
            prefix: (1.0 - BURST_SHARE) * count / window_seconds for prefix, count in requests_per_window.items()
        }
        self._tokens = dict(self._capacity)
        self._filled_at = dict.fromkeys(self._capacity, monotonic())

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
            prefixes = [prefix for prefix in self._capacity if url == prefix or url.startswith(prefix + "/")]
            for prefix in prefixes:
                self._fill(prefix, now)
            delay_seconds = max(
                ((1.0 - self._tokens[prefix]) / self._per_second[prefix] for prefix in prefixes), default=0.0
            )
            if now + delay_seconds >= until:
                raise VenueUnavailable(
                    f"{url} may be asked again only in {delay_seconds:.0f} s, later than the call's deadline; "
                    "ask with fewer workers"
                )
            for prefix in prefixes:
                self._tokens[prefix] -= 1.0
        if delay_seconds > 0.0:
            self._sleep(delay_seconds)

    def _fill(self, prefix: str, now: float) -> None:
        """Add the tokens that have come since a bucket was last looked at."""
        gained = (now - self._filled_at[prefix]) * self._per_second[prefix]
        self._tokens[prefix] = min(self._capacity[prefix], self._tokens[prefix] + gained)
        self._filled_at[prefix] = now
