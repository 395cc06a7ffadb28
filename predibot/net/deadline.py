"""Ending the wait for a call at its deadline, whatever the other side drips."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")

GRACE_SECONDS = 0.25
"""What a call that keeps a deadline of its own is given beyond it to say why it stops."""


class CallThread(threading.Thread):
    """A daemon that makes calls for a caller who may stop waiting for them."""

    def __init__(self, target: Callable[[], None], name: str) -> None:
        """Make one that is started as any thread is."""
        super().__init__(target=target, name=name, daemon=True)


def in_time(call: Callable[[], T], seconds: float) -> T:
    """Return what a call returns, or stop waiting for it.

    HTTP clients limit the silence between two bytes, not the whole: a server
    that drips its headers would hold the caller for minutes. The thread that is
    left behind is a daemon, and ends with the connection or the program.

    Args:
        call: Such as one that asks a server or looks up a name.
        seconds: How long it may take.

    Raises:
        TimeoutError: If it has not returned in time.
    """
    future: Future[T] = Future()

    def fulfil() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - the caller gets it, whatever it is
            future.set_exception(error)

    CallThread(fulfil, "predibot-call").start()
    return future.result(timeout=seconds)
