"""Rates: how fast a venue lets itself be asked."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.errors import VenueUnavailable
from predibot.net.rate_limit import RateLimiter
from tests.venues.payloads import Clock


def limiter_of(clock: Clock, **requests_per_window: float) -> RateLimiter:
    """Return a limiter of `https://host/<name>`."""
    rates = {f"https://host/{name}": count for name, count in requests_per_window.items()}
    return RateLimiter(rates, monotonic=clock.monotonic, sleep=clock.sleep)


@given(limit=st.integers(4, 40), pauses=st.lists(st.floats(0.0, 3.0), min_size=60, max_size=120))
def test_no_window_of_ten_seconds_holds_more_requests_than_the_venue_allows(limit: int, pauses: list[float]) -> None:
    clock, sent = Clock(), []
    limiter = limiter_of(clock, events=limit)
    for pause in pauses:
        clock.seconds += pause
        limiter.wait("https://host/events", until=float("inf"))
        sent.append(clock.seconds)
    for start in sent:
        assert sum(start <= at < start + 10.0 - 1e-6 for at in sent) <= limit


def test_a_request_below_a_prefix_counts_for_it_and_slows_no_other_family_of_the_host() -> None:
    clock = Clock()
    limiter = limiter_of(clock, events=4, **{"prices": 4_000, "prices-history": 4})
    for _ in range(5):
        limiter.wait("https://host/prices", until=100.0)
    slow = limiter_of(clock, **{"prices": 4, "prices-history": 4_000})
    for _ in range(5):
        slow.wait("https://host/prices-history", until=100.0)
    assert clock.slept == []
    for _ in range(3):
        limiter.wait("https://host/events/7", until=100.0)
    assert clock.seconds == pytest.approx(2 / 0.3)


def test_a_turn_after_the_deadline_is_refused_and_takes_nothing() -> None:
    clock = Clock()
    limiter = limiter_of(clock, events=4)
    limiter.wait("https://host/events", until=1.0)
    for _ in range(3):
        with pytest.raises(VenueUnavailable, match="fewer workers"):
            limiter.wait("https://host/events", until=1.0)
    limiter.wait("https://host/events", until=5.0)
    assert clock.seconds == pytest.approx(1 / 0.3)


def test_threads_together_keep_the_rate() -> None:
    clock = Clock()
    waits: list[float] = []
    limiter = RateLimiter({"https://host": 40.0}, monotonic=clock.monotonic, sleep=waits.append)
    threads = [threading.Thread(target=limiter.wait, args=("https://host",), kwargs={"until": 99.0}) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(waits) == pytest.approx([count / 3.0 for count in range(1, 11)])
