"""Daemon threads: whoever shuts their pool down never waits for a call."""

import sys
from collections.abc import Iterator

import pytest

from predibot.jobs.daemon_threads import DaemonThreadExecutor
from predibot.net.deadline import call_within
from tests.jobs.program import PATIENCE_SECONDS


@pytest.fixture
def _threads_take_turns_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def shut_down_while_calls_are_taken() -> None:
    for _ in range(300):
        executor = DaemonThreadExecutor(4)
        for _ in range(20):
            executor.submit(int)
        executor.shutdown(wait=False, cancel_futures=True)


@pytest.mark.usefixtures("_threads_take_turns_often")
def test_a_call_that_a_thread_takes_at_that_moment_is_not_waited_for() -> None:
    call_within(shut_down_while_calls_are_taken, PATIENCE_SECONDS)
