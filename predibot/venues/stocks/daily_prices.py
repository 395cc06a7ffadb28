"""Daily prices of stocks as a provider states them: one row a trading day, read or left out with its reason."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Protocol

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from predibot.errors import VenueError
from predibot.venues import fields

LOWEST_PRICE_USD, HIGHEST_PRICE_USD = 1e-4, 1e7
LARGEST_SPLIT = 1_000.0
_SHOWN = 3
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _price(value: object) -> float:
    number = fields.stated_number(value)
    if not 0.0 < number <= HIGHEST_PRICE_USD:
        raise ValueError(f"{fields.seen(value)} is not a price above 0")
    return number


def _amount(value: object) -> float:
    number = fields.stated_number(value)
    if number < 0.0:
        raise ValueError(f"{fields.seen(value)} is below zero")
    return number


def _split(value: object) -> float:
    number = fields.stated_number(value)
    if not 1.0 / LARGEST_SPLIT <= number <= LARGEST_SPLIT:
        raise ValueError(f"{fields.seen(value)} is not a number of new shares for an old one")
    return number


def _day(value: object) -> date:
    if not isinstance(value, str) or not _DAY.match(value):
        raise ValueError(f"{fields.seen(value)} is not a date")
    return date.fromisoformat(value[:10])


_Price = Annotated[float, BeforeValidator(_price)]
_Amount = Annotated[float, BeforeValidator(_amount)]


@dataclass(frozen=True, slots=True)
class DayPrices:
    """A stock on a trading day; prices in USD a share of that day, neither adjusted for splits nor for dividends.

    Read from a row of an answer; each provider has its own names for the fields.
    """

    on: Annotated[date, BeforeValidator(_day)]
    open: _Price
    high: _Price
    low: _Price
    close: _Price
    volume: _Amount
    """Shares."""
    adjusted_close: _Price
    """As the provider states it now, with all later splits and dividends in it."""
    dividend_usd: _Amount
    """A share; what the day is the ex-date of."""
    split: Annotated[float, BeforeValidator(_split)]
    """New shares an old one, from the open of the day on."""


_ROW = TypeAdapter(DayPrices)


@dataclass(frozen=True, slots=True)
class ReadPrices:
    """What of an answer could be read."""

    days: tuple[DayPrices, ...]
    """Oldest first, one a date."""
    notes: tuple[str, ...] = ()
    """What was left out, and why, in sentences."""


class TickerUnknown(VenueError):
    """A provider has no stock of that name."""


class PriceProvider(Protocol):
    """A service that states daily prices of stocks."""

    def prices(self, ticker: str, first: date, last: date) -> ReadPrices:
        """Return the prices of a stock from a date to another, both included.

        Raises:
            TickerUnknown: If it has no such stock.
            UsageError: If the key is refused, or its plan has not what was asked for.
            VenueChanged: If the answer is none that it documents.
            VenueUnavailable: If there was no answer, or the allowance is spent.
        """


def read_days(rows: Iterable[Mapping[str, Any]], first: date, last: date) -> ReadPrices:
    """Return what can be read of some rows, whose fields have the names of `DayPrices`.

    A row of another date is passed over. One that cannot be read, and both of
    two that contradict each other, are left out with a sentence.
    """
    found: dict[date, DayPrices] = {}
    left_out: dict[str, str] = {}
    for row in rows:
        try:
            day = _ROW.validate_python(row)
        except ValidationError as error:
            # A date is what the sentence begins with, whatever stands in its place.
            left_out[fields.seen(row.get("on"))[1:11]] = fields.reason_of(error)
            continue
        if not first <= day.on <= last:
            continue
        if found.setdefault(day.on, day) != day:
            left_out[str(day.on)] = "it is stated twice, in two ways"
    days = tuple(found[on] for on in sorted(found) if str(on) not in left_out)
    notes = [f"the row of {on} is left out: {reason}" for on, reason in left_out.items()]
    return ReadPrices(
        days, (*notes[:_SHOWN], *([f"{len(notes) - _SHOWN} more rows are left out"] * (len(notes) > _SHOWN)))
    )
