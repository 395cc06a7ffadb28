"""Tracking: new prices and resolutions of every market the ledger knows, each stored once."""

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection

from predibot.config import Settings
from predibot.contracts import OpenVenue, ProgressListener, Venue
from predibot.domain.clock import format_instant
from predibot.domain.event import Event, Market, MarketRef
from predibot.domain.price import PricePoint
from predibot.domain.resolution import Resolution, latest_known
from predibot.domain.spelling import first_of
from predibot.errors import UsageError, VenueError
from predibot.jobs.deciding.accounts.advance import late_actions
from predibot.jobs.deciding.venue_board import FEW_EVENTS
from predibot.jobs.price_histories import MAX_FAILURES_IN_A_ROW, read_histories, shorten_failures
from predibot.ledger.store import Store
from predibot.ledger.write.events import market_refs
from predibot.ledger.write.prices_and_resolutions import (
    TrackedInstrument,
    add_observations,
    add_unseen_resolutions,
    list_tracked_instruments,
    note_tracking,
    read_resolutions,
)

_log = logging.getLogger(__name__)

_OVERLAP = timedelta(hours=2)
"""Venues publish points of their history a little late."""


@dataclass(frozen=True, slots=True)
class TrackReport:
    """The result of one call of `track`."""

    as_of: datetime
    markets: int
    observations: int
    resolutions: int
    notes: tuple[str, ...]
    incomplete: bool
    """Whether something could not be read; the rest is stored."""

    @classmethod
    def sum_of(cls, reports: "Sequence[TrackReport]") -> "TrackReport":
        """Return one report for several venues."""
        return cls(
            as_of=max(each.as_of for each in reports),
            markets=sum(each.markets for each in reports),
            observations=sum(each.observations for each in reports),
            resolutions=sum(each.resolutions for each in reports),
            notes=tuple(note for each in reports for note in each.notes),
            incomplete=any(each.incomplete for each in reports),
        )


@dataclass(frozen=True, slots=True)
class _Window:
    """A stretch of an instrument's history that is not stored yet."""

    of: TrackedInstrument
    start: datetime
    until: datetime
    whole: bool
    """Whether nothing can be added to it later: a stored stretch follows, or its market is settled."""


def track(
    *, store: Store, opened: OpenVenue, settings: Settings, listener: ProgressListener, own_runs: bool = False
) -> TrackReport:
    """Store what is new about every market of the venue that the ledger knows.

    Each history is stored as it arrives, so an interrupted call keeps what it read, and the next goes on from there.

    Args:
        own_runs: Whether to take only markets of runs on this very venue: two archives know different markets.

    Raises:
        VenueUnavailable: If the venue does not answer at all.
        VenueChanged: If its resolutions break the contract.
    """
    venue, as_of = opened.venue, opened.now
    known, refs, settled, resolution_notes = _track_resolutions(store, opened, own_runs=own_runs)
    stored = store.run_read(lambda connection: read_resolutions(connection, venue.name))
    ended = {row: last for row, revisions in stored.items() if (last := latest_known(revisions, as_of)) is not None}
    windows = [window for each in known for window in _windows(each, as_of, ended.get(each.market_row))]
    points, failures = read_histories(
        {window: window.of.instrument.id for window in windows},
        lambda window: venue.price_path(window.of.instrument, start=window.start, until=window.until).points,
        partial(_store_windows, store),
        "track",
        settings.workers,
        listener,
    )
    if venue.live:
        quoted, quote_failures, gone = _track_quotes(store, venue, known, refs, ended)
        points, failures = points + quoted, [*failures, *quote_failures]
        resolution_notes += gone
    _log.info("%d markets as of %s: %d new prices", len(refs), format_instant(as_of), points)
    late: tuple[str, ...] = ()
    if venue.has_sessions:
        late = store.run_read(partial(late_actions, venue=venue, spec=opened.spec, until=as_of))
    for failure in failures:
        _log.info("not read: %s", failure)
    return TrackReport(
        as_of=as_of,
        markets=len(refs),
        observations=points,
        resolutions=settled,
        notes=(*resolution_notes, *late, *shorten_failures(failures)),
        incomplete=bool(failures),
    )


def track_resolutions(store: Store, opened: OpenVenue) -> None:
    """Store how markets of runs on this very venue ended, if that is new, but no prices.

    Raises `VenueUnavailable` or `VenueChanged` as `track` does.
    """
    _track_resolutions(store, opened, own_runs=True)


def _track_resolutions(
    store: Store, opened: OpenVenue, *, own_runs: bool
) -> tuple[tuple[TrackedInstrument, ...], Mapping[int, MarketRef], int, list[str]]:
    """Return instruments, their markets by row, how many revisions are new, and notes on those not read."""
    venue, as_of = opened.venue, opened.now
    with store.read() as connection:
        known = list_tracked_instruments(connection, venue.name, spec=opened.spec if own_runs else None)
        playing = {each.market_row for each in known}
        refs = {row: ref for row, ref in market_refs(connection, venue.name).items() if row in playing}
        stored = read_resolutions(connection, venue.name)
    if not refs:
        return known, refs, 0, []
    page = venue.resolutions(tuple(refs.values()), as_of=as_of)
    reported = {row: page.found.get(ref.id, ()) for row, ref in refs.items()}
    new = store.run_write(partial(add_unseen_resolutions, stored=stored, reported=reported, seen_at=as_of))
    notes = [f"the resolution of market {skip.id} could not be read: {skip.reason}" for skip in page.skipped]
    return known, refs, new, notes


def _windows(each: TrackedInstrument, as_of: datetime, ended: Resolution | None) -> Iterator[_Window]:
    # After its settlement a market's price is its payout.
    settled = ended is not None and ended.settled_at <= as_of
    until = ended.settled_at if ended is not None and settled else as_of
    begin, end = each.tracked_from, each.tracked_until
    if begin is None or end is None:
        if until > each.wanted_from:
            yield _Window(each, each.wanted_from, until, whole=settled)
        return
    if each.wanted_from < min(begin, until):
        yield _Window(each, each.wanted_from, min(begin, until), whole=True)
    if until > end:
        yield _Window(each, max(begin, end - _OVERLAP), until, whole=settled)


def _store_windows(store: Store, read: Sequence[tuple[_Window, Sequence[PricePoint]]]) -> int:
    points, stretches = dict[int, list[PricePoint]](), list[tuple[int, datetime, datetime]]()
    for window, found in read:
        # An empty history may be a missing answer, so it is read again next time.
        if found:
            points.setdefault(window.of.row, []).extend(found)
            # More points for the time until now may still be published or recorded.
            until = window.until if window.whole else max(point.at for point in found)
            stretches.append((window.of.row, window.start, until))

    def keep(connection: Connection) -> int:
        new = add_observations(connection, points, "history")
        note_tracking(connection, stretches)
        return new

    return store.run_write(keep) if points else 0


def _track_quotes(
    store: Store,
    venue: Venue,
    known: Sequence[TrackedInstrument],
    refs: Mapping[int, MarketRef],
    settled: Collection[int],
) -> tuple[int, list[str], list[str]]:
    """Store a quote of every unsettled market of a live venue as an observation; return how many are new, and notes.

    The first notes are what could not be read, the second on events that the venue does not know any more.
    """
    open_now = [each for each in known if each.market_row not in settled]
    # A quote is keyed by its market, or by its instrument in a market of more than two outcomes.
    rows = {each.instrument.id if each.is_named else refs[each.market_row].id: each for each in open_now}
    by_event: dict[str, dict[str, Market]] = {}
    for each in open_now:
        ref = refs[each.market_row]
        by_event.setdefault(each.event_id, {})[ref.id] = Market(ref, ref.id, ("YES", "NO"))
    new, failures, gone, in_a_row = 0, list[str](), list[str](), 0
    for event_id, markets in by_event.items():
        try:
            quotes = venue.quotes(Event(event_id, "", tuple(markets.values())))
            in_a_row = 0
        except UsageError:
            gone.append(event_id)
            continue
        except VenueError as error:
            failures.append(f"quotes of event {event_id} could not be read: {error}")
            in_a_row += 1
            if in_a_row >= MAX_FAILURES_IN_A_ROW:
                failures.append("the quotes of further events were not asked for")
                break
            continue
        points = {
            rows[name].row: [PricePoint(quote.at, quote.price.yes)]
            for name, quote in quotes.items()
            if quote.price is not None and name in rows
        }
        new += store.run_write(partial(add_observations, points=points, source="quote"))
    if not gone:
        return new, failures, []
    note = f"the venue has no event any more of open markets ({len(gone)}): {first_of(gone, 10)}"
    # Where most events are gone, the venue's address has probably changed.
    is_address = len(gone) > max(FEW_EVENTS, len(by_event) // 2)
    return new, [*failures, *([note] if is_address else [])], [] if is_address else [note]
