"""Processes in which slots are played: one that is slow, killed or out of memory leaves the service as it is."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import connection as pipes
from multiprocessing import get_context, parent_process
from typing import Any

from predibot.errors import PredibotError

_log = logging.getLogger(__name__)

_REFUSED, _BROKEN = 1, 70
"""The exit codes where predibot has words for what was wrong, which it said, and where it has none."""


class Child:
    """A process that does one thing, and then ends."""

    def __init__(self, set_up: Callable[[], object], work: Callable[..., object], *arguments: Any) -> None:
        """Start it.

        Args:
            set_up: What is done in the process first, such as saying where logs go; from a module, as the next one.
            work: What is to be done.
            *arguments: With what: plain data.
        """
        process = get_context("spawn").Process(target=_do, args=(set_up, work, arguments))
        process.start()
        self._process = process

    @property
    def sentinel(self) -> int:
        """Return what becomes ready when it ends."""
        return self._process.sentinel

    def ended(self) -> str | None:
        """Return how it ended, nothing where it ended well; None while it goes on."""
        code = self._process.exitcode
        if code is None:
            return None
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with exit code {code}" if code else ""

    def stop(self) -> None:
        """Ask it to give back what is under way, and end."""
        self._process.terminate()

    def kill(self) -> None:
        """End it where it stands."""
        self._process.kill()


def _do(set_up: Callable[[], object], work: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    # Ctrl-C reaches every process of the terminal; the service decides what follows.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    threading.Thread(target=_end_with_parent, name="predibot-parent", daemon=True).start()
    code = _BROKEN
    try:
        set_up()
        work(*arguments)
        code = 0
    except PredibotError as error:
        code = _REFUSED
        _log.warning("%s", error)
    except KeyboardInterrupt:
        code = 128 + signal.SIGTERM
    finally:
        if code == _BROKEN:
            _log.error("a mistake of predibot's own", exc_info=True)
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        # Threads that hang must not keep the process.
        os._exit(code)


def _end_with_parent() -> None:
    """End this process as by a signal once the service is gone, whatever ended that."""
    parent = parent_process()
    if parent is not None:
        pipes.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)
