"""Pools: executors whose calls run in threads, in processes of their own, or in a cluster."""

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from itertools import count
from typing import Any

from predibot.errors import LedgerError, PredibotError
from predibot.jobs.daemon_threads import DaemonThreadExecutor
from predibot.jobs.deciding.worker import Worker
from predibot.ledger.write.spending import book_reservations

_log = logging.getLogger(__name__)


class LostProcess(Exception):
    """The process that had begun a call is gone, or was ended because it hung."""

    def __init__(self, message: str, *, seconds: float, owner: str, is_final: bool = False) -> None:
        """Say how the process of a call ended, how long the call ran, and under which name the process claimed.

        It is final where several processes ended over the call already.
        """
        super().__init__(message)
        self.seconds, self.owner, self.is_final = seconds, owner, is_final


class PoolCall(Future[Any]):
    """A call handed to another process; its exception is a `LostProcess` where that process is gone."""

    def __init__(self, number: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Take a module's function, and arguments of plain data."""
        super().__init__()
        self.number, self.function, self.arguments = number, function, arguments
        self.began: float | None = None
        """By the monotonic clock; None while it waits."""
        self.owner = ""
        """The name under which its process claims decisions."""


class Pool(Executor):
    """An executor whose calls get the `Worker` of the process they run in as one more argument.

    Whoever waits for calls calls `look` now and then, and `end` for a call that is late.
    """

    grace_seconds = 0.0
    """So much after its deadline, a process must have given up a late call itself."""
    has_lost = False
    """Whether a call may have run twice, because a process ended before its result arrived."""

    def __init__(self, worker: Worker) -> None:
        """Take what this process works with."""
        self._worker = worker
        self._lock = threading.RLock()
        self._numbers = count(1)
        self._other_owners: dict[str, None] = {}
        """Names under which other processes ever claimed for this one."""
        self._broken: PredibotError | None = None
        """Why no more calls can be made."""
        self._closed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Return the future of a call, to whose arguments the worker is added where it runs."""
        raise NotImplementedError

    def calls(self) -> Sequence[PoolCall]:
        """Return the calls that other processes have."""
        return ()

    def look(self) -> None:
        """Replace processes that are gone; raise a `PredibotError` if no more calls can be made."""
        if self._broken is not None:
            raise self._broken

    def end(self, call: PoolCall) -> None:
        """End the process that hangs in a call, if it still does."""

    def owners(self) -> Sequence[str]:
        """Return the names of all processes that claimed; their claims are given back on an interrupt."""
        return (self._worker.claimant.owner, *self._other_owners)

    def _book_lost(self, holder: str, what: str) -> bool:
        """Book what a lost process had reserved, at its worst case: nobody knows how its calls ended.

        Return whether it is booked; otherwise it stays reserved until the end of this `decide`.
        """
        try:
            usd = self._worker.store.run_write(partial(book_reservations, owner=holder), durable=True)
        except LedgerError as error:
            _log.warning("could not book what a %s that ended had under way: %s", what, error)
            return False
        if usd:
            _log.warning("a %s ended while calls were under way: $%.6f booked for them, their worst case", what, usd)
        return True


class ThreadPool(Pool):
    """Daemon threads of this process."""

    def __init__(self, worker: Worker) -> None:
        """Make as many threads as the settings say."""
        super().__init__(worker)
        self._threads = DaemonThreadExecutor(worker.settings.workers)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Return the future of a call."""
        return self._threads.submit(fn, *args, self._worker, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls; nobody waits for those that run."""
        self._threads.shutdown(cancel_futures=cancel_futures)
