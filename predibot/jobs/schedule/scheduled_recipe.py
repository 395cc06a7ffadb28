"""A recipe with a schedule: its slots, the lock of one, and the play of one, whose row says how it ended."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Self

from predibot.contracts import Past
from predibot.domain.clock import floor_to, short_instant
from predibot.domain.schedule import Schedule
from predibot.errors import UsageError
from predibot.jobs.workers.heartbeat import heartbeat
from predibot.ledger.schema.tables import SlotRow
from predibot.ledger.store import Store
from predibot.ledger.write.process_identity import is_gone, new_owner
from predibot.ledger.write.runs import read_runs
from predibot.ledger.write.slots import (
    SERVICE,
    SlotResult,
    begin_slot,
    change_schedule,
    end_slot,
    leave_service,
    lock_of_slot,
    read_slot,
    read_slots,
    renew_service,
    take_service,
)

if TYPE_CHECKING:
    from predibot.jobs.deciding.open_run import RunRequest

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


_log = logging.getLogger(__name__)

RETRY_PAUSE = timedelta(minutes=30)
"""Before a slot that failed, in whole or in part, is tried again."""
MINUTE = timedelta(minutes=1)

PlaySlot = Callable[["ScheduledRecipe", datetime], SlotResult]


@dataclass(frozen=True, slots=True)
class ScheduledRecipe:
    """A recipe, and when it is played."""

    request: "RunRequest"
    schedule: Schedule
    argument: str
    """Its file or name, from which it is read again."""

    @property
    def name(self) -> str:
        """Return the recipe's name."""
        return self.request.recipe.name

    @property
    def seed(self) -> str:
        """Return the seed of its jitter."""
        return f"{self.request.recipe.seed}|{self.name}"

    @classmethod
    def read(cls, argument: str) -> "ScheduledRecipe":
        """Return the recipe of a file or name.

        Raises `RecipeError` if it is none, and `UsageError` if it has no schedule.
        """
        # Imported here: `predibot status` is quick where there is no schedule.
        from predibot.jobs.deciding.open_run import RunRequest

        request = RunRequest.read(argument)
        if request.recipe.schedule is None:
            raise UsageError(
                f'{request.recipe.source} has no schedule. Add [schedule] and below it cron = "5 12 * * *"'
            )
        return cls(request, request.recipe.schedule, argument)

    def slot_to_play(self, store: Store, now: datetime) -> datetime:
        """Return the newest slot if it may still be played and is not done, otherwise an extra one at this minute."""
        since = now - self.schedule.catch_up
        rows = store.run_read(partial(read_slots, recipe=self.name, since=since))
        done = {row.slot_at for row in rows if row.status == "done"}
        newest = max(self.schedule.slots(since, now), default=None)
        return floor_to(now, MINUTE) if newest is None or newest in done else newest


def play_slot_once(
    recipe: ScheduledRecipe, slot_at: datetime, play: PlaySlot, *, store: Store, clock: Callable[[], datetime]
) -> SlotRow:
    """Play a slot unless it is done, and return its row, which says how it ended.

    UsageError is raised if another process plays it, KeyboardInterrupt again once the row says that it was stopped.
    """
    name = recipe.name
    with ServiceLock(store, clock, lock_of_slot(name, slot_at)):
        row = store.run_read(partial(read_slot, recipe=name, slot_at=slot_at))
        if row is not None and row.status == "done":
            return row
        store.run_write(partial(begin_slot, recipe=name, slot_at=slot_at, now=clock()))
        played = SlotResult("failed", "a mistake of predibot's own ended it; what it printed says which")
        try:
            played = play(recipe, slot_at)
        except KeyboardInterrupt:
            played = SlotResult("failed", "stopped while it was played", was_tried=False)
            raise
        finally:
            ended = close_slot(recipe, slot_at, played, store=store, now=clock())
        return ended


def simulated_instant(recipe: ScheduledRecipe, slot_at: datetime, past: Past, store: Store) -> datetime:
    """Return the instant of an invented world that a slot plays: `every` after the latest that the recipe's runs have.

    Runs by hand and of a replay count, void ones do not; without any it is the first instant of the world. A slot that
    is tried again keeps the instant of the run that it began. UsageError is raised if the world has ended by then.
    """
    rows = store.run_read(partial(read_slots, recipe=recipe.name))
    started = {row.slot_at: row.started_at for row in rows if row.started_at}
    runs = [
        run
        for run in store.run_read(read_runs)
        if (run.recipe, run.venue) == (recipe.name, recipe.request.recipe.venue) and run.voided_at is None
    ]
    # A process that was killed left its run, and no key of it in its slot.
    since = [run for run in runs if slot_at in started and run.created_at >= started[slot_at]]
    begun = min(since, key=lambda run: run.created_at, default=None)
    if begun is not None and all(not started[slot_at] < at <= begun.created_at for at in started.values()):
        instant = begun.as_of
    else:
        instant = max((run.as_of + recipe.request.recipe.every for run in runs), default=past.first_at)
    if instant > past.last_at:
        raise UsageError(
            f"the simulated world ends at {short_instant(past.last_at)}, and its last day is played. Name another "
            "--ledger to begin anew"
        )
    return instant


def close_slot(
    recipe: ScheduledRecipe, slot_at: datetime, played: SlotResult, *, store: Store, now: datetime
) -> SlotRow:
    """Store how a slot ended, and when it is tried again if it is; return its row."""
    again_at = now + (RETRY_PAUSE if played.was_tried else timedelta(0))
    is_young = again_at - slot_at <= recipe.schedule.catch_up
    if played.may_be_idle and not is_young:
        played = replace(played, status="done")
    next_try_at = again_at if played.status != "done" and is_young else None
    ended = store.run_write(
        partial(end_slot, recipe=recipe.name, slot_at=slot_at, played=played, next_try_at=next_try_at, now=now)
    )
    # Playing a slot tracks too.
    store.run_write(partial(change_schedule, recipe=recipe.name, tracked_at=now))
    return ended
