"""Locks in a ledger: a task that one process does at a time, such as running the schedules, with signs of life."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Self

from predibot.domain.clock import short_instant
from predibot.errors import UsageError
from predibot.jobs.workers.heartbeat import heartbeat
from predibot.ledger.store import Store
from predibot.ledger.write.process_identity import is_gone, new_owner
from predibot.ledger.write.slots import SERVICE, leave_service, renew_service, take_service

_log = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)


class ServiceLock:
    """A lock with a heartbeat, held while the block lasts."""

    def __init__(self, store: Store, clock: Callable[[], datetime], name: str = SERVICE) -> None:
        """Prepare the lock of a task; left out, that is running the schedules of the ledger."""
        self._store, self._clock, self._name = store, clock, name
        self._owner = new_owner()
        self._heartbeat = heartbeat(LEASE, self._renew, "could not give a sign of life")
        self.is_lost = False
        """Whether another process took the lock because this one gave no sign of life."""

    def __enter__(self) -> Self:
        """Take the lock, and give signs of life; raise `UsageError` if another process holds it."""
        other = self.acquire()
        if other is not None:
            raise UsageError(
                f"the {self._name} of {self._store.address} is run by {other} already. Stop that process first, wait "
                "for its end, or name another --ledger"
            )
        self._heartbeat.__enter__()
        return self

    def acquire(self) -> str | None:
        """Take the lock and return None; if another process holds it, return the name of that process."""
        take = partial(
            take_service, name=self._name, owner=self._owner, lease=LEASE, is_gone=is_gone, now=self._clock()
        )
        try:
            earlier = self._store.run_write(take)
        except LookupError as error:
            return str(error)
        if earlier is not None:
            since = short_instant(earlier.started_at)
            _log.warning(
                "took over the %s from %s, which had it since %s and is gone", self._name, earlier.owner, since
            )
        return None

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        self._heartbeat.__exit__(None, None, None)
        self._store.run_write(partial(leave_service, name=self._name, owner=self._owner))

    def _renew(self) -> None:
        renew = partial(renew_service, name=self._name, owner=self._owner, lease=LEASE, now=self._clock())
        self.is_lost = not self._store.run_write(renew) or self.is_lost
