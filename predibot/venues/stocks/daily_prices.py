"""Daily prices of stocks as a provider states them: one row a trading day, valid or left out with a reason."""

import re
from collections.abc import Callable, Iterable, Mapping
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


def _number(fits: Callable[[float], bool], fault: str) -> BeforeValidator:
    """Return the parser of a stated number that fits; another one's error says its fault."""

    def parse(value: object) -> float:
        number = fields.require_number(value)
        if not fits(number):
            raise ValueError(f"{fields.short_repr(value)} {fault}")
        return number

    return BeforeValidator(parse)


def _parse_day(value: object) -> date:
    if not isinstance(value, str) or not _DAY.match(value):
        raise ValueError(f"{fields.short_repr(value)} is not a date")
    return date.fromisoformat(value[:10])


_Price = Annotated[float, _number(lambda usd: 0.0 < usd <= HIGHEST_PRICE_USD, "is not a price above 0")]
_Amount = Annotated[float, _number(lambda amount: amount >= 0.0, "is below zero")]
_Split = Annotated[
    float,
    _number(
        lambda shares: 1.0 / LARGEST_SPLIT <= shares <= LARGEST_SPLIT, "is not a number of new shares for an old one"
    ),
]


@dataclass(frozen=True, slots=True)
class DayPrices:
    """A stock on a trading day; prices in USD a share of that day, unadjusted. A provider's rows have other names."""

    on: Annotated[date, BeforeValidator(_parse_day)]
    open: _Price
    high: _Price
    low: _Price
    close: _Price
    volume: _Amount
    """In shares."""
    adjusted_close: _Price
    """As stated now, with all later splits and dividends in it."""
    dividend_usd: _Amount
    """USD a share, on its ex-date."""
    split: _Split
    """New shares an old one, from the day's open on."""


_ROW = TypeAdapter(DayPrices)


@dataclass(frozen=True, slots=True)
class ProviderPrices:
    """The valid part of an answer."""

    days: tuple[DayPrices, ...]
    """Oldest first, one a date."""
    notes: tuple[str, ...] = ()
    """A sentence on each row that was left out."""


@dataclass(frozen=True, slots=True)
class Company:
    """What a provider says of a company; a text is empty where it says nothing."""

    name: str = ""
    sector: str = ""


class TickerUnknown(VenueError):
    """A provider has no such stock."""


class PriceProvider(Protocol):
    """A provider of daily stock prices."""

    def prices(self, ticker: str, first: date, last: date) -> ProviderPrices:
        """Return a stock's prices between two dates, both included.

        Raises:
            TickerUnknown: If there is no such stock.
            UsageError: If the key is refused, or its plan does not cover the request.
            VenueChanged: If the answer does not follow the documentation.
            VenueUnavailable: If there was no answer, or the allowance is spent.
        """

    def company(self, ticker: str) -> Company:
        """Return a stock's company; errors as for prices."""


def read_days(rows: Iterable[Mapping[str, Any]], first: date, last: date) -> ProviderPrices:
    """Return the valid rows between two dates; their fields have the names of `DayPrices`. Malformed rows, and both of
    two that contradict each other, are left out with a sentence.
    """
    found: dict[date, DayPrices] = {}
    left_out: dict[str, str] = {}
    for row in rows:
        try:
            day = _ROW.validate_python(row)
        except ValidationError as error:
            # The sentence begins with the date, or with the text in its place.
            left_out[fields.short_repr(row.get("on"))[1:11]] = fields.reason_of(error)
            continue
        if not first <= day.on <= last:
            continue
        if found.setdefault(day.on, day) != day:
            left_out[str(day.on)] = "it is stated twice, in two ways"
    days = tuple(found[on] for on in sorted(found) if str(on) not in left_out)
    notes = [f"the row of {on} is left out: {reason}" for on, reason in left_out.items()]
    return ProviderPrices(
        days, (*notes[:_SHOWN], *([f"{len(notes) - _SHOWN} more rows are left out"] * (len(notes) > _SHOWN)))
    )
