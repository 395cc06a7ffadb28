"""Reading many price histories at once, each kept as it arrives; `track` and `record` both do."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

from predibot.contracts import Progress, ProgressListener
from predibot.errors import VenueError
from predibot.jobs.daemon_threads import DaemonThreadExecutor

MAX_FAILURES_IN_A_ROW = 5
"""After so many the venue is taken to be out of reach, and nobody waits for the rest."""
_KEPT_AT_ONCE = 100
_SHOWN = 3

_Asked = TypeVar("_Asked")
_History = TypeVar("_History")


def read_histories(
    asked: Mapping[_Asked, str],
    read: Callable[[_Asked], _History],
    keep: Callable[[Sequence[tuple[_Asked, _History]]], int],
    stage: str,
    workers: int,
    listener: ProgressListener,
) -> tuple[int, list[str]]:
    """Read so many histories at once, keep each as it arrives, and return how many points were new and what failed.

    Args:
        asked: Which are read, each with the name that complaints have for it.
        read: Reads one.
        keep: Stores those that arrived while others were stored, and returns how many of their points are new.
        stage: What the listener is told that is done.
        workers: How many are read at once.
    """
    executor = DaemonThreadExecutor(workers)
    arrived: SimpleQueue[Future[_History]] = SimpleQueue()
    under_way = {executor.submit(partial(read, each)): each for each in asked}
    for future in under_way:
        future.add_done_callback(arrived.put)
    new, done, failures, in_a_row = 0, 0, list[str](), 0
    try:
        while done < len(under_way) and in_a_row < MAX_FAILURES_IN_A_ROW:
            answered = list[tuple[_Asked, _History]]()
            # Those that are there already are stored together: a transaction costs more than a history.
            for future in _arrived(arrived):
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
            # Those under way end at their deadline; their connections are to be closed after them.
            wait([future for future in under_way if not future.cancelled()])
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
    return new, failures


def _arrived(futures: SimpleQueue[Future[_History]]) -> list[Future[_History]]:
    """Return what has arrived, at least one."""
    some = [futures.get()]
    while len(some) < _KEPT_AT_ONCE and not futures.empty():
        some.append(futures.get())
    return some


def shortened(failures: Sequence[str]) -> list[str]:
    """Return the first failures, and how many more there are."""
    left = len(failures) - _SHOWN
    return [*failures[:_SHOWN], *([f"{left} more could not be read"] if left > 0 else [])]
