"""Commands in one call each: what opens ledger and venue, does the work, and closes them again.

The command line, the Python interface, a schedule and a web page call the same.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from predibot.config import Settings
from predibot.contracts import OpenVenue, ProgressListener
from predibot.errors import PluginError, VenueMissing, VenueUnavailable
from predibot.jobs.decide import DecideReport, decide
from predibot.jobs.deciding.activity import Watch
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.deciding.select_events import Choice, choose
from predibot.jobs.deciding.worker_setup import Processes
from predibot.jobs.evaluate import asked_venues
from predibot.jobs.open_venue import Clock, open_venue
from predibot.jobs.record import RecordReport, record
from predibot.jobs.track import TrackReport, track
from predibot.ledger.store import Store
from predibot.ledger.write.runs import void_run
from predibot.plugins.venues import default_venue


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: its settings and its clock, and how it hears what is being done."""

    settings: Callable[[], Settings]
    """Read where they are needed, and not before."""
    clock: Clock
    say: Callable[[str], None]
    """Told in a line what is worked with."""
    progress: Callable[[], AbstractContextManager[ProgressListener]]

    @contextmanager
    def following(self, store: Store) -> Iterator[ProgressListener]:
        """Say which ledger it is, and listen while something is done with it."""
        self.say(f"ledger: {store.address}")
        with self.progress() as listener:
            yield listener


def decide_as_asked(
    request: RunRequest,
    caller: Caller,
    *,
    ledger: str,
    venue: str | None = None,
    as_of: datetime | None = None,
    settings: Settings | None = None,
    processes: int | None = None,
    watching: Callable[[], AbstractContextManager[tuple[ProgressListener, Watch]]],
) -> DecideReport:
    """Choose or resume the run of the slot, and make every decision that is missing.

    Args:
        request: What is asked for.
        caller: Who asks.
        ledger: Its URL.
        venue: Left out, the recipe's.
        as_of: See nothing later than this.
        settings: Left out, the caller's.
        processes: How many do the work; left out, threads of this one.
        watching: Follows what every bot does.

    Raises:
        PredibotError: As `decide`; or if ledger or venue cannot be opened.
    """
    settings = settings or caller.settings()
    with opened_for(request, caller, settings, venue, as_of) as opened, Store.open(ledger) as store:
        caller.say(f"ledger: {store.address}")
        with watching() as (listener, watch):
            return decide(
                request,
                store=store,
                opened=opened,
                settings=settings,
                clock=caller.clock,
                listener=listener,
                watch=watch,
                processes=Processes(processes, ledger) if processes else None,
            )


def opened_for(
    request: RunRequest, caller: Caller, settings: Settings, venue: str | None, as_of: datetime | None
) -> OpenVenue:
    """Return the venue a run is decided on, open."""
    return open_venue(venue or request.recipe.venue, settings, as_of=as_of, purpose="decide", clock=caller.clock)


def choose_as_asked(request: RunRequest, opened: OpenVenue, caller: Caller) -> Choice:
    """Return which events a run would play; nothing is stored."""
    with caller.progress() as listener:
        return choose(
            opened.venue, request.recipe.selection, opened.now, only_event_id=request.event_id, listener=listener
        )


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
    with open_venue(spec, settings, as_of=as_of, purpose="look_back", clock=caller.clock) as opened:
        return track(store=store, opened=opened, settings=settings, listener=listener, own_runs=own_runs)


def record_as_asked(
    folder: Path, caller: Caller, *, venue: str | None, as_of: datetime | None, events: int, days: float
) -> RecordReport:
    """Write a snapshot of a venue's most traded events, and what is new about all markets of the archive.

    Raises:
        VenueUnavailable: If some prices could not be read, after the rest is written.
        PredibotError: As `record`; or if the venue cannot be opened.
    """
    settings = caller.settings()
    with (
        open_venue(venue or default_venue(), settings, as_of=as_of, purpose="decide", clock=caller.clock) as opened,
        caller.progress() as listener,
    ):
        report = record(
            folder,
            opened=opened,
            settings=settings,
            events=events,
            days=days,
            clock=caller.clock,
            listener=listener,
        )
    if report.incomplete:
        raise VenueUnavailable(f"{'; '.join(report.notes)}. The rest is written; run `predibot record` again")
    return report


def void_as_asked(key: str, caller: Caller, *, ledger: str, reason: str) -> None:
    """Take a run out of all scores; it stays on record.

    Raises:
        PredibotError: As `void_run`; or if the ledger cannot be opened.
    """
    with Store.open(ledger, create=False) as store:
        caller.say(f"ledger: {store.address}")
        with store.write() as connection:
            void_run(connection, key, reason=reason, at=caller.clock())
