"""One slot of a schedule: decide, track, and evaluate; what came of it, in words that fit a row."""

from dataclasses import replace
from datetime import datetime

from predibot.contracts import ProgressListener
from predibot.errors import PredibotError
from predibot.jobs.commands.caller import Caller
from predibot.jobs.commands.track import tracked_if_reached
from predibot.jobs.decide import DecideReport, decide
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.doctor import check_all
from predibot.jobs.open_venue import look_back_at, open_venue
from predibot.jobs.requested_recipe import AskedRecipe
from predibot.ledger.store import Store
from predibot.ledger.write.runs import StoredRun
from predibot.ledger.write.slots import Played


def play_slot(
    asked: AskedRecipe,
    slot_at: datetime,
    deadline_at: datetime,
    *,
    store: Store,
    ledger: str,
    caller: Caller,
    listener: ProgressListener,
) -> Played:
    """Make every decision of a slot that is missing, and store new prices.

    Args:
        asked: The recipe.
        slot_at: The instant that its schedule names.
        deadline_at: Decisions made later are in no score.
        store: The ledger, open.
        ledger: Its URL.
        caller: Whose settings and clock it is.
        listener: Told of each decision.

    Returns:
        What it came to; an error that predibot has words for is a failed slot.
    """
    spec, settings = asked.recipe.venue, caller.settings()
    broken = [f"{check.name}: {check.seen}" for check in check_all(settings, ledger) if check.verdict == "failed"]
    request = RunRequest(asked.recipe, asked.digest, asked.overrides, slot_at=slot_at, deadline_at=deadline_at)
    try:
        with open_venue(spec, settings, as_of=None, purpose="decide", clock=caller.clock) as opened:
            report = decide(
                request, store=store, opened=opened, settings=settings, clock=caller.clock, listener=listener
            )
    except PredibotError as error:
        return Played("failed", "; ".join((str(error), *broken)), error_kind=error.kind)
    notes = tracked_if_reached(
        store, spec, look_back_at(spec, None, caller.clock), settings, caller, listener, own_runs=True
    )
    played = _played(report)
    return replace(played, reason="; ".join(filter(None, (played.reason, *broken, *notes))))


def _played(report: DecideReport) -> Played:
    if not isinstance(report.run, StoredRun):
        return Played("failed", "; ".join(report.notes))
    failed, key = report.statuses.get("failed", 0), report.run.key
    if report.undecided:
        return Played("partly", f"{report.undecided} decisions are under way in another process", key)
    if not failed:
        return Played("done", run_key=key)
    first = next(each.message for each in report.decisions if each.stored.status == "failed")
    reason = f"{failed} of {len(report.decisions)} decisions failed, the first: {first}"
    return Played("partly" if report.statuses.get("recorded", 0) else "failed", reason, key)
