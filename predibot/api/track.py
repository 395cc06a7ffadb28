"""Bringing a ledger or an archive up to date in one call, and taking a run out of it."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from predibot.contracts import ProgressListener
from predibot.errors import PluginError, VenueMissing, VenueUnavailable
from predibot.jobs.caller import Caller
from predibot.jobs.deciding.accounts.tracked import track_accounts
from predibot.jobs.located import located
from predibot.jobs.open_venue import open_venue
from predibot.jobs.published_roots import publish_voids
from predibot.jobs.receipts import receipt_of_ledger
from predibot.jobs.track import TrackReport
from predibot.jobs.track import track as track_markets
from predibot.ledger.read.rows_for_python import LedgerRun, told_runs
from predibot.ledger.store import Store
from predibot.ledger.write.ledger_receipts import add_ledger_receipt
from predibot.ledger.write.paces import SharedPaces
from predibot.ledger.write.receipts import receipted_runs
from predibot.ledger.write.runs import find_run
from predibot.ledger.write.runs import void_run as take_out
from predibot.scoring.records.part import Part


def track(part: Part, caller: Caller, *, ledger: str) -> TrackReport:
    """Store new prices and resolutions of every market the ledger knows, of a part's venue and by its instant.

    Raises:
        VenueUnavailable: If some could not be read, after the rest is stored.
    """
    with Store.open(ledger, create=False) as store, caller.following(store) as listener:
        report = TrackReport.sum_of(
            [
                _tracked(store, spec, part.as_of, caller, listener, own_runs=part.venue is None)
                for spec in located(store, part, caller.clock).specs
            ]
        )
    if report.incomplete:
        raise VenueUnavailable(f"{'; '.join(report.notes)}. The rest is stored; run `predibot track` again")
    return report


def tracked_if_reached(
    store: Store,
    spec: str,
    as_of: datetime,
    caller: Caller,
    listener: ProgressListener,
    *,
    own_runs: bool,
) -> tuple[str, ...]:
    """Track as of an instant, and return its notes; of a venue out of reach what is stored can still be scored."""
    try:
        return _tracked(store, spec, as_of, caller, listener, own_runs=own_runs).notes
    except (PluginError, VenueMissing, VenueUnavailable) as error:
        return (f"the venue could not be reached, so this is what was stored before: {error}",)


def _tracked(
    store: Store,
    spec: str,
    as_of: datetime | None,
    caller: Caller,
    listener: ProgressListener,
    *,
    own_runs: bool,
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
        return store.run_read(told_runs)


def void_run(key: str, caller: Caller, *, ledger: str, reason: str, file: Path | None = None) -> int:
    """Take a run out of all scores; it stays on record.

    Args:
        key: Of the run; one that is void already is only published.
        file: Where roots are published, to which a line is appended; None for nowhere.

    Returns:
        How many lines were appended.

    Raises:
        PredibotError: As `void_run`; or if the ledger cannot be opened, or the file not written.
    """
    with caller.writing(ledger) as store:
        with store.write() as connection:
            is_void = find_run(connection, key) is None and any(run.void for run in receipted_runs(connection, key))
            if file is None or not is_void:
                take_out(connection, key, reason=reason, at=caller.clock())
                add_ledger_receipt(connection, now=caller.clock())
        return 0 if file is None else publish_voids(store, file, key)
