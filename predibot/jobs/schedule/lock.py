"""Locks: what one process of a ledger does at a time, such as to run its schedules, while it gives signs of life."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Self

from predibot.domain.clock import format_instant
from predibot.errors import UsageError
from predibot.jobs.workers.heartbeat import Heartbeat
from predibot.ledger.store import Store
from predibot.ledger.write.process_identity import is_gone, new_owner
from predibot.ledger.write.slots import SERVICE, leave_service, renew_service, take_service

_log = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)


class ServiceLock:
    """A lock with a heartbeat: the right to do something for as long as the block lasts."""

    def __init__(self, store: Store, clock: Callable[[], datetime], name: str = SERVICE) -> None:
        """Prepare to take it.

        Args:
            store: The ledger.
            clock: The instant it is.
            name: What nobody else does meanwhile; left out, to run the schedules of the ledger.
        """
        self._store, self._clock, self._name = store, clock, name
        self._owner = new_owner()
        self._heartbeat = Heartbeat(LEASE, self._renew, "could not give a sign of life")
        self.lost = False
        """Whether another process took it, because this one gave no sign of life."""

    def __enter__(self) -> Self:
        """Take it, and give signs of life.

        Raises:
            UsageError: If another process has it.
        """
        other = self.taken_by()
        if other is not None:
            raise UsageError(
                f"the {self._name} of {self._store.address} is run by {other} already. Stop that process first, wait "
                "for its end, or name another --ledger"
            )
        self._heartbeat.__enter__()
        return self

    def taken_by(self) -> str | None:
        """Take it, and return None; where another process has it, return that one's name."""
        take = partial(
            take_service, name=self._name, owner=self._owner, lease=LEASE, is_gone=is_gone, now=self._clock()
        )
        try:
            before = self._store.run_write(take)
        except LookupError as error:
            return str(error)
        if before is not None:
            since = format_instant(before.started_at)
            _log.warning("took over the %s from %s, which had it since %s and is gone", self._name, before.owner, since)
        return None

    def __exit__(self, *_: object) -> None:
        """Leave it to others."""
        self._heartbeat.__exit__()
        self._store.run_write(partial(leave_service, name=self._name, owner=self._owner))

    def _renew(self) -> None:
        renewed = partial(renew_service, name=self._name, owner=self._owner, lease=LEASE, now=self._clock())
        self.lost = not self._store.run_write(renewed) or self.lost
