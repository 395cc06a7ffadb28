"""A pool of daemon threads behind the standard interface of executors.

Threads of the standard pool are joined when the program ends, so one that hangs keeps Ctrl-C waiting. Daemon threads do
not hold up the end of the program.
"""

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from contextvars import copy_context
from typing import Any, ParamSpec, TypeVar

from predibot.net.deadline import CallThread

P = ParamSpec("P")
T = TypeVar("T")

_Call = tuple[Future[Any], Callable[[], Any]]


def calls_go_on(seconds: float) -> bool:
    """Return whether abandoned calls still run, after waiting `seconds` for them to end by themselves."""
    calls = [thread for thread in threading.enumerate() if isinstance(thread, CallThread)]
    until = time.monotonic() + seconds
    for thread in calls:
        thread.join(max(0.0, until - time.monotonic()))
    return any(thread.is_alive() for thread in calls)


class DaemonThreadExecutor(Executor):
    """A pool of daemon threads, which the end of the program does not wait for."""

    def __init__(self, max_workers: int) -> None:
        """Make a pool of at most this many threads, each started when needed."""
        self._max_workers = max_workers
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._threads = 0
        self._closed = False
        self._lock = threading.Lock()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Return the future of a call that a thread will make."""
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("this executor was shut down")
            # So that logs of the thread name the same run and bot.
            context = copy_context()
            self._calls.put((future, lambda: context.run(fn, *args, **kwargs)))
            self._grow()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more calls; running ones go on, and nobody waits for them."""
        with self._lock:
            self._closed = True
            if cancel_futures:
                self._cancel_waiting()
            for _ in range(self._threads):
                self._calls.put(None)

    def _cancel_waiting(self) -> None:
        # A thread may take the last call at any moment, so that nothing may be waited for here.
        with suppress(queue.Empty):
            while True:
                call = self._calls.get_nowait()
                if call is not None:
                    call[0].cancel()

    def _grow(self) -> None:
        if self._threads < self._max_workers:
            self._threads += 1
            CallThread(self._work, f"predibot-{self._threads}").start()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            _run(*call)


def _run(future: Future[Any], function: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except BaseException as error:  # noqa: BLE001 - the caller that waits for the future gets it, whatever it is
        future.set_exception(error)
    else:
        future.set_result(result)
