"""Schedules: a service that plays recipes by their schedules, one slot at a time. A slot is one scheduled run: decide,
track, and evaluate once a day.
"""

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

from predibot.api.decide import decide_with
from predibot.api.track import track_if_reachable
from predibot.contracts import ProgressListener
from predibot.domain.clock import floor_to, short_instant
from predibot.errors import LedgerError, PredibotError, UsageError, describe_error
from predibot.jobs.caller import Caller
from predibot.jobs.decide import DecideReport
from predibot.jobs.deciding.activity import ignore_progress
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.doctor import check_all
from predibot.jobs.evaluate import evaluate_stored
from predibot.jobs.open_venue import check_instant, look_back_at, open_past
from predibot.jobs.schedule.install import Installation, InstallKind, make_files
from predibot.jobs.schedule.scheduled_recipe import (
    MINUTE,
    ScheduledRecipe,
    ServiceLock,
    play_slot_once,
    simulated_instant,
)
from predibot.jobs.schedule.service import LONGEST_WAIT, Child, OnSlot, ScheduleService
from predibot.jobs.workers.executor import ExecutorSpec
from predibot.ledger.schema.tables import SlotRow
from predibot.ledger.store import Store
from predibot.ledger.write import slots
from predibot.ledger.write.claims import Retry
from predibot.ledger.write.paces import SharedPaces
from predibot.plain_file import plain_text
from predibot.plugins.venues import venue_or_defaults
from predibot.scoring.records.part import Part

_log = logging.getLogger(__name__)

_GIVE_BACK_SECONDS = 10.0
"""For a process that should end: twice as long as giving back its claims may take."""


@dataclass(frozen=True, slots=True)
class ServiceTerms:
    """How a service runs."""

    once: bool = False
    """Whether it plays what is due now, and ends."""
    grace_seconds: float = 60.0
    """How long slots under way may go on when the service ends; then their claims are given back."""
    executor: ExecutorSpec | None = None
    """None is threads of the process that plays a slot."""
    set_up: Callable[[], object] = lambda: None
    """Called first in each process that plays a slot, such as to set up logs; must be importable."""
    on_slot: OnSlot = lambda _: None
    """Hears of each slot that ended or was missed, after its row is stored."""
    on_look: Callable[[], None] = lambda: None
    """Called after each look at the clock, and at the end."""


def run_schedules(arguments: Sequence[str], caller: Caller, *, ledger: str, terms: ServiceTerms) -> tuple[SlotRow, ...]:
    """Run recipes, by file or name, by their schedules until a signal ends it, or for one look at the clock.

    With `once`, return the slots that ended or were missed; else nothing, as a service has no end. Raises `UsageError`
    if another process runs the schedules of this ledger, or a recipe has none.
    """
    ended: list[SlotRow] = []
    quiet = replace(caller, progress=_no_progress)

    def start(recipe: ScheduledRecipe, slot_at: datetime | None) -> Child:
        if slot_at is None:
            return Child(terms.set_up, _track_in_process, recipe, quiet, ledger)
        caller.say(f"{recipe.name}: playing the run of {short_instant(slot_at)}")
        return Child(terms.set_up, play_in_process, recipe, slot_at, quiet, ledger, terms.executor)

    def tell(row: SlotRow) -> None:
        caller.say(words_of_slot(row))
        terms.on_slot(row)
        if terms.once:
            ended.append(row)

    with ExitStack() as closing:
        store = closing.enter_context(caller.writing(ledger, create=True))
        lock = ServiceLock(store, caller.clock)
        if terms.once and (other := lock.acquire()) is not None:
            caller.say(f"the schedules are run by {other} already; nothing is left to do here")
            return ()
        closing.enter_context(lock)
        ending = closing.enter_context(_EndSignals())
        service = ScheduleService(arguments, store=store, clock=caller.clock, start=start, on_slot=tell)
        try:
            said_at = None
            while not ending.count:
                next_at = _look(service, caller, is_patient=not terms.once)
                terms.on_look()
                is_idle = not service.processes and next_at > caller.clock()
                if terms.once and is_idle:
                    break
                if lock.is_lost:
                    raise UsageError(
                        "another process took over the schedules of this ledger, as this one gave no sign of life"
                    )
                if is_idle and next_at != said_at:
                    # What it does next: a run, or before it new prices.
                    run_at = service.next_run_at
                    run = (
                        "no run, as all recipes are paused" if run_at is None else f"the run of {short_instant(run_at)}"
                    )
                    prices = "" if next_at == run_at else f"; prices are looked up at {short_instant(next_at)}"
                    caller.say(f"next: {run}{prices}")
                    said_at = next_at
                seconds = min((next_at - caller.clock()).total_seconds(), LONGEST_WAIT.total_seconds())
                ending.wait(service, max(seconds, 0.0))
        finally:
            ending.finish(service, terms.grace_seconds)
            terms.on_look()
    return tuple(ended)


def _look(service: ScheduleService, caller: Caller, *, is_patient: bool) -> datetime:
    """Let a service look at the clock, and return when to look again; a patient one waits for an absent ledger. Raises
    `NotTrusted` if the folder's settings changed and need its user's trust again.
    """
    caller.settings()
    try:
        return service.look()
    except LedgerError as error:
        if not is_patient:
            raise
        _log.warning("%s. It is looked at again in %d seconds", error, LONGEST_WAIT.total_seconds())
        return caller.clock() + LONGEST_WAIT


class _EndSignals:
    """The signals that end the service: the first after a grace, the second at once."""

    def __init__(self) -> None:
        self.count = 0
        # A signal handler may take no lock, so it wakes the waiting thread through a pipe.
        self._read, self._written = os.pipe()
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "_EndSignals":
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
        self.count += 1
        os.write(self._written, b".")

    def wait(self, service: ScheduleService, seconds: float) -> None:
        children = [work.sentinel for work in service.processes]
        if self._read in pipes.wait([self._read, *children], timeout=seconds):
            os.read(self._read, 64)

    def finish(self, service: ScheduleService, grace_seconds: float) -> None:
        """Wait for slots under way; after a grace or one more signal stop them, and store what ended."""
        count, ends_at = self.count, time.monotonic() + grace_seconds
        while service.processes and self.count == count and (left := ends_at - time.monotonic()) > 0.0:
            self.wait(service, left)
            service.collect()
        ends_at = time.monotonic() + _GIVE_BACK_SECONDS
        for work in service.processes:
            work.stop()
        while service.processes and (left := ends_at - time.monotonic()) > 0.0:
            self.wait(service, left)
            service.collect()
        for work in service.processes:
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
    """Play a slot of a recipe now, by default `ScheduledRecipe.slot_to_play`; `retry` says which decisions to try
    again. Raises `UsageError` if the recipe has no schedule, another process plays the slot, or it is still to come.
    """
    recipe = ScheduledRecipe.read(argument)
    with caller.writing(ledger, create=True) as store:
        now = caller.clock()
        if slot_at is not None:
            check_instant(slot_at)
        if slot_at is not None and (slot_at > now or slot_at != floor_to(slot_at, MINUTE)):
            raise UsageError(
                f"--slot names a minute that has begun, and {short_instant(slot_at)} is none at {short_instant(now)}. "
                "Name another, or leave it out"
            )
        slot_at = slot_at or recipe.slot_to_play(store, now)
        store.run_write(partial(slots.add_schedule, recipe=recipe.name, argument=argument, now=caller.clock()))
        caller.say(f"{recipe.name}: playing the run of {short_instant(slot_at)}")
        recipe = replace(recipe, request=replace(recipe.request, retry=retry))
        play = partial(play_slot, store=store, ledger=ledger, caller=caller, executor=executor)
        return play_slot_once(recipe, slot_at, play, store=store, clock=caller.clock)


def play_in_process(
    recipe: ScheduledRecipe, slot_at: datetime, caller: Caller, ledger: str, executor: ExecutorSpec | None = None
) -> None:
    """Play a slot in a process of its own; the result is in its row."""
    with Store.open(ledger, create=False, was_reached=True) as store:
        play = partial(play_slot, store=store, ledger=ledger, caller=caller, executor=executor)
        play_slot_once(recipe, slot_at, play, store=store, clock=caller.clock)


def _track_in_process(recipe: ScheduledRecipe, caller: Caller, ledger: str) -> None:
    with Store.open(ledger, create=False, was_reached=True) as store:
        for note in track_recipe(recipe, store=store, caller=caller):
            caller.say(f"{recipe.name}: {note}")


def _no_progress() -> AbstractContextManager[ProgressListener]:
    """Show nothing: several slots at once would overwrite each other's lines."""
    return nullcontext(ignore_progress)


def words_of_slot(row: SlotRow) -> str:
    """Return the result of a slot in one line."""
    text = f"{row.recipe}: the run of {short_instant(row.slot_at)} is {row.status}"
    again = f"; tried again at {short_instant(row.next_try_at)}" if row.next_try_at else ""
    return text + (f": {row.reason}" if row.reason else "") + again


def pause(argument: str, caller: Caller, *, ledger: str, paused: bool) -> str:
    """Skip the slots of a recipe from now on, or play them again, and return its name. Raises `UsageError` if nothing
    runs the recipe by its schedule here.
    """
    with caller.writing(ledger) as store:
        known = store.run_read(slots.read_schedules)
        # A broken recipe can be paused by its name.
        name = next((each.recipe for each in known if argument in (each.recipe, each.argument)), None)
        name = name or ScheduledRecipe.read(argument).name
        now = caller.clock()
        stored = next((each for each in known if each.recipe == name), None)
        if not paused and stored is not None and stored.paused_at is not None:
            # While no service ran, nothing noted the slots that the pause skipped.
            left_out = tuple(ScheduledRecipe.read(stored.argument).schedule.slots(stored.paused_at, now))
            store.run_write(
                partial(
                    slots.miss_slots, recipe=name, slots=left_out, reason=slots.pause_reason(stored.paused_at), now=now
                )
            )
        if not store.run_write(partial(slots.change_schedule, recipe=name, paused_at=now if paused else None)):
            names = ", ".join(each.recipe for each in known) or "none"
            raise UsageError(f"no schedule of recipe {name!r} is known here. Known: {names}")
    return name


def install(kind: InstallKind, what: Installation, into: Path | None) -> Mapping[str, str]:
    """Return the files that start the schedules on a machine, by name; write them if a folder is given. Raises
    `UsageError` if a recipe has no schedule, or another file has one of the names.
    """
    for argument in what.recipes:
        ScheduledRecipe.read(argument)
    files = make_files(kind, what)
    if into is not None:
        there = {name: into / name for name in files if (into / name).exists()}
        others = [name for name, file in there.items() if plain_text(file, errors="replace") != files[name]]
        if others:
            raise UsageError(f"{into / others[0]} is there, and another one. Move it away, or name another --output")
        for name, text in files.items():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            (into / name).write_text(text, encoding="utf-8")
    return files


def play_slot(
    recipe: ScheduledRecipe,
    slot_at: datetime,
    *,
    store: Store,
    ledger: str,
    caller: Caller,
    executor: ExecutorSpec | None = None,
) -> slots.SlotResult:
    """Make every missing decision of a slot, store new prices, and evaluate if nobody did that day; return the result.

    Accounts are settled and valued where their bots decide. A failed check of the doctor becomes part of the reason,
    and the slot is tried all the same: perhaps no bot needs what is broken. An error of predibot's makes a failed slot.
    """
    settings = caller.settings()
    broken = [f"{check.name}: {check.seen}" for check in check_all(settings, ledger) if check.verdict == "failed"]
    chosen, paces = recipe.request.recipe, SharedPaces(store=store)
    try:
        as_of = None
        request = replace(recipe.request, slot_at=slot_at, deadline_at=slot_at + recipe.schedule.deadline)
        venue = venue_or_defaults(chosen.venue)
        if venue.invented and venue.past is not None:
            # Its clock is its own, so that the run is the one of `decide --as-of`.
            past = open_past(chosen.venue, settings, caller.clock)
            as_of, request = simulated_instant(recipe, slot_at, past, store), recipe.request
            caller.say(
                f"{recipe.name}: it is {short_instant(as_of)} in the simulated world, each run plays its next day"
            )
        with (
            request.open_venue(settings, caller.clock, as_of=as_of, paces=paces) as opened,
            caller.progress() as listener,
        ):
            resources = Resources(store, settings, caller.clock, listener)
            report = decide_with(executor, request, opened, resources, ledger=ledger)
    except PredibotError as error:
        return slots.SlotResult("failed", "; ".join((describe_error(error), *broken)))
    played = _slot_result(report)
    notes = [*broken, *track_recipe(recipe, store=store, caller=caller), *_evaluate_daily(recipe, store, caller)]
    return replace(played, reason="; ".join(filter(None, (played.reason, *notes))))


def track_recipe(recipe: ScheduledRecipe, *, store: Store, caller: Caller) -> tuple[str, ...]:
    """Store new prices and resolutions from a recipe's venue; return what could not be read."""
    spec = recipe.request.recipe.venue
    as_of = look_back_at(spec, None, caller.clock)
    try:
        with caller.progress() as listener:
            return track_if_reachable(store, spec, as_of, caller, listener, own_runs=True)
    except PredibotError as error:
        return (f"tracking failed: {describe_error(error)}",)


def _evaluate_daily(recipe: ScheduledRecipe, store: Store, caller: Caller) -> tuple[str, ...]:
    """Evaluate once a day, so that reports find a cached evaluation; return what went wrong."""
    stored = next((each for each in store.run_read(slots.read_schedules) if each.recipe == recipe.name), None)
    now = caller.clock()
    if stored is not None and stored.evaluated_at is not None and stored.evaluated_at.date() == now.date():
        return ()
    try:
        evaluate_stored(store, Part(venue=recipe.request.recipe.venue), clock=caller.clock)
    except PredibotError as error:
        return (f"evaluating failed: {describe_error(error)}",)
    store.run_write(partial(slots.change_schedule, recipe=recipe.name, evaluated_at=now))
    return ()


def _slot_result(report: DecideReport) -> slots.SlotResult:
    if not report.run.id:
        return slots.SlotResult("failed", "; ".join(report.notes), may_be_idle=not report.has_session)
    failed, key = report.statuses.get("failed", 0), report.run.key
    if report.undecided:
        return slots.SlotResult("partly", f"{report.undecided} decisions are under way in another process", key)
    if not failed:
        return slots.SlotResult("done", run_key=key)
    ended = (each for each in report.decisions if each.stored.status == "failed" or each.stored.reason_kind == "answer")
    # A decision that its game made in place of an unusable answer has the reason in its notes.
    first = next(each.message or " ".join(each.stored.notes) for each in ended)
    reason = f"{failed} of {len(report.decisions)} decisions failed, the first: {first}"
    return slots.SlotResult("partly" if report.statuses.get("recorded", 0) else "failed", reason, key)
