"""Waiting: what was asked for is honoured, what was not grows, and no two come back together."""

import random
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.errors import VenueUnavailable
from predibot.net.failures import TryAgain
from predibot.net.retry import FIRST_WAIT_SECONDS, RetryPolicy, retry_after_seconds

NOW = datetime(2026, 2, 13, 12, 0, tzinfo=UTC)


def policy_of(seed: int) -> RetryPolicy:
    """Return one whose own waits are at most eight seconds."""
    return RetryPolicy(longest_wait_seconds=8.0, rng=random.Random(seed))


def test_what_failed_is_said_also_where_a_wait_took_longer_than_it_should() -> None:
    seconds, asked = [0.0], []

    def oversleep(wanted: float) -> None:
        seconds[0] += wanted + 60.0

    def once() -> None:
        asked.append(seconds[0])
        raise TryAgain("the server answered 500")

    policy = RetryPolicy(monotonic=lambda: seconds[0], sleep=oversleep)
    with pytest.raises(VenueUnavailable, match=r"answered 500; given up after 1 try in 6\d s"):
        policy.call(once, deadline=30.0, given_up=VenueUnavailable)
    assert asked == [0.0]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=9), usegmt=True)}, 9.0),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=9), usegmt=True)}, 0.0),
        (
            {
                "retry-after": format_datetime(NOW + timedelta(hours=3, seconds=4), usegmt=True),
                "date": format_datetime(NOW + timedelta(hours=3), usegmt=True),
            },
            4.0,
        ),
        ({}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "."}, None),
        ({"retry-after": "Mon, 99 Foo 2026"}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, NOW) == seconds


@given(st.integers(1, 40), st.integers(0, 2**32))
def test_a_wait_of_ones_own_doubles_up_to_the_longest_and_is_never_cut_below_half(tries: int, seed: int) -> None:
    waited = policy_of(seed).wait_seconds(tries, None)
    whole = min(8.0, FIRST_WAIT_SECONDS * 2.0 ** (tries - 1))
    assert 0.5 * whole <= waited <= whole


@given(st.integers(1, 40), st.floats(0.0, 1e6), st.integers(0, 2**32))
def test_nobody_comes_back_before_what_was_asked_for(tries: int, asked_seconds: float, seed: int) -> None:
    waited = policy_of(seed).wait_seconds(tries, asked_seconds)
    assert asked_seconds <= waited <= asked_seconds + 0.2 * 8.0


@pytest.mark.parametrize("asked_seconds", [None, 7.0])
def test_many_who_are_told_the_same_do_not_come_back_together(asked_seconds: float | None) -> None:
    policy = policy_of(1)
    assert len({policy.wait_seconds(3, asked_seconds) for _ in range(50)}) == 50
