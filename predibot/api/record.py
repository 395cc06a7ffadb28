"""Recording: a venue's raw answers become an archive, and daily prices of stocks a folder of CSV files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from predibot.contracts import Progress, ProgressListener, Venue
from predibot.domain.clock import short_instant
from predibot.domain.event import Event, MarketRef
from predibot.domain.resolution import Resolution
from predibot.errors import UsageError, VenueUnavailable
from predibot.jobs.caller import Caller
from predibot.jobs.open_venue import open_venue
from predibot.jobs.price_histories import read_histories, shorten_failures
from predibot.plugins.venues import default_venue, venue_or_defaults
from predibot.sandbox.stocks.folder import SIMULATED_FILE
from predibot.venues.archive.layout import price_file, read_json, read_series, snapshot_file, snapshot_instants
from predibot.venues.archive.reader import Archive
from predibot.venues.archive.writer import merge_history, merge_resolutions, write_snapshot, write_venue
from predibot.venues.stocks import recording
from predibot.venues.stocks.providers import check_provider, open_provider
from predibot.venues.stocks.recording import RecordingResult, check_ticker, list_tickers, missing_days


@dataclass(frozen=True, slots=True)
class RecordReport:
    """What one call of `record` wrote."""

    snapshot: Path
    events: int
    markets: int
    points: int
    resolutions: int
    """New or corrected resolutions."""
    notes: tuple[str, ...]


def record(
    folder: Path, caller: Caller, *, venue: str | None, as_of: datetime | None, events: int, days: float
) -> RecordReport:
    """Write a snapshot of a venue's most traded events, and what is new about all markets of the archive.

    Payloads are written as the venue sent them. Recording again adds a snapshot, later prices, and resolutions.

    Args:
        folder: The archive; made where it does not exist.
        venue: None is the default venue.
        as_of: Nothing later is seen.
        events: How many events, the most traded of the week first; 0 for all.
        days: How far back prices begin for a market that is new to the archive.

    Raises:
        UsageError: If the venue is itself an archive, or the folder cannot be written.
        VenueError: If it cannot be read whole; after the rest is written, also if some prices are missing.
    """
    settings, clock = caller.settings(), caller.clock
    with (
        open_venue(venue or default_venue(), settings, as_of=as_of, purpose="decide", clock=clock) as opened,
        caller.progress() as listener,
    ):
        source = opened.venue
        payloads = venue_or_defaults(source.name).payloads
        if payloads is None or not source.is_recordable:
            raise UsageError(f"{opened.spec} cannot be recorded, or is a recording already; record from another venue")
        known = _known_refs(folder)
        raw = _raw_events(source, events, listener)
        # The list took a while to read; its instant is the end of the reading.
        now = clock() if source.live else opened.now
        write_venue(folder, source.name)
        path = snapshot_file(folder, now)
        # The same snapshot exists when a failed recording is completed.
        is_there = path.is_file() and read_json(folder, path) == raw
        snapshot = path.parent if is_there else write_snapshot(folder, now, raw)
        listed = (payloads.event(payload, now)[0] for payload in raw)
        every = (*known, *_refs(event for event in listed if event is not None))
        refs = list({ref.id: ref for ref in every}.values())
        resolved, unread = _record_resolutions(folder, source, refs, now)
        first_at = _days_before(now, days)
        points, failures = read_histories(
            {token: token for ref in refs for token in ref.token_ids},
            lambda token: source.raw_history(token, _last_point_at(folder, token) or first_at, now),
            lambda histories: sum(merge_history(folder, token, points) for token, points in histories),
            "record",
            settings.workers,
            listener,
        )
    notes = (*shorten_failures(unread), *shorten_failures(failures))
    if failures:
        raise VenueUnavailable(f"{'; '.join(notes)}. The rest is written; run the same command again")
    return RecordReport(snapshot, len(raw), len(refs), points, resolved, notes)


def _raw_events(venue: Venue, events: int, listener: ProgressListener) -> list[object]:
    def enough(so_far: Sequence[object]) -> bool:
        listener(Progress("events", len(so_far), text="reading the venue's list"))
        return 0 < events <= len(so_far)

    raw = [payload for page in venue.raw_events(enough=enough) for payload in page]
    return raw[:events] if events else raw


def _known_refs(folder: Path) -> list[MarketRef]:
    """Return every market in earlier snapshots, whose prices and resolutions are recorded too."""
    if not folder.is_dir() or not snapshot_instants(folder):
        return []
    archive = Archive(folder)
    return [ref for at in archive.instants for ref in _refs(archive.events(at).events)]


def _refs(events: Iterable[Event]) -> list[MarketRef]:
    return [market.ref for event in events for market in event.markets]


def _record_resolutions(folder: Path, venue: Venue, refs: Sequence[MarketRef], now: datetime) -> tuple[int, list[str]]:
    page = venue.resolutions(refs, as_of=now)
    rows: dict[str, Resolution] = {ref.resolution_key: page.found[ref.id][-1] for ref in refs if ref.id in page.found}
    # Outcomes are stored in the order that the snapshots have.
    rows |= {key: rows[key].in_order((1, 0)) for key in rows.keys() & Archive(folder).no_first(now)}
    unread = [f"the resolution of market {skip.id} could not be read: {skip.reason}" for skip in page.skipped]
    return (merge_resolutions(folder, rows, seen_at=now) if rows else 0), unread


def _days_before(now: datetime, days: float) -> datetime:
    try:
        return now - timedelta(days=days)
    except (OverflowError, ValueError):
        raise UsageError(f"{days:g} days before {short_instant(now)} is no date; ask for fewer") from None


def _last_point_at(folder: Path, token_id: str) -> datetime | None:
    path = price_file(folder, token_id)
    series = read_series(folder, path) if path is not None else ()
    return series[-1][0] if series else None


def record_stocks(
    folder: Path, caller: Caller, *, provider: str, tickers: Sequence[str], as_of: datetime | None, days: float
) -> RecordingResult:
    """Add missing prices of stocks to a folder of the venue `stocks`, one stock after the other; a missing folder is
    made.

    `provider` is one of `PROVIDERS`; its key, if it wants one, is in the environment. Days whose close was not known
    `as_of` then are left out. A stock that is new to the folder begins so many `days` back. Raises `UsageError` if
    there is no such provider, key or ticker, or a file has another layout, and `VenueUnavailable` if some stocks could
    not be read; the rest is written.
    """
    settings, now = caller.settings(), as_of or caller.clock()
    check_provider(provider)
    names = tuple(dict.fromkeys(map(check_ticker, tickers))) or list_tickers(folder)
    if not names:
        raise UsageError(f"{folder} has no stocks yet; name some with --tickers AAPL,MSFT,SPY")
    if (folder / SIMULATED_FILE).exists():
        raise UsageError(f"{folder} has simulated stocks, as its {SIMULATED_FILE} says; record into another folder")
    since = _days_before(now, days).date()
    with open_provider(provider, settings, caller.clock) as source, caller.progress() as listener:
        recorded = recording.record_stocks(folder, source, names, since=since, now=now, listener=listener)
    notes = (*recorded.notes, *missing_days(folder, names))
    if recorded.failures:
        message = "; ".join((*shorten_failures([*recorded.failures]), *notes))
        raise VenueUnavailable(f"{message}. The rest is written; run the same command again")
    return replace(recorded, notes=notes)
