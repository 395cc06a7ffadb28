"""The archive venue: recorded snapshots, prices and resolutions, served strictly as of an instant.

Law: nothing recorded after the instant changes any answer. Of later snapshots only names are seen; later price points
and resolutions are not even checked.
"""

import shutil
import tempfile
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path

from predibot.contracts import OpenVenue, ResolutionPage, Venue
from predibot.domain.clock import format_instant
from predibot.domain.event import Event, EventPage, Market, MarketRef, Skip
from predibot.domain.price import Instrument, PricePath, PricePoint, Quote
from predibot.domain.resolution import Resolution
from predibot.errors import UsageError, VenueChanged, VenueError
from predibot.plugins.venues import venue_or_defaults
from predibot.venues import fields
from predibot.venues.archive import layout
from predibot.venues.archive.resolutions import revision_instant, revisions_as_of

MAX_QUOTE_AGE = timedelta(hours=24)
MAX_CACHED_SERIES = 2_000
MAX_CACHED_POINTS = 500_000
"""Each takes about 140 bytes."""
MAX_ENTRIES = 20_000
"""Events and markets of a snapshot together; each has about 180 values, and a file at most 3 million."""
BINARY_OUTCOME = "binary_outcome"


class Archive(Venue):
    """A venue of the past, with the recorded venue's instruments; where only NO was recorded, YES has no history."""

    live = False
    name = ""

    def __init__(self, folder: Path) -> None:
        """Open an archive; raise `UsageError` without a folder or a snapshot, or if no installed venue reads it."""
        if not folder.is_dir():
            raise UsageError(f"there is no archive folder {folder}; name one that `predibot record FOLDER` wrote")
        self.folder = folder
        self.name = layout.read_venue_name(folder)
        payloads = venue_or_defaults(self.name).payloads
        if payloads is None:
            raise UsageError(f"{folder} is a recording of venue {self.name!r}, which no package here reads; install it")
        self._payloads = payloads
        self._lock = threading.Lock()
        self._series: OrderedDict[layout.FileKey, layout.Series | layout.BrokenFile] = OrderedDict()
        """Prices by file, so that links to one file are read once; the error of a broken file."""
        self._keys: dict[str, layout.FileKey | None] = {}
        self._points = 0
        self._snapshot: tuple[datetime, list[object]] | None = None
        self._resolutions: Mapping[str, object] | None = None
        self._no_first: list[frozenset[str]] = [frozenset()]
        """Which markets the first snapshots list with No before Yes; grows with the snapshots looked at."""
        self.instants = layout.snapshot_instants(folder)
        if not self.instants:
            raise UsageError(f"{folder} holds no snapshots; name a folder that `predibot record FOLDER` wrote")

    def check(self, instant: datetime) -> None:
        """Refuse an instant before the first snapshot."""
        if instant < self.instants[0]:
            first = format_instant(self.instants[0])
            raise UsageError(
                f"{self.folder} has no snapshot at or before {format_instant(instant)}; its first is of {first}"
            )

    def known_until(self) -> datetime:
        """Return the instant of the last valid snapshot, price or resolution.

        Raises `VenueError` if the folder or `resolutions.json` cannot be read.
        """
        return max(chain([self.instants[-1]], self._resolution_instants(), self._last_price_instants()))

    def _resolution_instants(self) -> Iterator[datetime]:
        for stored in self._read_resolutions().values():
            for row in stored if isinstance(stored, list) else [stored]:
                with suppress(ValueError):
                    yield revision_instant(row)

    def _last_price_instants(self) -> Iterator[datetime]:
        files = {self._key_of(path): path for path in layout.price_files(self.folder)}
        for path in files.values():
            with suppress(layout.BrokenFile):
                if series := self._series_at(path):
                    yield series[-1][0]

    def events(self, as_of: datetime, *, enough: Callable[[Sequence[Event]], bool] | None = None) -> EventPage:
        """Return the events of the latest snapshot by the instant, in the file's order; closed ones too. A snapshot is
        read whole, so `enough` is not called. Raises `UsageError` if no snapshot is that old.
        """
        taken_at, payloads = self._snapshot_at(as_of)
        events: dict[str, Event] = {}
        skipped: list[Skip] = []
        entries = len(payloads)
        for payload in payloads:
            event, skips = self._payloads.event(payload, taken_at)
            skipped.extend(skips)
            if event is None:
                continue
            entries += len(event.markets) + len(skips)
            if entries > MAX_ENTRIES:
                raise self._too_many_entries(taken_at)
            if event.id in events:
                skipped.append(Skip("event", event.id, "the snapshot lists it twice; the first is taken"))
                continue
            events[event.id] = self._as_of(event, taken_at=taken_at, as_of=as_of, skipped=skipped)
        return EventPage(tuple(events.values()), tuple(skipped))

    def event(self, event_id: str, as_of: datetime) -> Event:
        """Return an event of the latest snapshot by the instant."""
        taken_at, payloads = self._snapshot_at(as_of)
        payload = next((payload for payload in payloads if self._payloads.id(payload) == event_id), None)
        if payload is None:
            raise UsageError(
                f"the snapshot of {format_instant(taken_at)} has no event {event_id[:100]!r} among its {len(payloads)}"
            )
        event, skips = self._payloads.event(payload, taken_at)
        if event is None:
            raise VenueChanged(f"event {event_id} of the snapshot of {format_instant(taken_at)}: {skips[0].reason}")
        return self._as_of(event, taken_at=taken_at, as_of=as_of, skipped=[])

    def price_path(self, instrument: Instrument, *, start: datetime, until: datetime) -> PricePath:
        """Return the recorded prices of a token with start < at <= until; later ones are not checked."""
        path = layout.price_file(self.folder, instrument.id) if instrument.kind == BINARY_OUTCOME else None
        series = () if path is None else self._series_at(path)
        first = bisect_right(series, start, key=lambda row: row[0])
        last = bisect_right(series, until, key=lambda row: row[0])
        return PricePath(instrument, tuple(self._point(instrument, row) for row in series[first:last]))

    def resolutions(self, markets: Sequence[MarketRef], *, as_of: datetime) -> ResolutionPage:
        """Return the revisions of these markets that were effective and resolved by the instant."""
        found: dict[str, tuple[Resolution, ...]] = {}
        skipped: list[Skip] = []
        for ref in markets:
            try:
                revisions = self._revisions(ref, as_of)
            except ValueError as error:
                skipped.append(Skip("resolution", ref.id, str(error)))
                continue
            if revisions:
                found[ref.id] = revisions
        return ResolutionPage(found, tuple(skipped))

    def no_first(self, as_of: datetime) -> frozenset[str]:
        """Return the `resolution_key`s of markets that snapshots by an instant list with No before Yes."""
        with self._lock:
            for at in self.instants[len(self._no_first) - 1 : bisect_right(self.instants, as_of)]:
                found = self._no_first[-1]
                # No market of an unreadable snapshot is played.
                with suppress(OSError, ValueError, VenueError):
                    if layout.may_list_no_first(self.folder, layout.snapshot_file(self.folder, at)):
                        found = found.union(*map(self._payloads.no_first, self._read_snapshot(at)))
                self._no_first.append(found)
            return self._no_first[bisect_right(self.instants, as_of)]

    def quotes(self, event: Event) -> Mapping[str, Quote]:
        """Return the event's own quotes: the past has no fresher ones."""
        playing = [market for market in event.markets if market.is_tradable]
        quotes = {market.id: market.quote for market in playing if not market.is_named}
        for market in (market for market in playing if market.is_named):
            names = [instrument.id for instrument in market.instruments(self.name)]
            quotes |= dict(zip(names, market.outcome_quotes, strict=True))
        return {name: quote for name, quote in quotes.items() if quote is not None}

    def _snapshot_at(self, as_of: datetime) -> tuple[datetime, list[object]]:
        self.check(as_of)
        taken_at = self.instants[bisect_right(self.instants, as_of) - 1]
        with self._lock:
            if self._snapshot is None or self._snapshot[0] != taken_at:
                self._snapshot = (taken_at, self._read_snapshot(taken_at))
            return self._snapshot

    def _read_snapshot(self, taken_at: datetime) -> list[object]:
        path = layout.snapshot_file(self.folder, taken_at)
        payload = layout.read_json(self.folder, path)
        if payload is None:
            raise VenueChanged(f"{path} is missing; take the snapshot out of the archive or record it again")
        if not isinstance(payload, list):
            raise VenueChanged(f"{path} is not a list of events; take the snapshot out of the archive")
        if len(payload) > MAX_ENTRIES:
            raise self._too_many_entries(taken_at)
        return payload

    def _too_many_entries(self, taken_at: datetime) -> VenueChanged:
        path = layout.snapshot_file(self.folder, taken_at)
        return VenueChanged(
            f"{path} lists more than {MAX_ENTRIES:,} events and markets; take the snapshot out of the archive, "
            "or record less at once"
        )

    def _as_of(self, event: Event, *, taken_at: datetime, as_of: datetime, skipped: list[Skip]) -> Event:
        """Return an event without anything known only later: a settled market is closed, and an old quote is replaced.
        A market whose prices are needed for that and cannot be read is left out and noted.
        """
        stale = as_of - taken_at > MAX_QUOTE_AGE
        markets = []
        for market in event.markets:
            try:
                known = self._quote_from_history(market, as_of) if stale else market
            except layout.BrokenFile as error:
                skipped.append(Skip("market", market.id, str(error), event.id))
                continue
            closed = market.closed or self._is_resolved(market.ref, as_of)
            markets.append(replace(known, closed=closed))
        return replace(event, markets=tuple(markets))

    def _is_resolved(self, ref: MarketRef, as_of: datetime) -> bool:
        """Return whether a resolution is known; a malformed one is reported by `resolutions`."""
        try:
            return bool(self._revisions(ref, as_of))
        except ValueError:
            return False

    def _quote_from_history(self, market: Market, as_of: datetime) -> Market:
        """Return a market with the last prices of its tokens; YES alone for two outcomes."""
        asked = market.instruments(self.name)[: None if market.is_named else 1]
        quotes = [self._history_quote(instrument, as_of) for instrument in asked]
        names = [instrument.id for instrument in asked] if market.is_named else [market.id]
        return market.with_quotes({name: quote for name, quote in zip(names, quotes, strict=True) if quote is not None})

    def _history_quote(self, instrument: Instrument, as_of: datetime) -> Quote | None:
        # A path excludes its start, and a price of exactly 24 hours counts.
        start = as_of - MAX_QUOTE_AGE - timedelta(microseconds=1)
        points = self.price_path(instrument, start=start, until=as_of).points
        return Quote(at=points[-1].at, history=points[-1].price) if points else None

    def _revisions(self, ref: MarketRef, as_of: datetime) -> tuple[Resolution, ...]:
        stored = self._read_resolutions().get(ref.resolution_key)
        known = () if stored is None else revisions_as_of(stored, as_of=as_of)
        if known and ref.resolution_key in self.no_first(as_of):
            return tuple(each if each.payouts else each.in_order((1, 0)) for each in known)
        return known

    def _read_resolutions(self) -> Mapping[str, object]:
        with self._lock:
            if self._resolutions is None:
                path = self.folder / layout.RESOLUTIONS_FILE
                payload = layout.read_json(self.folder, path)
                if payload is not None and not isinstance(payload, dict):
                    raise VenueChanged(f"{path} is not an object of condition ids; take it out of the archive")
                self._resolutions = payload or {}
            return self._resolutions

    def _series_at(self, path: Path) -> layout.Series:
        key = self._key_of(path)
        if key is None:
            return ()
        # Under the lock, so that no two threads read large files at once.
        with self._lock:
            if key not in self._series:
                try:
                    self._cache_series(key, layout.read_series(self.folder, path))
                except layout.BrokenFile as error:
                    # A new error, because the frames of the old one keep what was read in memory.
                    self._cache_series(key, layout.BrokenFile(str(error)))
            self._series.move_to_end(key)
            series = self._series[key]
        if isinstance(series, layout.BrokenFile):
            raise layout.BrokenFile(str(series))
        return series

    def _key_of(self, path: Path) -> layout.FileKey | None:
        with self._lock:
            if path.stem not in self._keys:
                self._keys[path.stem] = layout.file_key(self.folder, path)
            return self._keys[path.stem]

    def _cache_series(self, key: layout.FileKey, series: layout.Series | layout.BrokenFile) -> None:
        """Cache a file's prices and drop those used longest ago; the caller has the lock."""
        self._series[key] = series
        self._points += _point_count(series)
        while len(self._series) > 1 and (len(self._series) > MAX_CACHED_SERIES or self._points > MAX_CACHED_POINTS):
            self._points -= _point_count(self._series.popitem(last=False)[1])

    def _point(self, instrument: Instrument, row: layout.Row) -> PricePoint:
        """Return a point; it is checked only when it may be seen."""
        try:
            return PricePoint(row[0], fields.require_price(row[1]))
        except ValueError as error:
            at = format_instant(row[0])
            raise layout.BrokenFile(f"the price of token {instrument.id} at {at} cannot be read: {error}") from error


def _point_count(series: layout.Series | layout.BrokenFile) -> int:
    return 0 if isinstance(series, layout.BrokenFile) else len(series)


def write_cut(folder: Path, into: Path, instant: datetime) -> None:
    """Write an archive without anything later than an instant into an empty folder.

    Up to the instant it answers as the whole archive does. A malformed price file or resolution is copied as it is, so
    that its complaint stays the same. Files without anything later become hard links where the disk allows it. Raises
    `UsageError` if the cut cannot be written, and `VenueError` if the archive cannot be read.
    """
    try:
        for taken_at in layout.snapshot_instants(folder):
            if taken_at <= instant:
                _link_or_copy(folder, layout.snapshot_file(folder, taken_at), layout.snapshot_file(into, taken_at))
        _link_or_copy(folder, folder / layout.VENUE_FILE, into / layout.VENUE_FILE)
        for path in layout.price_files(folder):
            _cut_prices(folder, path, into / layout.PRICES / path.name, instant)
        _cut_resolutions(folder, into, instant)
    except OSError as error:
        raise UsageError(f"{into} cannot be written: {error}; make room there, or set TMPDIR") from error


def _link_or_copy(folder: Path, path: Path, target: Path) -> None:
    layout.check_inside(folder, path)
    if not path.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.hardlink_to(path)
    except OSError:
        # Another disk, or another user's file.
        shutil.copyfile(path, target)


def _cut_prices(folder: Path, path: Path, target: Path, instant: datetime) -> None:
    try:
        series = layout.read_series(folder, path)
    except VenueChanged:
        _link_or_copy(folder, path, target)
        return
    if not series or series[-1][0] <= instant:
        _link_or_copy(folder, path, target)
        return
    history = [{"t": at.timestamp(), "p": price} for at, price in series if at <= instant]
    _write(target, {"history": history})


def _cut_resolutions(folder: Path, into: Path, instant: datetime) -> None:
    path = folder / layout.RESOLUTIONS_FILE
    stored = layout.read_json(folder, path)
    if not isinstance(stored, dict):
        _link_or_copy(folder, path, into / layout.RESOLUTIONS_FILE)
        return
    cut = {condition_id: _keep_known(row, instant) for condition_id, row in stored.items()}
    _write(into / layout.RESOLUTIONS_FILE, {condition_id: row for condition_id, row in cut.items() if row is not None})


def _keep_known(stored: object, instant: datetime) -> object | None:
    rows = stored if isinstance(stored, list) else [stored]
    try:
        kept = [row for row in rows if revision_instant(row) <= instant]
    except ValueError:
        return stored
    return kept or None


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(fields.dumps(value), encoding="utf-8")


class RecordedPast(Archive):
    """A market archive, which answers each instant as of then."""

    scripted_models = ""

    def __init__(self, spec: str, folder: Path) -> None:
        """Open an archive; errors as those of `Archive`."""
        super().__init__(folder)
        self.spec = spec
        self.venue_name = self.name
        self.first_at, self.last_at = self.instants[0], self.instants[-1]

    def open_at(self, instant: datetime) -> OpenVenue:
        """Return the archive as of an instant."""
        return OpenVenue(self.spec, self, instant)

    def cut_at(self, instant: datetime) -> OpenVenue:
        """Return a temporary copy of the archive without anything later."""
        with ExitStack() as closing:
            folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="predibot-cut-"))).resolve()
            write_cut(self.folder, folder, instant)
            kind = self.spec.partition(":")[0]
            return OpenVenue(f"{kind}:{folder}", Archive(folder), instant, closing.pop_all())
