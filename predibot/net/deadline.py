"""Ending the wait for a call at its deadline, whatever the other side drips."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")

GRACE_SECONDS = 0.25
"""What a call that keeps a deadline of its own is given beyond it to say why it stops."""


class CallThread(threading.Thread):
    """A daemon that makes calls for a caller who may stop waiting for them."""

    def __init__(self, target: Callable[[], None], name: str) -> None:
        """Make one that is started as any thread is."""
        super().__init__(target=target, name=name, daemon=True)


def started(call: Callable[[], T]) -> "Future[T]":
    """Return the future of a call that has a thread of its own.

    Who stops waiting for it leaves a daemon behind, which ends with its work or the program.
    """
    future: Future[T] = Future()

    def fulfil() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - the caller gets it, whatever it is
            future.set_exception(error)

    # What is logged there is about the same as here.
    context = copy_context()
    CallThread(lambda: context.run(fulfil), "predibot-call").start()
    return future


def in_time(call: Callable[[], T], seconds: float) -> T:
    """Return what a call returns, or stop waiting for it.

    HTTP clients limit the silence between two bytes, not the whole: a server
    that drips its headers would hold the caller for minutes.

    Args:
        call: Such as one that asks a server or looks up a name.
        seconds: How long it may take.

    Raises:
        TimeoutError: If it has not returned in time.
    """
    return started(call).result(timeout=seconds)
