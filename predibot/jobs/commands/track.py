"""Bringing a ledger or an archive up to date in one call, and taking a run out of it."""

from dataclasses import replace
from datetime import datetime

from predibot.config import Settings
from predibot.contracts import ProgressListener
from predibot.errors import PluginError, VenueMissing, VenueUnavailable
from predibot.jobs.commands.caller import Caller
from predibot.jobs.deciding.accounts.tracked import track_accounts
from predibot.jobs.evaluate import asked_venues
from predibot.jobs.open_venue import open_venue
from predibot.jobs.track import TrackReport, track
from predibot.ledger.store import Store
from predibot.ledger.write.paces import SharedPaces
from predibot.ledger.write.runs import void_run


def track_as_asked(caller: Caller, *, ledger: str, venue: str | None, as_of: datetime | None) -> TrackReport:
    """Store new prices and resolutions of every market the ledger knows.

    Raises:
        VenueUnavailable: If some could not be read, after the rest is stored.
        PredibotError: As `track`; or if ledger or venue cannot be opened.
    """
    settings = caller.settings()
    with Store.open(ledger, create=False) as store, caller.following(store) as listener:
        report = TrackReport.sum_of(
            [
                _tracked(store, spec, as_of, settings, caller, listener, own_runs=venue is None)
                for spec in asked_venues(store, venue).specs
            ]
        )
    if report.incomplete:
        raise VenueUnavailable(f"{'; '.join(report.notes)}. The rest is stored; run `predibot track` again")
    return report


def tracked_if_reached(
    store: Store,
    spec: str,
    as_of: datetime,
    settings: Settings,
    caller: Caller,
    listener: ProgressListener,
    *,
    own_runs: bool,
) -> tuple[str, ...]:
    """Track as of an instant, and return its notes; of a venue out of reach what is stored can still be scored."""
    try:
        return _tracked(store, spec, as_of, settings, caller, listener, own_runs=own_runs).notes
    except (PluginError, VenueMissing, VenueUnavailable) as error:
        return (f"the venue could not be reached, so this is what was stored before: {error}",)


def _tracked(
    store: Store,
    spec: str,
    as_of: datetime | None,
    settings: Settings,
    caller: Caller,
    listener: ProgressListener,
    *,
    own_runs: bool,
) -> TrackReport:
    paces = SharedPaces(store=store)
    with open_venue(spec, settings, as_of=as_of, purpose="look_back", clock=caller.clock, paces=paces) as opened:
        report = track(store=store, opened=opened, settings=settings, listener=listener, own_runs=own_runs)
        failures = track_accounts(store=store, opened=opened, clock=caller.clock)
        return replace(report, notes=(*report.notes, *failures), incomplete=report.incomplete or bool(failures))


def void_as_asked(key: str, caller: Caller, *, ledger: str, reason: str) -> None:
    """Take a run out of all scores; it stays on record.

    Raises:
        PredibotError: As `void_run`; or if the ledger cannot be opened.
    """
    with Store.open(ledger, create=False) as store:
        caller.say(f"ledger: {store.address}")
        with store.write() as connection:
            void_run(connection, key, reason=reason, at=caller.clock())
