"""Running recipes by their schedules in one call, and what is asked of such a service."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from types import FrameType
from typing import Any

from predibot.domain.clock import format_instant
from predibot.errors import UsageError
from predibot.jobs.commands.caller import Caller
from predibot.jobs.commands.play_slot import play_slot
from predibot.jobs.commands.track import tracked_if_reached
from predibot.jobs.notify.open_channels import open_teller
from predibot.jobs.notify.slot_notices import Shown, SlotNotices
from predibot.jobs.open_venue import look_back_at
from predibot.jobs.requested_recipe import AskedRecipe
from predibot.jobs.schedule.service import LONGEST_WAIT, OneService, Scheduled, ScheduleService
from predibot.ledger.store import Store
from predibot.ledger.write.slots import Played, change_schedule, stored_schedules
from predibot.scoring.evaluation.evaluation import Evaluation

GRACE_SECONDS = 60.0
"""For what is under way when the service is to end."""


def schedule_as_asked(
    arguments: Sequence[str],
    caller: Caller,
    *,
    ledger: str,
    once: bool,
    grace_seconds: float,
    shown: Callable[[Evaluation, int], Shown],
) -> None:
    """Run recipes by their schedules until a signal ends it, or for one look at the clock.

    Args:
        arguments: Files or names of recipes.
        caller: Who asks.
        ledger: Its URL.
        once: Whether to play what is due now, and end.
        grace_seconds: For what is under way when the service is to end; after that it is given up.
        shown: What a daily summary shows of an evaluation, in so many lines.

    Raises:
        KeyboardInterrupt: If something was still under way then.
        UsageError: If another process runs the schedules of this ledger, or a recipe has none.
        PredibotError: If a recipe or the ledger cannot be read.
    """
    with (
        Store.open(ledger) as store,
        caller.following(store) as listener,
        OneService(store, caller.clock) as right,
        _ending(grace_seconds) as ending,
    ):
        to_tell = caller.settings().notify
        notices = SlotNotices(
            open_teller(to_tell, caller.clock), store=store, settings=to_tell, clock=caller.clock, shown=shown
        )

        def play(asked: AskedRecipe, slot_at: datetime, deadline_at: datetime) -> Played:
            notices.begins(asked.recipe, slot_at)
            caller.say(f"{asked.recipe.name}: playing the slot of {format_instant(slot_at)}")
            played = play_slot(
                asked, slot_at, deadline_at, store=store, ledger=ledger, caller=caller, listener=listener
            )
            caller.say(f"{asked.recipe.name}: {played.status}" + (f": {played.reason}" if played.reason else ""))
            notices.ended(asked.recipe, slot_at, played)
            return played

        def track(asked: AskedRecipe) -> None:
            spec, settings = asked.recipe.venue, caller.settings()
            at = look_back_at(spec, None, caller.clock)
            notes = tracked_if_reached(store, spec, at, settings, caller, listener, own_runs=True)
            for note in notes:
                caller.say(f"{asked.recipe.name}: {note}")
            notices.tracked(asked.recipe, is_whole=not notes)

        service = ScheduleService(arguments, store=store, clock=caller.clock, play=play, track=track)
        said_at = None
        while not ending.is_set():
            next_at = service.look()
            notices.look()
            if once:
                return
            if right.lost:
                raise UsageError(
                    "another process took over the schedules of this ledger, as this one gave no sign of life"
                )
            if next_at != said_at:
                caller.say(f"next: {format_instant(next_at)}")
                said_at = next_at
            ending.wait(min(max((next_at - caller.clock()).total_seconds(), 0.0), LONGEST_WAIT.total_seconds()))


@contextmanager
def _ending(grace_seconds: float) -> Iterator[threading.Event]:
    """Yield what a first signal to end sets; what is under way is interrupted after a grace, or by a second signal."""
    ending = threading.Event()
    raising: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    first: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        if not first and number != signal.SIGALRM:
            first.append(number)
            ending.set()
            signal.setitimer(signal.ITIMER_REAL, grace_seconds)
            return
        handler = raising.get(first[0])
        if callable(handler):
            handler(first[0], frame)

    for number in (*raising, signal.SIGALRM):
        signal.signal(number, end)
    try:
        yield ending
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in raising.items():
            signal.signal(number, handler)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def pause_as_asked(argument: str, caller: Caller, *, ledger: str, paused: bool) -> str:
    """Leave out the slots of a recipe from now on, or play them again; return its name.

    Raises:
        UsageError: If nothing runs the recipe by its schedule here.
        PredibotError: If the recipe or the ledger cannot be read.
    """
    with Store.open(ledger, create=False) as store:
        caller.say(f"ledger: {store.address}")
        known = store.run_read(stored_schedules)
        # What is broken can be paused too, by its name.
        name = next((each.recipe for each in known if argument in (each.recipe, each.argument)), None)
        name = name or Scheduled.read(argument).name
        paused_at = caller.clock() if paused else None
        if not store.run_write(partial(change_schedule, recipe=name, paused_at=paused_at)):
            names = ", ".join(each.recipe for each in known) or "none"
            raise UsageError(f"no schedule of recipe {name!r} is known here. Known: {names}")
    return name
