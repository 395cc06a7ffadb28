"""Running recipes by their schedules in one call, and what is asked of such a service."""

import logging
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from multiprocessing import connection as pipes
from pathlib import Path
from typing import Any

from predibot.api.play_slot import play_slot, track_recipe
from predibot.contracts import ProgressListener
from predibot.domain.clock import floor_to, format_instant
from predibot.errors import LedgerError, UsageError
from predibot.jobs.caller import Caller
from predibot.jobs.daemon_threads import ExecutorSpec
from predibot.jobs.deciding.activity import unwatched
from predibot.jobs.schedule.child import Child
from predibot.jobs.schedule.install import Installed, InstallKind, files_of
from predibot.jobs.schedule.lock import ServiceLock
from predibot.jobs.schedule.scheduled import MINUTE, Scheduled, kept_slot
from predibot.jobs.schedule.service import LONGEST_WAIT, OnSlot, ScheduleService
from predibot.ledger.schema.tables import SlotRow
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Retry
from predibot.ledger.write.slots import (
    add_schedule,
    change_schedule,
    miss_slots,
    paused_since,
    stored_schedules,
)
from predibot.plain_file import plain_text

_log = logging.getLogger(__name__)

_GIVE_BACK_SECONDS = 10.0
"""For a process that is asked to end: twice as long as giving back its claims may take."""


@dataclass(frozen=True, slots=True)
class ServiceTerms:
    """How a service runs."""

    once: bool = False
    """Whether it plays what is due now, and ends."""
    grace_seconds: float = 60.0
    """For what is under way when it is to end; after that it is given back."""
    executor: ExecutorSpec | None = None
    """Who decides; left out, threads of the process that plays a slot."""
    set_up: Callable[[], object] = lambda: None
    """Done first in each process that plays a slot, such as saying where logs go; from a module."""
    on_slot: OnSlot = lambda _: None
    """Told of each slot that ended or was missed, after its row is stored."""
    on_look: Callable[[], None] = lambda: None
    """Called after each look at the clock, and at the end."""


def run_schedules(arguments: Sequence[str], caller: Caller, *, ledger: str, terms: ServiceTerms) -> tuple[SlotRow, ...]:
    """Run recipes by their schedules until a signal ends it, or for one look at the clock.

    Args:
        arguments: Files or names of recipes.

    Returns:
        The slots that ended or were missed, where what was due was played once; else none, as a service has no end.

    Raises:
        UsageError: If another process runs the schedules of this ledger, or a recipe has none.
        PredibotError: If a recipe or the ledger cannot be read.
    """
    ended: list[SlotRow] = []
    quiet = replace(caller, progress=_unfollowed)

    def start(recipe: Scheduled, slot_at: datetime | None) -> Child:
        if slot_at is None:
            return Child(terms.set_up, _track_in_process, recipe, quiet, ledger)
        caller.say(f"{recipe.name}: playing the slot of {format_instant(slot_at)}")
        return Child(terms.set_up, play_in_process, recipe, slot_at, quiet, ledger, terms.executor)

    def tell(row: SlotRow) -> None:
        caller.say(words_of_slot(row))
        terms.on_slot(row)
        if terms.once:
            ended.append(row)

    with ExitStack() as closing:
        store = closing.enter_context(caller.writing(ledger, create=True))
        lock = ServiceLock(store, caller.clock)
        if terms.once and (other := lock.taken_by()) is not None:
            caller.say(f"the schedules are run by {other} already; nothing is left to do here")
            return ()
        closing.enter_context(lock)
        ending = closing.enter_context(_Ending())
        service = ScheduleService(arguments, store=store, clock=caller.clock, start=start, on_slot=tell)
        try:
            said_at = None
            while not ending.asked:
                next_at = _looked(service, caller, is_patient=not terms.once)
                terms.on_look()
                is_idle = not service.works and next_at > caller.clock()
                if terms.once and is_idle:
                    break
                if lock.lost:
                    raise UsageError(
                        "another process took over the schedules of this ledger, as this one gave no sign of life"
                    )
                if is_idle and next_at != said_at:
                    caller.say(f"next: {format_instant(next_at)}")
                    said_at = next_at
                seconds = min((next_at - caller.clock()).total_seconds(), LONGEST_WAIT.total_seconds())
                ending.wait(service, max(seconds, 0.0))
        finally:
            ending.finish(service, terms.grace_seconds)
            terms.on_look()
    return tuple(ended)


def _looked(service: ScheduleService, caller: Caller, *, is_patient: bool) -> datetime:
    """Have a service look, and return when it is to look again; a ledger that is away may come back.

    Raises:
        NotTrusted: If the folder has other settings now, which need its user's word.
    """
    caller.settings()
    try:
        return service.look()
    except LedgerError as error:
        if not is_patient:
            raise
        _log.warning("%s. It is looked at again in %d seconds", error, LONGEST_WAIT.total_seconds())
        return caller.clock() + LONGEST_WAIT


class _Ending:
    """The signals that end the service: a first one after what is under way or a grace, a second one at once."""

    def __init__(self) -> None:
        self.asked = 0
        """How often."""
        # A signal wakes who waits, and sets no lock that it may hold.
        self._read, self._written = os.pipe()
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "_Ending":
        os.set_blocking(self._written, False)
        for number in (signal.SIGTERM, signal.SIGINT):
            self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        for end in (self._read, self._written):
            os.close(end)

    def _ask(self, *_: object) -> None:
        self.asked += 1
        os.write(self._written, b".")

    def wait(self, service: ScheduleService, seconds: float) -> None:
        """Wait for a signal, for the end of something that goes on, or so long."""
        children = [work.sentinel for work in service.works]
        if self._read in pipes.wait([self._read, *children], timeout=seconds):
            os.read(self._read, 64)

    def finish(self, service: ScheduleService, grace_seconds: float) -> None:
        """Wait for what is under way; have it given back after a grace or by one more signal, and store what ended."""
        asked, ends_at = self.asked, time.monotonic() + grace_seconds
        while service.works and self.asked == asked and (left := ends_at - time.monotonic()) > 0.0:
            self.wait(service, left)
            service.collect()
        ends_at = time.monotonic() + _GIVE_BACK_SECONDS
        for work in service.works:
            work.stop()
        while service.works and (left := ends_at - time.monotonic()) > 0.0:
            self.wait(service, left)
            service.collect()
        for work in service.works:
            work.kill()


def play_now(
    argument: str,
    caller: Caller,
    *,
    ledger: str,
    slot_at: datetime | None = None,
    executor: ExecutorSpec | None = None,
    retry: frozenset[Retry] = frozenset(),
) -> SlotRow:
    """Play a slot of a recipe now, and return what came of it.

    Args:
        argument: The recipe's file or name.
        slot_at: Which slot; left out, as `Scheduled.slot_to_play`.
        retry: What of it is tried again at once.

    Raises:
        UsageError: If the recipe has no schedule, another process plays the slot, or it is still to come.
        PredibotError: If the recipe or the ledger cannot be read.
    """
    recipe = Scheduled.read(argument)
    with caller.writing(ledger, create=True) as store:
        now = caller.clock()
        if slot_at is not None and (slot_at > now or slot_at != floor_to(slot_at, MINUTE)):
            raise UsageError(
                f"a slot is a minute that has begun, and {format_instant(slot_at)} is none at {format_instant(now)}. "
                "Name another --slot, or leave it out"
            )
        slot_at = slot_at or recipe.slot_to_play(store, now)
        store.run_write(partial(add_schedule, recipe=recipe.name, argument=argument, now=caller.clock()))
        caller.say(f"{recipe.name}: playing the slot of {format_instant(slot_at)}")
        recipe = replace(recipe, request=replace(recipe.request, retry=retry))
        return _played_and_kept(recipe, slot_at, caller, store, ledger, executor)


def play_in_process(
    recipe: Scheduled, slot_at: datetime, caller: Caller, ledger: str, executor: ExecutorSpec | None = None
) -> None:
    """Play a slot in a process of its own; its row says what came of it."""
    with Store.open(ledger, create=False, was_reached=True) as store:
        _played_and_kept(recipe, slot_at, caller, store, ledger, executor)


def _played_and_kept(
    recipe: Scheduled,
    slot_at: datetime,
    caller: Caller,
    store: Store,
    ledger: str,
    executor: ExecutorSpec | None,
) -> SlotRow:
    play = partial(play_slot, store=store, ledger=ledger, caller=caller, executor=executor)
    return kept_slot(recipe, slot_at, play, store=store, clock=caller.clock)


def _track_in_process(recipe: Scheduled, caller: Caller, ledger: str) -> None:
    with Store.open(ledger, create=False, was_reached=True) as store:
        for note in track_recipe(recipe, store=store, caller=caller):
            caller.say(f"{recipe.name}: {note}")


def _unfollowed() -> AbstractContextManager[ProgressListener]:
    """Show nothing: what plays side by side would write over each other."""
    return nullcontext(unwatched)


def words_of_slot(row: SlotRow) -> str:
    """Return what became of a slot, in a line."""
    said = f"{row.recipe}: the slot of {format_instant(row.slot_at)} is {row.status}"
    again = f"; tried again at {format_instant(row.next_try_at)}" if row.next_try_at else ""
    return said + (f": {row.reason}" if row.reason else "") + again


def pause(argument: str, caller: Caller, *, ledger: str, paused: bool) -> str:
    """Leave out the slots of a recipe from now on, or play them again; return its name.

    Raises:
        UsageError: If nothing runs the recipe by its schedule here.
        PredibotError: If the recipe or the ledger cannot be read.
    """
    with caller.writing(ledger) as store:
        known = store.run_read(stored_schedules)
        # What is broken can be paused too, by its name.
        name = next((each.recipe for each in known if argument in (each.recipe, each.argument)), None)
        name = name or Scheduled.read(argument).name
        now = caller.clock()
        stored = next((each for each in known if each.recipe == name), None)
        if not paused and stored is not None and stored.paused_at is not None:
            # Where nothing looked meanwhile, no row says yet what was left out.
            left_out = tuple(Scheduled.read(stored.argument).schedule.slots(stored.paused_at, now))
            store.run_write(
                partial(miss_slots, recipe=name, slots=left_out, reason=paused_since(stored.paused_at), now=now)
            )
        if not store.run_write(partial(change_schedule, recipe=name, paused_at=now if paused else None)):
            names = ", ".join(each.recipe for each in known) or "none"
            raise UsageError(f"no schedule of recipe {name!r} is known here. Known: {names}")
    return name


def install(kind: InstallKind, what: Installed, into: Path | None) -> Mapping[str, str]:
    """Return what starts the schedules on a machine, by the names of its files; write them where a folder is named.

    Raises:
        UsageError: If a recipe has no schedule, or a file of another content is there.
        PredibotError: If a recipe cannot be read.
    """
    for argument in what.recipes:
        Scheduled.read(argument)
    files = files_of(kind, what)
    if into is not None:
        there = {name: into / name for name in files if (into / name).exists()}
        others = [name for name, file in there.items() if plain_text(file, errors="replace") != files[name]]
        if others:
            raise UsageError(f"{into / others[0]} is there, and another one. Move it away, or name another --output")
        for name, text in files.items():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            (into / name).write_text(text, encoding="utf-8")
    return files
