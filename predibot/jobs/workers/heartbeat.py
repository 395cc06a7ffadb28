"""Heartbeats: signs of life, so that nobody takes over what a process of the ledger is at."""

import logging
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Self

from predibot.errors import LedgerError

_log = logging.getLogger(__name__)
_BEATS_A_LEASE = 3


class Heartbeat:
    """Gives a sign of life three times in the length of a lease, until it is left; the lease then runs out by itself.

    Two more beats follow before a lease ends; a ledger that is gone shows in the work itself.
    """

    def __init__(self, lease: timedelta, beat: Callable[[], None], failure: str = "could not renew claims") -> None:
        """Take what a beat does, and what is logged where the ledger keeps it from it."""
        self._lease, self._once, self._failure = lease, beat, failure
        self._stopped = threading.Event()

    def __enter__(self) -> Self:
        """Start beating."""
        threading.Thread(target=self._beat, name="predibot-heartbeat", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop beating."""
        self._stopped.set()

    def _beat(self) -> None:
        while not self._stopped.wait(self._lease.total_seconds() / _BEATS_A_LEASE):
            try:
                self._once()
            except LedgerError as error:
                _log.warning("%s: %s", self._failure, error)
