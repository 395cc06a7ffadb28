"""Reading many price histories at once, each kept as it arrives; `track` and `record` both do."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import as_completed, wait
from dataclasses import dataclass
from typing import Generic, TypeVar

from predibot.contracts import Progress, ProgressListener
from predibot.errors import VenueError
from predibot.jobs.daemon_threads import DaemonThreadExecutor

MAX_FAILURES_IN_A_ROW = 5
"""After so many the venue is taken to be out of reach, and nobody waits for the rest."""

_SHOWN = 3

_History = TypeVar("_History")


@dataclass(frozen=True, slots=True)
class Reading(Generic[_History]):
    """One history that is to be read."""

    id: str
    """Of its instrument, for complaints."""
    read: Callable[[], _History]
    keep: Callable[[_History], int]
    """Stores it, and returns how many of its points are new."""


def read_histories(
    readings: Iterable[Reading[_History]], stage: str, workers: int, listener: ProgressListener
) -> tuple[int, list[str]]:
    """Read so many histories at once, keep each as it arrives, and return how many points were new and what failed."""
    executor = DaemonThreadExecutor(workers)
    under_way = {executor.submit(each.read): each for each in readings}
    new, failures, in_a_row = 0, list[str](), 0
    try:
        for done, future in enumerate(as_completed(under_way), start=1):
            listener(Progress(stage, done, len(under_way), "price histories"))
            error = future.exception()
            if error is None:
                in_a_row = 0
                new += under_way[future].keep(future.result())
            elif isinstance(error, VenueError):
                in_a_row += 1
                failures.append(f"prices of {under_way[future].id} could not be read: {error}")
            else:
                raise error
            if in_a_row >= MAX_FAILURES_IN_A_ROW:
                failures.append(f"{len(under_way) - done} more price histories were not asked for")
                executor.shutdown(cancel_futures=True)
                # Those under way end at their deadline; their connections are to be closed after them.
                wait([future for future in under_way if not future.cancelled()])
                break
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
    return new, failures


def shortened(failures: Sequence[str]) -> list[str]:
    """Return the first failures, and how many more there are."""
    left = len(failures) - _SHOWN
    return [*failures[:_SHOWN], *([f"{left} more could not be read"] if left > 0 else [])]
