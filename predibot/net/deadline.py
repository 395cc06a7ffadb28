"""Deadlines for calls whose other side may drip its answer."""

import math
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")

GRACE_SECONDS = 0.25
"""Further time for a call that keeps its own deadline, so that it can say why it stops."""
_WAIT_SECONDS = 0.25


class CallThread(threading.Thread):
    """A daemon for calls whose caller may stop waiting."""

    def __init__(self, target: Callable[[], None], name: str) -> None:
        """Make a thread; start it like any other."""
        super().__init__(target=target, name=name, daemon=True)


def start_call(call: Callable[[], T]) -> "Future[T]":
    """Return the future of a call in a thread of its own, a daemon: it ends with its work or with the program."""
    future: Future[T] = Future()

    def fulfil() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - the caller gets it, whatever it is
            future.set_exception(error)

    # The thread logs in the caller's context.
    context = copy_context()
    CallThread(lambda: context.run(fulfil), "predibot-call").start()
    return future


def call_within(call: Callable[[], T], seconds: float) -> T:
    """Return the result of a call, or raise `TimeoutError`. HTTP clients limit the silence between two bytes, not the
    whole time, so a server that drips its headers could hold us.
    """
    return start_call(call).result(timeout=seconds)


def call_in_waits(call: Callable[[], T], seconds: float) -> T:
    """Return the result of a call, or raise `TimeoutError` after short waits of so many seconds together.

    A machine that stands still uses up no more than one of them.
    """
    future = start_call(call)
    for _ in range(math.ceil(seconds / _WAIT_SECONDS)):
        if wait([future], timeout=_WAIT_SECONDS).done:
            break
    return future.result(timeout=0.0)
