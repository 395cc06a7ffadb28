"""The executor: where all concurrency lives, behind the standard interface.

Threads of the standard pool are joined when the program ends, so one that hangs
keeps Ctrl-C waiting. These are daemons: the program ends without them.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_Call = tuple[Future[Any], Callable[[], Any]]


class DaemonThreadExecutor(Executor):
    """A pool of daemon threads, in which a thread that hangs can be left behind."""

    def __init__(self, max_workers: int) -> None:
        """Make a pool of at most this many threads, which start when they are needed."""
        self._max_workers = max_workers
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._threads = 0
        self._closed = False
        self._lock = threading.Lock()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Return the future of a call that some thread will make."""
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("this executor was shut down")
            self._calls.put((future, lambda: fn(*args, **kwargs)))
            self._grow()
        return future

    def abandon_one(self) -> None:
        """Start another thread in the place of one that hangs."""
        with self._lock:
            self._max_workers += 1
            self._grow()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls; running ones go on, and nobody waits for them."""
        with self._lock:
            self._closed = True
            if cancel_futures:
                self._cancel_waiting()
            for _ in range(self._threads):
                self._calls.put(None)

    def _grow(self) -> None:
        if self._threads < self._max_workers:
            self._threads += 1
            threading.Thread(target=self._work, name=f"predibot-{self._threads}", daemon=True).start()

    def _cancel_waiting(self) -> None:
        while not self._calls.empty():
            call = self._calls.get()
            if call is not None:
                call[0].cancel()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            _run(*call)


def _run(future: Future[Any], function: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except BaseException as error:  # noqa: BLE001 - whoever waits for the future gets it, whatever it is
        future.set_exception(error)
    else:
        future.set_result(result)
