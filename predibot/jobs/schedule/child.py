"""Child processes that play slots: one that is slow, killed or out of memory does not harm the service."""

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

_EXPECTED_ERROR, _BUG = 1, 70
"""The exit codes of errors that predibot explains, and of its own mistakes."""


class Child:
    """A process that makes one call, and then ends."""

    def __init__(self, set_up: Callable[[], object], work: Callable[..., object], *arguments: Any) -> None:
        """Start a process that calls `set_up`, then `work`: functions of modules, and arguments of plain data."""
        self._process = get_context("spawn").Process(target=_run, args=(set_up, work, arguments))
        self._process.start()

    @property
    def sentinel(self) -> int:
        """Return the handle that becomes ready when it ends."""
        return self._process.sentinel

    def exit_reason(self) -> str | None:
        """Return how it ended, empty if it ended well; None while it runs."""
        code = self._process.exitcode
        if code is None:
            return None
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with exit code {code}" if code else ""

    def stop(self) -> None:
        """Ask it to give back its claims, and end."""
        self._process.terminate()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()


def _run(set_up: Callable[[], object], work: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    # Ctrl-C reaches every process of the terminal; the service decides what follows.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    threading.Thread(target=_end_with_parent, name="predibot-parent", daemon=True).start()
    code = _BUG
    try:
        set_up()
        work(*arguments)
        code = 0
    except PredibotError as error:
        code = _EXPECTED_ERROR
        _log.warning("%s", error)
    except KeyboardInterrupt:
        code = 128 + signal.SIGTERM
    finally:
        if code == _BUG:
            _log.error("a mistake of predibot's own", exc_info=True)
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        # Threads that hang must not keep the process.
        os._exit(code)


def _end_with_parent() -> None:
    """Send this process SIGTERM once the service is gone, however that ended."""
    parent = parent_process()
    if parent is not None:
        pipes.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)
