"""Heartbeats: signs of life, so that nobody takes over what a process of the ledger is at."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from predibot.errors import LedgerError

_log = logging.getLogger(__name__)
_BEATS_A_LEASE = 3


@contextmanager
def heartbeat(lease: timedelta, beat: Callable[[], None], failure: str = "could not renew claims") -> Iterator[None]:
    """Give a sign of life three times in the length of a lease during the block; the lease then runs out by itself.

    Two more beats follow before a lease ends; a ledger that is gone shows in the work itself. `failure` is logged where
    the ledger keeps it from a beat.
    """
    stopped = threading.Event()

    def keep_beating() -> None:
        while not stopped.wait(lease.total_seconds() / _BEATS_A_LEASE):
            try:
                beat()
            except LedgerError as error:
                # The block may have ended meanwhile, and closed the ledger.
                if not stopped.is_set():
                    _log.warning("%s: %s", failure, error)

    threading.Thread(target=keep_beating, name="predibot-heartbeat", daemon=True).start()
    try:
        yield
    finally:
        stopped.set()
