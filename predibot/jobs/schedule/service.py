"""The service behind `predibot schedule`: sees what is due, has it played, and writes down what became of it."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import takewhile
from typing import Self

from sqlalchemy import Connection

from predibot.domain.clock import format_instant, format_length
from predibot.domain.schedule import Schedule, due_slots
from predibot.errors import LedgerError, PredibotError, UsageError
from predibot.jobs.requested_recipe import AskedRecipe, asked_recipe
from predibot.ledger.store import Store
from predibot.ledger.write.process_identity import is_gone, new_owner
from predibot.ledger.write.slots import (
    Played,
    StoredSchedule,
    StoredSlot,
    add_schedule,
    begin_slot,
    change_schedule,
    end_slot,
    leave_service,
    miss_slots,
    renew_service,
    stored_slots,
    take_service,
)

_log = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)
RETRY_PAUSE = timedelta(minutes=30)
"""Before a slot of which something failed is tried again, as long as it may still be played."""
LONGEST_WAIT = timedelta(seconds=30)
"""Without a look at the clock, which may be set, or stand still while the machine sleeps."""

PlaySlot = Callable[[AskedRecipe, datetime, datetime], Played]
"""Plays a slot of a recipe until its deadline."""
Track = Callable[[AskedRecipe], object]
"""Stores new prices of what a recipe played."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A recipe and when it is run."""

    asked: AskedRecipe
    schedule: Schedule

    @property
    def name(self) -> str:
        """Return the name of its runs."""
        return self.asked.recipe.name

    @classmethod
    def read(cls, argument: str) -> "Scheduled":
        """Return a recipe as it reads now.

        Args:
            argument: Its file or name.

        Raises:
            RecipeError: If it is no recipe.
            UsageError: If it has no schedule.
        """
        asked = asked_recipe(argument, overrides={})
        if asked.recipe.schedule is None:
            raise UsageError(f'{asked.label} has no schedule. Add [schedule] and below it cron = "5 12 * * *"')
        return cls(asked, asked.recipe.schedule)


class OneService:
    """The right to run the schedules of a ledger, for as long as the block lasts."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        """Prepare to take it.

        Args:
            store: The ledger.
            clock: The instant it is.
        """
        self._store, self._clock = store, clock
        self._owner = new_owner()
        self._ended = threading.Event()
        self.lost = False
        """Whether another process took it, because this one gave no sign of life."""

    def __enter__(self) -> Self:
        """Take it, and give signs of life.

        Raises:
            UsageError: If another process runs the schedules of this ledger.
        """
        try:
            before = self._store.run_write(
                lambda connection: take_service(
                    connection, self._owner, lease=LEASE, is_gone=is_gone, now=self._clock()
                )
            )
        except LookupError as error:
            raise UsageError(
                f"the schedules of {self._store.address} are run by {error} already. Stop that one first, or name "
                "another --ledger"
            ) from None
        if before is not None:
            _log.warning(
                "took over from %s, which ran since %s and is gone", before.owner, format_instant(before.started_at)
            )
        threading.Thread(target=self._beat, name="predibot-schedule", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave it to others."""
        self._ended.set()
        self._store.run_write(lambda connection: leave_service(connection, self._owner))

    def _beat(self) -> None:
        while not self._ended.wait(LEASE.total_seconds() / 3):
            try:
                held = self._store.run_write(
                    lambda connection: renew_service(connection, self._owner, lease=LEASE, now=self._clock())
                )
            except LedgerError as error:
                _log.warning("could not give a sign of life: %s", error)
            else:
                self.lost = self.lost or not held


class ScheduleService:
    """Runs recipes by their schedules."""

    def __init__(
        self, arguments: Sequence[str], *, store: Store, clock: Callable[[], datetime], play: PlaySlot, track: Track
    ) -> None:
        """Read the recipes.

        Args:
            arguments: Files or names of recipes, each with a [schedule].
            store: The ledger.
            clock: The instant it is.
            play: Plays a slot.
            track: Stores new prices of what a recipe played, between slots.

        Raises:
            RecipeError: If one is no recipe.
            UsageError: If one has no schedule, or two have one name.
        """
        self._store, self._clock, self._play, self._track = store, clock, play, track
        self._recipes: dict[str, Scheduled] = {}
        """As each was read last when it could be."""
        for argument in arguments:
            recipe = Scheduled.read(argument)
            if other := next((known for known, each in self._recipes.items() if each.name == recipe.name), None):
                raise UsageError(
                    f"{other} and {argument} are both named {recipe.name!r}. Give one of them another name"
                )
            self._recipes[argument] = recipe

    def look(self) -> datetime:
        """Play what is due, the oldest first, write down what was missed, and return when to look again."""
        next_at, playable = datetime.max.replace(tzinfo=UTC), []
        for argument in self._recipes:
            recipe, stored = self._read(argument)
            now = self._clock()
            rows = self._store.run_read(partial(stored_slots, recipe=recipe.name, since=stored.since))
            due = due_slots(
                recipe.schedule,
                stored.since,
                {row.slot_at for row in rows if _is_settled(row, now)},
                now,
                seed=f"{recipe.asked.recipe.seed}|{recipe.name}",
            )
            self._miss(recipe, due.missed, rows, now)
            self._forget(recipe, stored, rows, now)
            if stored.paused_at is None:
                playable += [(slot, recipe) for slot in due.play]
                next_at = min(next_at, self._tracked(recipe, stored, now))
            else:
                reason = f"paused since {format_instant(stored.paused_at)}"
                self._store.run_write(partial(miss_slots, recipe=recipe.name, slots=due.play, reason=reason, now=now))
            tries = [row.next_try_at for row in rows if row.next_try_at is not None and row.next_try_at > now]
            next_at = min([next_at, due.next_at, *tries])
        for slot, recipe in sorted(playable, key=lambda each: each[0]):
            next_at = min(next_at, self._played(recipe, slot))
        return next_at

    def _read(self, argument: str) -> tuple[Scheduled, StoredSchedule]:
        """Return a recipe as it reads now, or as it read when it was none that is broken, and its row."""
        problem = ""
        try:
            self._recipes[argument] = Scheduled.read(argument)
        except PredibotError as error:
            problem = f"{error}. The recipe as it was read last goes on"
            _log.warning("%s", problem)
        recipe = self._recipes[argument]

        def store(connection: Connection) -> StoredSchedule:
            return add_schedule(connection, recipe.name, argument, problem=problem, now=self._clock())

        return recipe, self._store.run_write(store)

    def _miss(self, recipe: Scheduled, slots: Sequence[datetime], rows: Sequence[StoredSlot], now: datetime) -> None:
        """Write down that some slots are too old to be played, or to be tried again."""
        window = format_length(recipe.schedule.catch_up)
        begun = {row.slot_at: row for row in rows}

        def store(connection: Connection) -> None:
            name = recipe.name
            reason = f"nothing ran it for {window} after it"
            miss_slots(connection, name, [slot for slot in slots if slot not in begun], reason, now=now)
            for row in (begun[slot] for slot in slots if slot in begun):
                status = "failed" if row.status == "running" else row.status
                reason = row.reason or "the service ended while it was played, and nothing went on with it"
                end_slot(connection, name, row.slot_at, Played(status, reason, row.run_key), next_try_at=None, now=now)

        if slots:
            self._store.run_write(store)
            _log.warning("%s missed %s", recipe.name, ", ".join(format_instant(slot) for slot in slots[:5]))

    def _played(self, recipe: Scheduled, slot: datetime) -> datetime:
        """Play a slot, and return when to look at it again."""
        name, schedule, began_at = recipe.name, recipe.schedule, self._clock()
        self._store.run_write(partial(begin_slot, recipe=name, slot_at=slot, now=began_at))
        played = Played("failed", "stopped while it was played", was_tried=False)
        try:
            played = self._play(recipe.asked, slot, slot + schedule.deadline)
        finally:
            now = self._clock()
            # What was stopped goes on with the next start.
            again_at = now + (RETRY_PAUSE if played.was_tried else timedelta(0))
            next_try_at = again_at if played.status != "done" and again_at - slot <= schedule.catch_up else None
            self._store.run_write(
                partial(end_slot, recipe=name, slot_at=slot, played=played, next_try_at=next_try_at, now=now)
            )
        self._store.run_write(partial(change_schedule, recipe=name, tracked_at=now))
        ends = [next_try_at, now + schedule.track_every if schedule.track_every else None]
        return min(at for at in (*ends, schedule.next_slot(now)) if at is not None)

    def _forget(self, recipe: Scheduled, stored: StoredSchedule, rows: Sequence[StoredSlot], now: datetime) -> None:
        """Look no more at slots of which nothing is to be done any more, so that a look at a year costs no more."""
        ended = {row.slot_at for row in rows if _is_settled(row, now) and row.next_try_at is None}
        past = list(takewhile(ended.__contains__, recipe.schedule.slots(stored.since, now)))
        if past:
            self._store.run_write(partial(change_schedule, recipe=recipe.name, since=past[-1]))

    def _tracked(self, recipe: Scheduled, stored: StoredSchedule, now: datetime) -> datetime:
        """Track between slots where it is time to, and return when it is next."""
        every = recipe.schedule.track_every
        if every is None or stored.tracked_at is None:
            # Nothing was played yet.
            return now + timedelta(days=1)
        if stored.tracked_at <= now < stored.tracked_at + every:
            return stored.tracked_at + every
        self._track(recipe.asked)
        self._store.run_write(partial(change_schedule, recipe=recipe.name, tracked_at=now))
        return now + every


def _is_settled(row: StoredSlot, now: datetime) -> bool:
    """Return whether nothing is to be done about a slot now."""
    if row.status == "missed":
        # By a clock that was ahead and was set back since, slots were missed that are still to come.
        return row.ended_at is not None and row.ended_at <= now
    return row.status != "running" and (row.next_try_at is None or row.next_try_at > now)
