"""Price histories: many are read at once and stored as they arrive, for `track` and `record`."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeVar

from predibot.contracts import Progress, ProgressListener
from predibot.errors import VenueError
from predibot.jobs.daemon_threads import DaemonThreadExecutor

MAX_FAILURES_IN_A_ROW = 5
"""Number of failures after which the venue counts as unreachable, and the rest is not read."""
_KEPT_AT_ONCE, _GATHER_SECONDS = 100, 0.1
_SHOWN = 3

_Key = TypeVar("_Key")
_History = TypeVar("_History")


def read_histories(
    asked: Mapping[_Key, str],
    read: Callable[[_Key], _History],
    keep: Callable[[Sequence[tuple[_Key, _History]]], int],
    stage: str,
    workers: int,
    listener: ProgressListener,
) -> tuple[int, list[str]]:
    """Read many histories at once, store each as it arrives; return the number of new points and the failures.

    `asked` has names for messages; `keep` stores histories that arrived together, and returns how many points are new.
    """
    executor = DaemonThreadExecutor(workers)
    arrived: SimpleQueue[Future[_History]] = SimpleQueue()
    under_way = {executor.submit(partial(read, each)): each for each in asked}
    for future in under_way:
        future.add_done_callback(arrived.put)
    new, done, failures, in_a_row = 0, 0, list[str](), 0
    try:
        while done < len(under_way) and in_a_row < MAX_FAILURES_IN_A_ROW:
            answered = list[tuple[_Key, _History]]()
            # Stored in batches: a transaction costs more than a history.
            for future in _take_arrived(arrived, len(under_way) - done):
                done += 1
                listener(Progress(stage, done, len(under_way), "price histories"))
                error, of = future.exception(), under_way[future]
                if error is None:
                    in_a_row = 0
                    answered.append((of, future.result()))
                elif isinstance(error, VenueError):
                    in_a_row += 1
                    failures.append(f"prices of {asked[of]} could not be read: {error}")
                else:
                    raise error
                if in_a_row >= MAX_FAILURES_IN_A_ROW:
                    break
            new += keep(answered)
        if in_a_row >= MAX_FAILURES_IN_A_ROW:
            failures.append(f"{len(under_way) - done} more price histories were not asked for")
            executor.shutdown(cancel_futures=True)
            # Calls under way end at their deadline; the venue must stay open until then.
            wait([future for future in under_way if not future.cancelled()])
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
    return new, failures


def _take_arrived(futures: SimpleQueue[Future[_History]], most: int) -> list[Future[_History]]:
    """Return at most so many futures: the next one, and those that follow it within a moment."""
    some, ends = [futures.get()], time.monotonic() + _GATHER_SECONDS
    with suppress(Empty):
        while len(some) < min(most, _KEPT_AT_ONCE):
            some.append(futures.get(timeout=max(0.0, ends - time.monotonic())))
    return some


def shorten_failures(failures: Sequence[str]) -> list[str]:
    """Return the first failures and the number of the others."""
    left = len(failures) - _SHOWN
    return [*failures[:_SHOWN], *([f"{left} more could not be read"] if left > 0 else [])]
