"""A folder of daily prices as a venue, and as a past that is read once and cut off at any instant."""

import csv
import json
import math
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from io import TextIOWrapper
from pathlib import Path
from typing import ClassVar

import numpy as np

from predibot.contracts import Loopback, OpenVenue, PayloadReader, Venue
from predibot.domain.clock import format_instant, parse_instant
from predibot.domain.event import Event, EventPage, Market, MarketRef, Skip, Tag
from predibot.domain.price import EQUITY, CorporateAction, Instrument, Price, PricePath, PricePoint, Quote
from predibot.errors import UsageError
from predibot.plain_file import open_plain, plain_bytes
from predibot.sandbox.stocks.folder import ACTIONS_FILE, SECTORS_FILE, SIMULATED_FILE
from predibot.sandbox.world.world import World
from predibot.venues.stocks.folder import StockFolder, close_instant, read_folder
from predibot.venues.stocks.recording import MAX_TABLE_BYTES

NAME = "stocks"


class StockVenue(Venue):
    """Daily closes: known from 21:00 UTC of their date; a date without trading has none."""

    name: ClassVar = NAME

    def __init__(self, folder: StockFolder, *, live_at: datetime | None = None, notes: tuple[str, ...] = ()) -> None:
        """Take a folder that was read.

        Args:
            live_at: The instant at which a provider's closes were added to it; None for a past.
            notes: What these closes lack.
        """
        self.folder, self._live_at, self._notes = folder, live_at, notes
        self._column = {ticker: number for number, ticker in enumerate(folder.tickers)}
        self._delisted_at = {
            ticker: each.effective_at
            for ticker, own in folder.actions.items()
            for each in reversed(own)
            if each.kind == "delisting"
        }

    @property
    def live(self) -> bool:
        """Return whether a provider added closes to it just now."""
        return self._live_at is not None

    def quotes(self, event: Event) -> Mapping[str, Quote]:
        """Return the last close of a share that can be traded, by its id."""
        return super().quotes(event if self._live_at is None else self.event(event.id, self._live_at))

    def events(self, as_of: datetime, *, enough: Callable[[Sequence[Event]], bool] | None = None) -> EventPage:
        """Return the stocks listed by an instant, in alphabetical order, each as an event."""
        known = self.folder.places(as_of)
        if known == 0:
            return EventPage(())
        listed = [self.folder.tickers[number] for number in np.flatnonzero(self.folder.first_row < known).tolist()]
        closed_at, closes = self._last_row(as_of)
        events = tuple(self._event(name, closed_at, closes[self._column[name]], as_of) for name in listed)
        return EventPage(events, notes=self._remarks(as_of))

    def event(self, event_id: str, as_of: datetime) -> Event:
        """Return a stock, also one that is delisted."""
        column = self._column.get(event_id)
        if column is None or self.folder.first_row[column] >= self.folder.places(as_of):
            raise UsageError(f"{self.folder.path} has no price of {event_id[:40]!r} by then; its files name the stocks")
        closed_at, closes = self._last_row(as_of)
        return self._event(event_id, closed_at, closes[column], as_of)

    def price_path(self, instrument: Instrument, *, start: datetime, until: datetime) -> PricePath:
        """Return the raw closes with start < at <= until."""
        column = self._column.get(instrument.id)
        if instrument.kind != EQUITY or column is None:
            return PricePath(instrument)
        first, last = self.folder.places(start), self.folder.places(until)
        closes, volumes = (each[first:last, column] for each in (self.folder.close, self.folder.volume))
        points = (
            PricePoint(
                self.folder.instant(first + place),
                float(closes[place]),
                None if np.isnan(volumes[place]) else float(volumes[place]),
            )
            for place in np.flatnonzero(~np.isnan(closes)).tolist()
        )
        return PricePath(instrument, tuple(points))

    def closes(self, *, start: datetime, until: datetime) -> tuple[datetime, ...]:
        """Return when closes became known, with start < at <= until."""
        return tuple(map(self.folder.instant, range(self.folder.places(start), self.folder.places(until))))

    def actions(self, instrument: Instrument, *, start: datetime, until: datetime) -> tuple[CorporateAction, ...]:
        """Return splits, dividends and delistings with start < effective_at <= until, oldest first."""
        own = self.folder.actions.get(instrument.id, ()) if instrument.kind == EQUITY else ()
        return tuple(each for each in own if start < each.effective_at <= until)

    def last_closes(self, wanted: Collection[Instrument], at: datetime) -> Mapping[Instrument, Price]:
        """Return the closes of the last trading day by an instant; none for halted or delisted stocks."""
        if self.folder.places(at) == 0:
            return {}
        instant, row = self._last_row(at)
        found = {}
        for each in wanted:
            column = self._column.get(each.id) if each.kind == EQUITY else None
            if column is not None and not math.isnan(row[column]) and not self._is_delisted(each.id, at):
                found[each] = Price(instant, row[column], source="last")
        return found

    def _last_row(self, at: datetime) -> tuple[datetime, list[float]]:
        place = self.folder.places(at) - 1
        return self.folder.instant(place), self.folder.close[place].tolist()

    def _remarks(self, as_of: datetime) -> tuple[str, ...]:
        place = self.folder.places(as_of) - 1
        last = self.folder.instant(place).date()
        without = np.flatnonzero((self.folder.first_row <= place) & np.isnan(self.folder.close[place])).tolist()
        names = [self.folder.tickers[number] for number in without]
        halted = [name for name in names if not self._is_delisted(name, as_of)]
        late = [f"{name} has no close of {last}: a halt, or a late file; it is not traded" for name in halted]
        return (*self._notes, *(each.text for each in self.folder.remarks if each.on <= last), *late)

    def _is_delisted(self, ticker: str, at: datetime) -> bool:
        delisted_at = self._delisted_at.get(ticker)
        return delisted_at is not None and delisted_at <= at

    def _event(self, ticker: str, closed_at: datetime, close: float, as_of: datetime) -> Event:
        ref = MarketRef(ticker, kind=EQUITY)
        closed = self._is_delisted(ticker, as_of)
        is_priced = not closed and not math.isnan(close)
        quote = Quote(closed_at, last=close, kind=EQUITY) if is_priced else None
        sector, name = self.folder.sectors.get(ticker, ""), self.folder.names.get(ticker, "")
        tags = (Tag(sector, sector.lower().replace(" ", "-")),) if sector else ()
        market = Market(ref, ticker, (ticker,), description=name, closed=closed, quote=quote)
        row = {"ticker": ticker, "name": name, "sector": sector, "delisted": closed}
        if is_priced:
            row |= {"closed_at": closed_at.astimezone(UTC).isoformat(), "close": close}
        return Event(ticker, ticker, (market,), tags=tags, closed=closed, payload=json.dumps(row))


def read_payload(payload: object, _read_at: datetime) -> tuple[Event | None, tuple[Skip, ...]]:
    """Return the stock in an event's payload."""
    if not isinstance(payload, Mapping) or not isinstance(ticker := payload.get("ticker"), str):
        return None, (Skip("event", "?", "it is no object with a ticker"),)
    quote = None
    if isinstance(close := payload.get("close"), int | float):
        try:
            quote = Quote(parse_instant(str(payload.get("closed_at"))), last=float(close), kind=EQUITY)
        except ValueError as error:
            return None, (Skip("event", ticker, str(error)),)
    closed = bool(payload.get("delisted"))
    market = Market(MarketRef(ticker, kind=EQUITY), ticker, (ticker,), closed=closed, quote=quote)
    return Event(ticker, ticker, (market,), closed=closed), ()


def _ticker_of(payload: object) -> str:
    return str(payload.get("ticker", "")) if isinstance(payload, dict) else ""


PAYLOADS = PayloadReader(read_payload, _ticker_of)


DECIDED_AFTER = timedelta(minutes=5)
"""Default decisions take place this long after a close."""


@dataclass(frozen=True, slots=True)
class StockPast:
    """A folder of stocks, which answers each instant as of then."""

    spec: str
    prices: StockFolder
    venue_name: ClassVar = NAME

    @property
    def scripted_models(self) -> str:
        """Return how the names of scripted models begin; only simulated prices have them."""
        return "" if self.prices.seed is None else "sandbox/"

    @property
    def folder(self) -> Path:
        """Return the folder."""
        return self.prices.path

    @property
    def first_at(self) -> datetime:
        """Return five minutes after the first close."""
        return self.prices.instant(0) + DECIDED_AFTER

    @property
    def last_at(self) -> datetime:
        """Return five minutes after the last close."""
        return self.prices.instant(-1) + DECIDED_AFTER

    def known_until(self) -> datetime:
        """Return five minutes after the last close."""
        return self.last_at

    def check(self, instant: datetime) -> None:
        """Refuse an instant before the first close."""
        if instant < self.prices.instant(0):
            raise UsageError(
                f"{self.folder} has no close at or before {format_instant(instant)}; "
                f"its first is of {format_instant(self.prices.instant(0))}"
            )

    def is_session(self, instant: datetime) -> bool:
        """Return whether an instant's UTC date is a trading day."""
        day = np.datetime64(instant.astimezone(UTC).date(), "D")
        return bool(np.isin(day, self.prices.days))

    def open_at(self, instant: datetime) -> OpenVenue:
        """Return the stocks as of an instant."""
        closing = ExitStack()
        loopback = self._start_news_and_forecasters(None, instant, closing)
        return OpenVenue(self.spec, StockVenue(self.prices), instant, closing, loopback)

    def cut_at(self, instant: datetime) -> OpenVenue:
        """Return a temporary copy of the folder without anything later."""
        with ExitStack() as closing:
            folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="predibot-cut-"))).resolve()
            write_cut(self.folder, folder, instant)
            loopback = self._start_news_and_forecasters(instant, instant, closing)
            venue = StockVenue(read_folder(folder))
            return OpenVenue(f"{NAME}:{folder}", venue, instant, closing.pop_all(), loopback)

    def _start_news_and_forecasters(
        self, altered_after: datetime | None, instant: datetime, closing: ExitStack
    ) -> Loopback | None:
        if self.prices.seed is None:
            return None
        from predibot.sandbox.server.server import SandboxServer

        server = closing.enter_context(SandboxServer(_make_world(self.prices.seed, altered_after), now=instant))
        return Loopback(server.search_url, server.chat_url, server.address)


@lru_cache(maxsize=4)
def _make_world(seed: int, altered_after: datetime | None) -> World:
    """Return a simulated world, which computes its events only once."""
    return World.from_seed(seed, events=1, altered_after=altered_after)


def write_cut(folder: Path, into: Path, instant: datetime) -> None:
    """Write a folder without rows whose close is not known by an instant, and without adjusted closes. Adjusted closes
    contain later splits and dividends, so remarks based on them go too. Raises `UsageError` if it cannot be written.
    """
    try:
        for path in sorted((*folder.glob("*.csv"), *folder.glob(SIMULATED_FILE))):
            if path.name in (SECTORS_FILE, SIMULATED_FILE):
                (into / path.name).write_bytes(plain_bytes(path, MAX_TABLE_BYTES))
                continue
            with (
                TextIOWrapper(open_plain(path, MAX_TABLE_BYTES), encoding="utf-8-sig", newline="") as file,
                (into / path.name).open("w", newline="") as copy,
            ):
                head = [name.strip() for name in next(csv.reader([file.readline()]), [])]
                rows = csv.DictReader(file, head)
                kept = [name for name in rows.fieldnames or () if name != "adjusted_close"]
                table = csv.DictWriter(copy, kept, extrasaction="ignore", lineterminator="\n")
                table.writeheader()
                table.writerows(row for row in rows if _is_known((row.get("date") or "").strip(), instant))
        if not (into / ACTIONS_FILE).exists():
            (into / ACTIONS_FILE).write_text("date,ticker,action,value\n")
    except (OSError, csv.Error) as error:
        raise UsageError(f"{into} cannot be written: {error}; make room there, or set TMPDIR") from error


def _is_known(text: str, instant: datetime) -> bool:
    try:
        return close_instant(date.fromisoformat(text)) <= instant
    except ValueError:
        return False
