"""Recording: a live venue's raw answers, written as an archive that replays them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import as_completed, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from predibot.config import Settings
from predibot.contracts import OpenVenue, PayloadReader, Progress, ProgressListener, RecordableVenue
from predibot.domain.event import Event, MarketRef
from predibot.domain.resolution import Resolution
from predibot.errors import UsageError, VenueError
from predibot.jobs.daemon_threads import DaemonThreadExecutor
from predibot.plugins.venues import payloads_of
from predibot.venues.archive.layout import price_file, read_json, read_series, snapshot_file, snapshot_instants
from predibot.venues.archive.reader import Archive
from predibot.venues.archive.writer import merge_history, merge_resolutions, write_snapshot, write_venue

_SHOWN = 3
_MAX_FAILURES_IN_A_ROW = 5
"""After so many the venue is taken to be out of reach, and nobody waits for the rest."""


@dataclass(frozen=True, slots=True)
class RecordReport:
    """What one call of `record` wrote."""

    snapshot: Path
    events: int
    markets: int
    points: int
    """New points of price histories."""
    resolutions: int
    """New or corrected ones."""
    notes: tuple[str, ...]
    incomplete: bool
    """Whether prices could not be read; what could is written."""


def record(
    folder: Path,
    *,
    opened: OpenVenue,
    settings: Settings,
    events: int,
    days: float,
    clock: Callable[[], datetime],
    listener: ProgressListener,
) -> RecordReport:
    """Write a snapshot of a venue's most traded events, and what is new about all markets of the archive.

    Payloads are written as the venue sent them, before any parsing. Recording
    again adds a snapshot, later prices, and resolutions.

    Args:
        folder: The archive; made where it does not exist.
        opened: What is recorded.
        settings: How many histories are read at once.
        events: How many events, the most traded of the week first; 0 for all.
        days: How far back the prices of a market begin that is new to the archive.
        clock: The time.
        listener: Who wants to know how far it is.

    Raises:
        UsageError: If the venue is itself an archive, or the folder cannot be written.
        VenueError: If the list could not be read whole.
    """
    venue = opened.venue
    payloads = payloads_of(venue.name)
    if payloads is None or not isinstance(venue, RecordableVenue):
        raise UsageError(f"{opened.spec} cannot be recorded, or is a recording already; record from another venue")
    known = _known_refs(folder)
    raw = _raw_events(venue, events, listener)
    # The list took a while to read: it is of the instant at which it was whole.
    now = clock() if venue.live else opened.now
    write_venue(folder, venue.name)
    snapshot = _written(folder, now, raw)
    refs = {ref.id: ref for ref in (*known, *_refs_of(raw, now, payloads))}
    resolved, unread = _record_resolutions(folder, venue, list(refs.values()), now)
    points, failures = _record_histories(folder, venue, list(refs.values()), now, days, settings.workers, listener)
    notes = (*_shortened(unread), *_shortened(failures))
    return RecordReport(snapshot, len(raw), len(refs), points, resolved, notes, incomplete=bool(failures))


def _written(folder: Path, now: datetime, raw: Sequence[object]) -> Path:
    """Return where the snapshot is; the very same one may be there, when the rest of a recording is completed."""
    path = snapshot_file(folder, now)
    return path.parent if path.is_file() and read_json(folder, path) == raw else write_snapshot(folder, now, raw)


def _raw_events(venue: RecordableVenue, events: int, listener: ProgressListener) -> list[object]:
    def enough(so_far: Sequence[object]) -> bool:
        listener(Progress("events", len(so_far), text="reading the venue's list"))
        return 0 < events <= len(so_far)

    raw = [payload for page in venue.raw_events(enough=enough) for payload in page]
    return raw[:events] if events else raw


def _known_refs(folder: Path) -> list[MarketRef]:
    """Return every market of the snapshots there are, so that its prices and its end are recorded too."""
    if not folder.is_dir() or not snapshot_instants(folder):
        return []
    archive = Archive(folder)
    return [ref for at in archive.instants for ref in _refs(archive.events(at).events)]


def _refs_of(raw: Iterable[object], now: datetime, payloads: PayloadReader) -> list[MarketRef]:
    parsed = (payloads.event(payload, now)[0] for payload in raw)
    return _refs(event for event in parsed if event is not None)


def _refs(events: Iterable[Event]) -> list[MarketRef]:
    return [market.ref for event in events for market in event.markets]


def _record_resolutions(
    folder: Path, venue: RecordableVenue, refs: Sequence[MarketRef], now: datetime
) -> tuple[int, list[str]]:
    """Write what is settled, and return how many resolutions were new and what could not be read."""
    page = venue.resolutions(refs, as_of=now)
    rows: Mapping[str, Resolution] = {
        ref.condition_id: page.found[ref.id][-1]
        for ref in refs
        if ref.id in page.found and ref.condition_id is not None
    }
    unread = [f"the resolution of market {skip.id} could not be read: {skip.reason}" for skip in page.skipped]
    return (merge_resolutions(folder, rows, seen_at=now) if rows else 0), unread


def _record_histories(
    folder: Path,
    venue: RecordableVenue,
    refs: Sequence[MarketRef],
    now: datetime,
    days: float,
    workers: int,
    listener: ProgressListener,
) -> tuple[int, list[str]]:
    """Read the histories of both sides at once, write each as it arrives, and return new points and what failed."""
    tokens = list(dict.fromkeys(token for ref in refs for token in ref.token_ids))
    executor = DaemonThreadExecutor(workers)
    first = now - timedelta(days=days)
    reading = {executor.submit(venue.raw_history, token, _last(folder, token) or first, now): token for token in tokens}
    new, failures, in_a_row = 0, list[str](), 0
    try:
        for done, future in enumerate(as_completed(reading), start=1):
            listener(Progress("record", done, len(tokens), "price histories"))
            error = future.exception()
            if error is None:
                in_a_row = 0
                new += merge_history(folder, reading[future], future.result())
            elif isinstance(error, VenueError):
                in_a_row += 1
                failures.append(f"prices of {reading[future]} could not be read: {error}")
            else:
                raise error
            if in_a_row >= _MAX_FAILURES_IN_A_ROW:
                failures.append(f"{len(tokens) - done} more price histories were not asked for")
                executor.shutdown(cancel_futures=True)
                # Those under way end at their deadline; their connections are to be closed after them.
                wait([future for future in reading if not future.cancelled()])
                break
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
    return new, failures


def _shortened(failures: Sequence[str]) -> list[str]:
    left = len(failures) - _SHOWN
    return [*failures[:_SHOWN], *([f"{left} more could not be read"] if left > 0 else [])]


def _last(folder: Path, token_id: str) -> datetime | None:
    """Return the instant of the last point that is recorded, or None."""
    path = price_file(folder, token_id)
    series = read_series(folder, path) if path is not None else ()
    return series[-1][0] if series else None
