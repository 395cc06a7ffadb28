"""Yahoo over yfinance: frames as its documentation has them become prices as they were on their days.

Columns and index of a frame, `Stock Splits` of 0 on other days, and prices in shares of now with
`auto_adjust=False`: https://ranaroussi.github.io/yfinance/advanced/price_adjustment.html and
https://ranaroussi.github.io/yfinance/reference/yfinance.price_history.html. Errors: yfinance/exceptions.py of 1.7.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from predibot.errors import UsageError, VenueChanged, VenueUnavailable
from predibot.venues.stocks.daily_prices import Company, DayPrices, TickerUnknown
from predibot.venues.stocks.providers import Yahoo

FIRST, LAST = date(2020, 8, 1), date(2020, 9, 30)


class YFError(Exception):
    """The base of its errors, called `YFException` there."""


class YFRateLimitError(YFError):
    """Too many requests."""


class YFTickerMissingError(YFError):
    """No such ticker, or no prices of it."""


EXCEPTIONS = SimpleNamespace(
    YFException=YFError, YFRateLimitError=YFRateLimitError, YFTickerMissingError=YFTickerMissingError
)


@dataclass
class Library:
    """Answers for every ticker with a frame, or an error."""

    answer: object
    info: Mapping[str, Any] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    exceptions = EXCEPTIONS

    def Ticker(self, symbol: str) -> Any:  # its name there
        def history(**options: Any) -> object:
            self.asked.append({"symbol": symbol, **options})
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

        return SimpleNamespace(history=history, info=self.info)


def frame(*rows: tuple[str, float, float, float, float, float]) -> pd.DataFrame:
    """Return a frame of day, close, adjusted close, volume, dividend and split."""
    table = pd.DataFrame(
        [(close, close, close, close, *rest) for _, close, *rest in rows],
        columns=["Open", "High", "Low", "Close", "Adj Close", "Volume", "Dividends", "Stock Splits"],
    )
    table.index = pd.DatetimeIndex([row[0] for row in rows], name="Date").tz_localize("America/New_York")
    return table


APPLE = frame(
    # Apple's split of four for one of 31 August 2020, as Yahoo states it since.
    ("2020-08-06", 113.902496, 111.2, 202_428_800.0, 0.0, 0.0),
    ("2020-08-07", 111.112503, 108.5, 198_045_600.0, 0.205, 0.0),
    ("2020-08-28", 124.807503, 122.1, 187_630_000.0, 0.0, 0.0),
    ("2020-08-31", 129.039993, 126.2, 225_702_700.0, 0.0, 4.0),
    ("2020-10-01", 116.790001, 114.3, 116_120_400.0, 0.0, 0.0),
)


def test_prices_dividends_and_volumes_are_those_of_their_day() -> None:
    library = Library(APPLE)
    read = Yahoo(library).prices("AAPL", FIRST, LAST)
    assert read.notes == ()
    assert [(str(day.on), day.close, day.volume, day.dividend_usd, day.split) for day in read.days] == [
        ("2020-08-06", 455.61, 50_607_200.0, 0.0, 1.0),
        ("2020-08-07", 444.45, 49_511_400.0, 0.82, 1.0),
        ("2020-08-28", 499.23, 46_907_500.0, 0.0, 1.0),
        ("2020-08-31", 129.04, 225_702_700.0, 0.0, 4.0),
    ]
    assert read.days[0].adjusted_close == 111.2
    # Asked for until now, for the splits since.
    (asked,) = library.asked
    assert (asked["start"], asked["auto_adjust"], asked["actions"], "end" in asked) == (str(FIRST), False, True, False)


def test_a_split_after_the_last_day_is_undone_too() -> None:
    read = Yahoo(Library(APPLE)).prices("AAPL", FIRST, date(2020, 8, 6))
    assert [day.close for day in read.days] == [455.61]


def test_a_row_that_is_no_price_is_left_out_with_its_reason() -> None:
    table = frame(("2020-08-06", 10.0, 10.0, 5.0, 0.0, 0.0), ("2020-08-07", float("nan"), 1.0, 1.0, 0.0, 0.0))
    read = Yahoo(Library(table)).prices("AAPL", FIRST, LAST)
    assert read.days == (DayPrices(date(2020, 8, 6), 10.0, 10.0, 10.0, 10.0, 5.0, 10.0, 0.0, 1.0),)
    assert read.notes[0].startswith("the row of 2020-08-07 is left out: open: ")


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (YFRateLimitError("Too Many Requests."), VenueUnavailable, "yahoo was asked too often: Too Many Requests"),
        (YFTickerMissingError("$X: no timezone found"), TickerUnknown, r"yahoo has no stock X \(\$X: no timezone"),
        (YFError("down"), VenueUnavailable, "yfinance got no prices of X: down"),
        (ConnectionError("reset\nby peer"), VenueUnavailable, "yfinance got no prices of X: reset by peer"),
        (KeyError("exchangeTimezoneName"), VenueChanged, "could not read X .KeyError: .*update yfinance or predibot"),
        (frame().drop(columns="Close"), None, ""),
        (APPLE.drop(columns="Adj Close"), VenueChanged, "could not read X .KeyError: 'Adj Close'"),
        (None, VenueChanged, "could not read X .AttributeError"),
    ],
)
def test_every_failure_says_what_was_seen_and_what_to_do(answer: object, error: type[Exception], said: str) -> None:
    yahoo = Yahoo(Library(answer))
    if error is None:
        assert yahoo.prices("X", FIRST, LAST).days == ()
        return
    with pytest.raises(error, match=said):
        yahoo.prices("X", FIRST, LAST)


def test_a_company_has_a_name_and_a_sector_where_they_are_stated() -> None:
    assert Yahoo(Library(None, {"longName": "Apple Inc.", "sector": "Technology"})).company("AAPL") == Company(
        "Apple Inc.", "Technology"
    )
    assert Yahoo(Library(None, {"longName": None})).company("SPY") == Company()


def test_without_the_library_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "yfinance", None)
    with pytest.raises(UsageError, match=r"pip install 'predibot\[stocks\]'"):
        Yahoo()
