"""The heartbeat: a sign of life for every claim this process holds, and for what it has set aside of limits."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Self

from sqlalchemy import Connection

from predibot.errors import LedgerError
from predibot.ledger.store import Store
from predibot.ledger.write.claims import renew
from predibot.ledger.write.spending import renew_reservations

_log = logging.getLogger(__name__)
_BEATS_A_LEASE = 3


class Heartbeat:
    """Renews the leases of an owner until it is left."""

    def __init__(
        self,
        store: Store,
        owner: str,
        lease: timedelta,
        clock: Callable[[], datetime],
        *,
        holder: str | None = None,
    ) -> None:
        """Prepare to renew three times in the length of a lease.

        Args:
            store: The ledger.
            owner: Whose claims they are.
            lease: Its length.
            clock: The instant it is.
            holder: Under whose name amounts are set aside; left out, the owner's. Those of
                the processes that work for it are renewed too.
        """
        self._store = store
        self._owner = owner
        self._holder = holder or owner
        self._lease = lease
        self._clock = clock
        self._stopped = threading.Event()

    def __enter__(self) -> Self:
        """Start beating."""
        threading.Thread(target=self._beat, name="predibot-heartbeat", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop beating; the leases run out by themselves."""
        self._stopped.set()

    def _beat(self) -> None:
        while not self._stopped.wait(self._lease.total_seconds() / _BEATS_A_LEASE):
            try:
                self._store.run_write(self._renew)
            except LedgerError as error:
                # Two more beats follow before a lease ends; a ledger that is gone shows in the work itself.
                _log.warning("could not renew claims: %s", error)

    def _renew(self, connection: Connection) -> None:
        now = self._clock()
        renew(connection, self._owner, lease=self._lease, now=now)
        renew_reservations(connection, self._holder, lease=self._lease, now=now)
