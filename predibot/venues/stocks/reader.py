"""A folder of daily prices as a venue: each stock is an event of one share, and nothing later than asked is seen."""

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import ClassVar

import numpy as np

from predibot.contracts import PayloadReader, Venue
from predibot.domain.clock import parse_instant
from predibot.domain.event import Event, EventPage, Market, MarketRef, Skip, Tag
from predibot.domain.price import EQUITY, CorporateAction, Instrument, Price, PricePath, PricePoint, Quote
from predibot.errors import UsageError
from predibot.venues.stocks.folder import StockFolder

NAME = "stocks"


class StockVenue(Venue):
    """Daily closes; a close of a date is known from 21:00 UTC of it, and a date without trading has none."""

    name: ClassVar = NAME
    live: ClassVar = False

    def __init__(self, folder: StockFolder) -> None:
        """Answer from a folder that was read."""
        self.folder = folder
        self._column = {ticker: number for number, ticker in enumerate(folder.tickers)}
        self._delisted_at = {
            ticker: each.effective_at
            for ticker, own in folder.actions.items()
            for each in reversed(own)
            if each.kind == "delisting"
        }

    def events(self, as_of: datetime, *, enough: Callable[[Sequence[Event]], bool] | None = None) -> EventPage:
        """Return every stock that was listed by an instant, in alphabetical order."""
        known = self.folder.places(as_of)
        if known == 0:
            return EventPage(())
        listed = [self.folder.tickers[number] for number in np.flatnonzero(self.folder.first_row < known).tolist()]
        closed_at, closes = self._last_row(as_of)
        events = tuple(self._event(name, closed_at, closes[self._column[name]], as_of) for name in listed)
        return EventPage(events, notes=self._remarks(as_of))

    def event(self, event_id: str, as_of: datetime) -> Event:
        """Return one stock, also where it is not traded any more."""
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
        closes = self.folder.close[first:last, column]
        places = np.flatnonzero(~np.isnan(closes)).tolist()
        points = (PricePoint(self.folder.instant(first + place), float(closes[place])) for place in places)
        return PricePath(instrument, tuple(points))

    def closes(self, *, start: datetime, until: datetime) -> tuple[datetime, ...]:
        """Return when the closes became known, with start < at <= until."""
        return tuple(map(self.folder.instant, range(self.folder.places(start), self.folder.places(until))))

    def actions(self, instrument: Instrument, *, start: datetime, until: datetime) -> tuple[CorporateAction, ...]:
        """Return splits, dividends and delistings with start < effective_at <= until, oldest first."""
        own = self.folder.actions.get(instrument.id, ()) if instrument.kind == EQUITY else ()
        return tuple(each for each in own if start < each.effective_at <= until)

    def last_closes(self, wanted: Collection[Instrument], at: datetime) -> Mapping[Instrument, Price]:
        """Return the closes of the last trading day by an instant; of a halted or delisted stock there is none."""
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
        """Return when the last close by an instant was, and that of each stock then; there is one."""
        place = self.folder.places(at) - 1
        return self.folder.instant(place), self.folder.close[place].tolist()

    def _remarks(self, as_of: datetime) -> tuple[str, ...]:
        """Return what is wrong with the folder, as far as it could be known by an instant."""
        place = self.folder.places(as_of) - 1
        if place < 0:
            return ()
        last = self.folder.instant(place).date()
        without = np.flatnonzero((self.folder.first_row <= place) & np.isnan(self.folder.close[place])).tolist()
        names = [self.folder.tickers[number] for number in without]
        halted = [name for name in names if not self._is_delisted(name, as_of)]
        late = [f"{name} has no close of {last}: a halt, or a late file; it is not traded" for name in halted]
        return (*(each.text for each in self.folder.remarks if each.on <= last), *late)

    def _is_delisted(self, ticker: str, at: datetime) -> bool:
        delisted_at = self._delisted_at.get(ticker)
        return delisted_at is not None and delisted_at <= at

    def _event(self, ticker: str, closed_at: datetime, close: float, as_of: datetime) -> Event:
        ref = MarketRef(ticker, kind=EQUITY)
        closed = self._is_delisted(ticker, as_of)
        is_priced = not closed and not math.isnan(close)
        quote = Quote(closed_at, last=close, kind=EQUITY) if is_priced else None
        sector = self.folder.sectors.get(ticker, "")
        tags = (Tag(sector, sector.lower().replace(" ", "-")),) if sector else ()
        market = Market(ref, ticker, (ticker,), closed=closed, quote=quote)
        row = {"ticker": ticker, "sector": sector, "delisted": closed}
        if is_priced:
            row |= {"closed_at": closed_at.astimezone(UTC).isoformat(), "close": close}
        return Event(ticker, ticker, (market,), tags=tags, closed=closed, payload=json.dumps(row))


def read_payload(payload: object, _read_at: datetime) -> tuple[Event | None, tuple[Skip, ...]]:
    """Return the stock of a payload that an event of this venue has."""
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
