"""Tracking: a ledger gets new prices and resolutions; also listing its runs and voiding one."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from predibot.contracts import ProgressListener
from predibot.errors import PluginError, VenueMissing, VenueUnavailable
from predibot.jobs.caller import Caller
from predibot.jobs.deciding.accounts.turn import track_accounts
from predibot.jobs.open_venue import locate_each, open_venue
from predibot.jobs.published_roots import publish_voids
from predibot.jobs.receipts import receipt_of_ledger
from predibot.jobs.track import TrackReport
from predibot.jobs.track import track as track_markets
from predibot.ledger.read.rows_for_python import LedgerRun, select_runs
from predibot.ledger.store import Store
from predibot.ledger.write.ledger_receipts import add_ledger_receipt, list_runs_with_receipts
from predibot.ledger.write.paces import SharedPaces
from predibot.ledger.write.runs import find_run
from predibot.ledger.write.runs import void_run as take_out
from predibot.scoring.records.part import Part


def track(part: Part, caller: Caller, *, ledger: str) -> TrackReport:
    """Store new prices and resolutions of every market in the ledger, from a part's venues and by its instant. Raises
    `VenueUnavailable` if some could not be read, after the rest is stored.
    """
    with Store.open(ledger, create=False) as store, caller.following(store) as listener:
        report = TrackReport.sum_of(
            [
                _track_venue(store, spec, part.as_of, caller, listener, own_runs=part.venue is None)
                for there in locate_each(store, part, caller.clock)
                for spec in there.specs
            ]
        )
    if report.incomplete:
        raise VenueUnavailable(f"{'; '.join(report.notes)}. The rest is stored; run `predibot track` again")
    return report


def track_if_reachable(
    store: Store, spec: str, as_of: datetime, caller: Caller, listener: ProgressListener, *, own_runs: bool
) -> tuple[str, ...]:
    """Track and return the notes; an unreachable venue is only a note, as stored decisions can still be scored."""
    try:
        return _track_venue(store, spec, as_of, caller, listener, own_runs=own_runs).notes
    except (PluginError, VenueMissing, VenueUnavailable) as error:
        return (f"the venue could not be reached, so this is what was stored before: {error}",)


def _track_venue(
    store: Store, spec: str, as_of: datetime | None, caller: Caller, listener: ProgressListener, *, own_runs: bool
) -> TrackReport:
    settings, paces = caller.settings(), SharedPaces(store=store)
    with open_venue(spec, settings, as_of=as_of, purpose="look_back", clock=caller.clock, paces=paces) as opened:
        report = track_markets(store=store, opened=opened, settings=settings, listener=listener, own_runs=own_runs)
        failures = track_accounts(store=store, opened=opened, clock=caller.clock)
        receipt_of_ledger(store, caller.clock())
        return replace(report, notes=(*report.notes, *failures), incomplete=report.incomplete or bool(failures))


def list_runs(caller: Caller, *, ledger: str) -> tuple[LedgerRun, ...]:
    """Return every run of a ledger, void ones too, oldest slot first."""
    with caller.reading(ledger) as store:
        return store.run_read(select_runs)


def void_run(key: str, caller: Caller, *, ledger: str, reason: str, file: Path | None = None) -> int:
    """Take a run out of all scores, or only publish it if it is void already; it stays on record. `file`, of published
    roots, gets a line for it. Returns how many lines were appended.
    """
    with caller.writing(ledger) as store:
        with store.write() as connection:
            is_void = find_run(connection, key) is None and any(
                run.void for run in list_runs_with_receipts(connection, key)
            )
            if file is None or not is_void:
                take_out(connection, key, reason=reason, at=caller.clock())
                add_ledger_receipt(connection, now=caller.clock())
        return 0 if file is None else publish_voids(store, file, key)
