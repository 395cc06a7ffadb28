"""The service behind `predibot schedule`: starts what is due, one process a recipe, and keeps a row of every slot."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import takewhile
from multiprocessing import connection as pipes
from multiprocessing import get_context, parent_process
from typing import Any

from sqlalchemy import Connection, Row

from predibot.domain.clock import format_length
from predibot.domain.schedule import SlotStatus, due_slots
from predibot.errors import NotTrusted, PredibotError, UsageError
from predibot.jobs.schedule.scheduled_recipe import ScheduledRecipe, close_slot
from predibot.jobs.workers.spawn import start_without_signals, take_signals
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
    pause_reason,
    read_service,
    read_slot,
    read_slots,
)

_log = logging.getLogger(__name__)

_EXPECTED_ERROR, _BUG, _STOPPED = 1, 70, 128 + signal.SIGTERM
"""The exit codes of errors that predibot explains, of its own mistakes, and where it was asked to end."""
STOPPED = "was stopped"
"""How a process ended that was asked to."""
_HELD = (signal.SIGINT, signal.SIGTERM)


class Child:
    """A process that makes one call, and then ends."""

    def __init__(self, set_up: Callable[[], object], work: Callable[..., object], *arguments: Any) -> None:
        """Start a process that calls `set_up`, then `work`: functions of modules, and arguments of plain data."""
        self._process = get_context("spawn").Process(target=_run, args=(set_up, work, arguments))
        start_without_signals(self._process, _HELD)

    @property
    def sentinel(self) -> int:
        """Return the handle that becomes ready when it ends."""
        return self._process.sentinel

    def exit_reason(self) -> str | None:
        """Return how it ended, empty if it ended well; None while it runs."""
        code = self._process.exitcode
        if code is None:
            return None
        if code == _STOPPED:
            return STOPPED
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
        take_signals(_HELD)
        set_up()
        work(*arguments)
        code = 0
    except PredibotError as error:
        code = _EXPECTED_ERROR
        _log.warning("%s", error)
    except KeyboardInterrupt:
        code = _STOPPED
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


LONGEST_WAIT = timedelta(seconds=30)
"""Between two looks at the clock, which may be set, or stand still while the machine sleeps."""

Start = Callable[[ScheduledRecipe, datetime | None], Child]
"""Starts a process that plays a slot of a recipe, or without a slot tracks the recipe's prices."""
OnSlot = Callable[[SlotRow], None]
"""Told of each slot that ended or was missed."""


@dataclass(frozen=True, slots=True)
class _RecipeProcess:
    """A process that plays a slot of a recipe, or tracks it where the slot is None."""

    recipe: ScheduledRecipe
    slot_at: datetime | None
    process: Child


@dataclass
class ScheduleService:
    """Plays recipes by their schedules, in parallel: a slow one makes no other late.

    What is due follows from schedules, rows and the clock alone. A scheduler that sleeps until its next job, such as
    APScheduler, would oversleep when the clock is set forward or the machine was asleep.
    """

    arguments: InitVar[Sequence[str]]
    store: Store
    clock: Callable[[], datetime]
    start: Start
    on_slot: OnSlot = lambda _: None
    _running: dict[str, _RecipeProcess] = field(default_factory=dict)
    """By the name of the recipe, which does one thing at a time."""
    _recipes: dict[str, ScheduledRecipe] = field(default_factory=dict)
    """By argument: the recipe as it was last readable."""
    _problems: dict[str, str] = field(default_factory=dict)
    """By argument: the problem with the recipe that was logged last; empty for none."""
    _next_runs: dict[str, datetime] = field(default_factory=dict)
    """By argument: when the recipe is played next, as of the last look; nothing of a paused one."""

    def __post_init__(self, arguments: Sequence[str]) -> None:
        """Read the recipes of files or names.

        Raises `RecipeError` or `UsageError` as `ScheduledRecipe.read`, and `UsageError` for two of one name.
        """
        for argument in arguments:
            recipe = ScheduledRecipe.read(argument)
            if other := next((known for known, each in self._recipes.items() if each.name == recipe.name), None):
                raise UsageError(
                    f"{other} and {argument} are both named {recipe.name!r}. Give one of them another name"
                )
            self._recipes[argument] = recipe

    @property
    def processes(self) -> tuple[Child, ...]:
        """Return the processes that run."""
        return tuple(each.process for each in self._running.values())

    @property
    def next_run_at(self) -> datetime | None:
        """Return when a recipe is played next, as of the last look; None if all are paused."""
        return min(self._next_runs.values(), default=None)

    def look(self) -> datetime:
        """Start what is due, store what was missed and what ended, and return when to look again."""
        self.collect()
        next_at = min((self._look_at(each) for each in self._recipes), default=datetime.max.replace(tzinfo=UTC))
        return self.clock() if self.collect() else next_at

    def collect(self) -> bool:
        """Store what ended, and return whether anything did."""
        ended = {name: how for name, each in self._running.items() if (how := each.process.exit_reason()) is not None}
        for name, how in ended.items():
            running = self._running.pop(name)
            if running.slot_at is not None:
                self._close(running.recipe, running.slot_at, how)
            elif how:
                _log.warning("%s: tracking %s", name, how)
        return bool(ended)

    def _look_at(self, argument: str) -> datetime:
        recipe, stored = self._read(argument)
        name, now = recipe.name, self.clock()
        rows = self.store.run_read(partial(read_slots, recipe=name, since=stored.since))
        under_way = {row.slot_at for row in rows if row.status == "running" and self._is_under_way(name, row.slot_at)}
        if (running := self._running.get(name)) is not None and running.slot_at is not None:
            # Its process may not have stored that yet.
            under_way.add(running.slot_at)
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
        self._next_runs[argument] = next_at = min([due.next_at, *tries])
        if stored.paused_at is not None:
            del self._next_runs[argument]
            reason = pause_reason(stored.paused_at)
            self.store.run_write(partial(miss_slots, recipe=name, slots=due.play, reason=reason, now=now))
            return next_at
        if name in self._running:
            # The end of its process wakes the service.
            return next_at
        if under_way:
            return min(next_at, now + LONGEST_WAIT)
        if due.play:
            # A later slot waits for the first.
            self._running[name] = _RecipeProcess(recipe, due.play[0], self.start(recipe, due.play[0]))
            return next_at
        return min(next_at, self._track(recipe, stored, now))

    def _read(self, argument: str) -> tuple[ScheduledRecipe, Row[Any]]:
        """Return a recipe as its file is now, or as it was last readable, and its row."""
        problem, before = "", self._recipes[argument]
        try:
            recipe = ScheduledRecipe.read(argument)
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
        store = partial(add_schedule, recipe=recipe.name, argument=argument, problem=problem, now=self.clock())
        stored = self.store.run_write(store)
        if problem and problem != self._problems.get(argument):
            _log.warning("%s", problem)
        self._problems[argument] = problem
        return recipe, stored

    def _is_under_way(self, name: str, slot_at: datetime) -> bool:
        running = self._running.get(name)
        if running is not None and running.slot_at == slot_at:
            return True
        lock = self.store.run_read(partial(read_service, name=lock_of_slot(name, slot_at)))
        return lock is not None and is_alive(lock, is_gone, self.clock())

    def _miss(self, recipe: ScheduledRecipe, slots: Sequence[datetime], rows: Sequence[SlotRow], now: datetime) -> None:
        """Store that slots are too old to be played, or to be tried again."""
        if not slots:
            return
        window = format_length(recipe.schedule.catch_up)
        by_slot = {row.slot_at: row for row in rows}

        def store(connection: Connection) -> list[SlotRow | None]:
            name = recipe.name
            reason = f"nothing ran it for {window} after it"
            # Another process may have begun or ended one since its row was read.
            left = [slot for slot in slots if _state(read_slot(connection, name, slot)) == _state(by_slot.get(slot))]
            miss_slots(connection, name, [slot for slot in left if slot not in by_slot], reason, now=now)
            for row in (by_slot[slot] for slot in left if slot in by_slot):
                status = "failed" if row.status == "running" else row.status
                reason = row.reason or "the service ended while it was played, and nothing went on with it"
                end_slot(
                    connection, name, row.slot_at, SlotResult(status, reason, row.run_key), next_try_at=None, now=now
                )
            return [read_slot(connection, name, slot) for slot in left]

        for row in self.store.run_write(store):
            if row is not None:
                self.on_slot(row)

    def _close(self, recipe: ScheduledRecipe, slot_at: datetime, how: str) -> None:
        """Tell of a slot that was played; if its process ended before it could store the row, store it first."""
        row = self.store.run_read(partial(read_slot, recipe=recipe.name, slot_at=slot_at))
        if row is None or (row.status == "running" and not self._is_under_way(recipe.name, slot_at)):
            now = self.clock()
            if row is None:
                self.store.run_write(partial(begin_slot, recipe=recipe.name, slot_at=slot_at, now=now))
            # Stopped before it began, it goes on with the next start.
            why = f"the process that played it {how or 'ended without a word'}"
            played = SlotResult("failed", why, was_tried=how != STOPPED)
            row = close_slot(recipe, slot_at, played, store=self.store, now=now)
        self.on_slot(row)

    def _forget(self, recipe: ScheduledRecipe, stored: Row[Any], rows: Sequence[SlotRow], now: datetime) -> None:
        """Move the start of the looks past slots that are settled, so that a look stays quick after a year."""
        ended = {row.slot_at for row in rows if _is_settled(row, now) and row.next_try_at is None}
        past = list(takewhile(ended.__contains__, recipe.schedule.slots(stored.since, now)))
        if past:
            self.store.run_write(partial(change_schedule, recipe=recipe.name, since=past[-1]))

    def _track(self, recipe: ScheduledRecipe, stored: Row[Any], now: datetime) -> datetime:
        """Track between slots if it is time to, and return when the next time is."""
        every = recipe.schedule.track_every
        if every is None or stored.tracked_at is None:
            # Nothing was played yet.
            return now + timedelta(days=1)
        due: datetime = stored.tracked_at + every
        if stored.tracked_at <= now < due:
            return due
        self.store.run_write(partial(change_schedule, recipe=recipe.name, tracked_at=now))
        self._running[recipe.name] = _RecipeProcess(recipe, None, self.start(recipe, None))
        return now + every


def _state(row: SlotRow | None) -> tuple[SlotStatus, int] | None:
    return None if row is None else (row.status, row.tries)


def _is_settled(row: SlotRow, now: datetime) -> bool:
    """Return whether nothing is to be done about a slot now."""
    if row.status == "missed":
        # If the clock was ahead and was set back since, a slot may be "missed" that is still to come.
        return row.ended_at is not None and row.ended_at <= now
    return row.status != "running" and (row.next_try_at is None or row.next_try_at > now)
