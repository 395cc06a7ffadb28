"""One slot of a schedule: decide, track, and evaluate once a day; what came of it, in words that fit a row."""

from dataclasses import replace
from datetime import datetime
from functools import partial

from predibot.api.decide import decide_with
from predibot.api.track import tracked_if_reached
from predibot.errors import PredibotError, words_of
from predibot.jobs.caller import Caller
from predibot.jobs.daemon_threads import ExecutorSpec
from predibot.jobs.decide import DecideReport
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.doctor import check_all
from predibot.jobs.evaluate import evaluate_stored
from predibot.jobs.open_venue import look_back_at, open_venue
from predibot.jobs.schedule.scheduled import Scheduled
from predibot.ledger.store import Store
from predibot.ledger.write.paces import SharedPaces
from predibot.ledger.write.slots import SlotResult, change_schedule, stored_schedules
from predibot.scoring.records.part import Part


def play_slot(
    recipe: Scheduled,
    slot_at: datetime,
    *,
    store: Store,
    ledger: str,
    caller: Caller,
    executor: ExecutorSpec | None = None,
) -> SlotResult:
    """Make every decision of a slot that is missing, store new prices, and evaluate where nobody did that day.

    Accounts are settled and valued where their bots decide. What a check of the doctor finds broken is in the reason,
    and the slot is tried all the same: a bot may not need it.

    Args:
        recipe: The recipe, and what of the slot is tried again at once, because somebody asks for it.
        slot_at: The instant that its schedule names.

    Returns:
        What it came to; an error that predibot has words for is a failed slot.
    """
    settings = caller.settings()
    broken = [f"{check.name}: {check.seen}" for check in check_all(settings, ledger) if check.verdict == "failed"]
    deadline_at = slot_at + recipe.schedule.deadline
    request = replace(recipe.request, slot_at=slot_at, deadline_at=deadline_at)
    venue, paces = request.recipe.venue, SharedPaces()
    paces.store = store
    try:
        with (
            open_venue(venue, settings, as_of=None, purpose="decide", clock=caller.clock, paces=paces) as opened,
            caller.progress() as listener,
        ):
            resources = Resources(store, settings, caller.clock, listener)
            report = decide_with(executor, request, opened, resources, ledger=ledger)
    except PredibotError as error:
        return SlotResult("failed", "; ".join((words_of(error), *broken)))
    played = _played(report)
    notes = [*broken, *track_recipe(recipe, store=store, caller=caller), *_evaluated(recipe, store, caller)]
    return replace(played, reason="; ".join(filter(None, (played.reason, *notes))))


def track_recipe(recipe: Scheduled, *, store: Store, caller: Caller) -> tuple[str, ...]:
    """Store new prices and resolutions of what a recipe's venue knows, and return what could not be read."""
    spec = recipe.request.recipe.venue
    as_of = look_back_at(spec, None, caller.clock)
    try:
        with caller.progress() as listener:
            return tracked_if_reached(store, spec, as_of, caller, listener, own_runs=True)
    except PredibotError as error:
        return (f"tracking failed: {words_of(error)}",)


def _evaluated(recipe: Scheduled, store: Store, caller: Caller) -> tuple[str, ...]:
    """Evaluate once a day, so that what reports read is ready; return what was in the way."""
    stored = next((each for each in store.run_read(stored_schedules) if each.recipe == recipe.name), None)
    now = caller.clock()
    if stored is not None and stored.evaluated_at is not None and stored.evaluated_at.date() == now.date():
        return ()
    try:
        evaluate_stored(store, Part(venue=recipe.request.recipe.venue), clock=caller.clock)
    except PredibotError as error:
        return (f"evaluating failed: {words_of(error)}",)
    store.run_write(partial(change_schedule, recipe=recipe.name, evaluated_at=now))
    return ()


def _played(report: DecideReport) -> SlotResult:
    if not report.run.id:
        return SlotResult("failed", "; ".join(report.notes), may_be_idle=not report.has_session)
    failed, key = report.statuses.get("failed", 0), report.run.key
    if report.undecided:
        return SlotResult("partly", f"{report.undecided} decisions are under way in another process", key)
    if not failed:
        return SlotResult("done", run_key=key)
    ended = (each for each in report.decisions if each.stored.status == "failed" or each.stored.reason_kind == "answer")
    # Of one that its game held in the place of an answer the notes say why.
    first = next(each.message or " ".join(each.stored.notes) for each in ended)
    reason = f"{failed} of {len(report.decisions)} decisions failed, the first: {first}"
    return SlotResult("partly" if report.statuses.get("recorded", 0) else "failed", reason, key)
