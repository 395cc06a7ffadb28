"""The service behind `predibot schedule`: sees what is due, has it done side by side, and keeps a row of every slot."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import takewhile
from typing import Any

from sqlalchemy import Connection, Row

from predibot.domain.clock import format_length
from predibot.domain.schedule import due_slots
from predibot.errors import NotTrusted, PredibotError, UsageError
from predibot.jobs.schedule.child import Child
from predibot.jobs.schedule.scheduled import Scheduled, close_slot
from predibot.ledger.schema.tables import SlotRow
from predibot.ledger.store import Store
from predibot.ledger.write.process_identity import is_gone
from predibot.ledger.write.slots import (
    SlotResult,
    add_schedule,
    begin_slot,
    change_schedule,
    end_slot,
    is_alive,
    lock_of_slot,
    miss_slots,
    paused_since,
    stored_service,
    stored_slot,
    stored_slots,
)

_log = logging.getLogger(__name__)

LONGEST_WAIT = timedelta(seconds=30)
"""Without a look at the clock, which may be set, or stand still while the machine sleeps."""


Start = Callable[[Scheduled, datetime | None], Child]
"""Starts to play a slot of a recipe, or, without one, to store new prices of what the recipe played."""
OnSlot = Callable[[SlotRow], None]
"""Told of each slot that ended or was missed."""


@dataclass(frozen=True, slots=True)
class _Begun:
    """What a recipe is at."""

    recipe: Scheduled
    """As it read then."""
    slot_at: datetime | None
    """None for tracking."""
    work: Child


class ScheduleService:
    """Runs recipes by their schedules, each beside the others: a slow one makes no other one late.

    It only waits and looks at the clock: what is due follows from schedules, rows and the clock alone. A scheduler
    that sleeps until the next job, such as APScheduler, sleeps through a clock that is set forward or a machine that
    was asleep.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        store: Store,
        clock: Callable[[], datetime],
        start: Start,
        on_slot: OnSlot = lambda _: None,
    ) -> None:
        """Read the recipes.

        Args:
            arguments: Files or names of recipes, each with a [schedule].
            store: The ledger.
            clock: The instant it is.
            start: Has something done.
            on_slot: Told of each slot that ended or was missed.

        Raises:
            RecipeError: If one is no recipe.
            UsageError: If one has no schedule, or two have one name.
        """
        self._store, self._clock, self._start, self._on_slot = store, clock, start, on_slot
        self._begun: dict[str, _Begun] = {}
        """By the name of the recipe, of which one thing is done at a time."""
        self._recipes: dict[str, Scheduled] = {}
        """As each was read last when it could be."""
        self._said: dict[str, str] = {}
        """What was said to be wrong with each last."""
        for argument in arguments:
            recipe = Scheduled.read(argument)
            if other := next((known for known, each in self._recipes.items() if each.name == recipe.name), None):
                raise UsageError(
                    f"{other} and {argument} are both named {recipe.name!r}. Give one of them another name"
                )
            self._recipes[argument] = recipe

    @property
    def works(self) -> tuple[Child, ...]:
        """Return what goes on."""
        return tuple(each.work for each in self._begun.values())

    def look(self) -> datetime:
        """Start what is due, write down what was missed and what ended, and return when to look again."""
        self.collect()
        next_at = min((self._look_at(each) for each in self._recipes), default=datetime.max.replace(tzinfo=UTC))
        return self._clock() if self.collect() else next_at

    def collect(self) -> bool:
        """Write down what ended, and return whether anything did."""
        ended = {name: how for name, each in self._begun.items() if (how := each.work.ended()) is not None}
        for name, how in ended.items():
            begun = self._begun.pop(name)
            if begun.slot_at is not None:
                self._close(begun.recipe, begun.slot_at, how)
            elif how:
                _log.warning("%s: tracking %s", name, how)
        return bool(ended)

    def _look_at(self, argument: str) -> datetime:
        recipe, stored = self._read(argument)
        name, now = recipe.name, self._clock()
        rows = self._store.run_read(partial(stored_slots, recipe=name, since=stored.since))
        under_way = {row.slot_at for row in rows if row.status == "running" and self._is_under_way(name, row.slot_at)}
        if (begun := self._begun.get(name)) is not None and begun.slot_at is not None:
            # Its process may not have come so far as to say so.
            under_way.add(begun.slot_at)
        due = due_slots(
            recipe.schedule,
            stored.since,
            {row.slot_at for row in rows if _is_settled(row, now)} | under_way,
            now,
            seed=recipe.seed,
        )
        self._miss(recipe, due.missed, rows, now)
        self._forget(recipe, stored, rows, now)
        tries = [row.next_try_at for row in rows if row.next_try_at is not None and row.next_try_at > now]
        next_at = min([due.next_at, *tries])
        if stored.paused_at is not None:
            reason = paused_since(stored.paused_at)
            self._store.run_write(partial(miss_slots, recipe=name, slots=due.play, reason=reason, now=now))
            return next_at
        if name in self._begun:
            # Its end is waited for, and wakes.
            return next_at
        if under_way:
            return min(next_at, now + LONGEST_WAIT)
        if due.play:
            # A later one waits for it.
            self._begun[name] = _Begun(recipe, due.play[0], self._start(recipe, due.play[0]))
            return next_at
        return min(next_at, self._tracked(recipe, stored, now))

    def _read(self, argument: str) -> tuple[Scheduled, Row[Any]]:
        """Return a recipe as it reads now, or as it read when it was none that is broken, and its row."""
        problem, before = "", self._recipes[argument]
        try:
            recipe = Scheduled.read(argument)
            if recipe.name != before.name:
                raise UsageError(
                    f"{argument} is named {recipe.name!r} now, and was {before.name!r}. Start the service anew"
                )
            self._recipes[argument] = recipe
        except NotTrusted:
            raise
        except PredibotError as error:
            problem = f"{error}. The recipe as it was read last goes on"
        recipe = self._recipes[argument]
        store = partial(add_schedule, recipe=recipe.name, argument=argument, problem=problem, now=self._clock())
        stored = self._store.run_write(store)
        if problem and problem != self._said.get(argument):
            _log.warning("%s", problem)
        self._said[argument] = problem
        return recipe, stored

    def _is_under_way(self, name: str, slot_at: datetime) -> bool:
        """Return whether a slot is being played, by this service or somebody else."""
        begun = self._begun.get(name)
        if begun is not None and begun.slot_at == slot_at:
            return True
        held = self._store.run_read(partial(stored_service, name=lock_of_slot(name, slot_at)))
        return held is not None and is_alive(held, is_gone, self._clock())

    def _miss(self, recipe: Scheduled, slots: Sequence[datetime], rows: Sequence[SlotRow], now: datetime) -> None:
        """Write down that some slots are too old to be played, or to be tried again."""
        if not slots:
            return
        window = format_length(recipe.schedule.catch_up)
        begun = {row.slot_at: row for row in rows}

        def store(connection: Connection) -> list[SlotRow | None]:
            name = recipe.name
            reason = f"nothing ran it for {window} after it"
            miss_slots(connection, name, [slot for slot in slots if slot not in begun], reason, now=now)
            for row in (begun[slot] for slot in slots if slot in begun):
                status = "failed" if row.status == "running" else row.status
                reason = row.reason or "the service ended while it was played, and nothing went on with it"
                end_slot(
                    connection, name, row.slot_at, SlotResult(status, reason, row.run_key), next_try_at=None, now=now
                )
            return [stored_slot(connection, name, slot) for slot in slots]

        for row in self._store.run_write(store):
            if row is not None:
                self._on_slot(row)

    def _close(self, recipe: Scheduled, slot_at: datetime, how: str) -> None:
        """Tell of a slot that was played; of one whose process ended before it could say so, write it down first."""
        row = self._store.run_read(partial(stored_slot, recipe=recipe.name, slot_at=slot_at))
        if row is None or (row.status == "running" and not self._is_under_way(recipe.name, slot_at)):
            now = self._clock()
            if row is None:
                self._store.run_write(partial(begin_slot, recipe=recipe.name, slot_at=slot_at, now=now))
            played = SlotResult("failed", f"the process that played it {how or 'ended without a word'}")
            row = close_slot(recipe, slot_at, played, store=self._store, now=now)
        self._on_slot(row)

    def _forget(self, recipe: Scheduled, stored: Row[Any], rows: Sequence[SlotRow], now: datetime) -> None:
        """Look no more at slots of which nothing is to be done any more, so that a look at a year costs no more."""
        ended = {row.slot_at for row in rows if _is_settled(row, now) and row.next_try_at is None}
        past = list(takewhile(ended.__contains__, recipe.schedule.slots(stored.since, now)))
        if past:
            self._store.run_write(partial(change_schedule, recipe=recipe.name, since=past[-1]))

    def _tracked(self, recipe: Scheduled, stored: Row[Any], now: datetime) -> datetime:
        """Track between slots where it is time to, and return when it is next."""
        every = recipe.schedule.track_every
        if every is None or stored.tracked_at is None:
            # Nothing was played yet.
            return now + timedelta(days=1)
        due: datetime = stored.tracked_at + every
        if stored.tracked_at <= now < due:
            return due
        self._store.run_write(partial(change_schedule, recipe=recipe.name, tracked_at=now))
        self._begun[recipe.name] = _Begun(recipe, None, self._start(recipe, None))
        return now + every


def _is_settled(row: SlotRow, now: datetime) -> bool:
    """Return whether nothing is to be done about a slot now."""
    if row.status == "missed":
        # By a clock that was ahead and was set back since, slots were missed that are still to come.
        return row.ended_at is not None and row.ended_at <= now
    return row.status != "running" and (row.next_try_at is None or row.next_try_at > now)
