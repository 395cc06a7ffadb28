"""Daily prices of Yahoo over the library yfinance, without a key.

Yahoo states prices, dividends and volumes in shares of now: every later split is in them, and so it is in yfinance with
`auto_adjust=False` (its documentation, "Price adjustment"). What was paid on a day follows from the splits since, so
prices are always asked for until now.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from typing import Any

from predibot.errors import UsageError, VenueChanged, VenueUnavailable
from predibot.net.failures import one_line
from predibot.venues import fields
from predibot.venues.stocks.daily_prices import Company, ProviderPrices, TickerUnknown, read_days

_SECONDS = 20.0
_PRICES = {"Open": "open", "High": "high", "Low": "low", "Close": "close"}
_DIGITS = 7
"""Yahoo states floats of 32 bits: 263.52 is 263.5199890136719."""


class Yahoo(AbstractContextManager["Yahoo"]):
    """Yahoo's daily prices."""

    name = "yfinance"

    def __init__(self, library: Any = None) -> None:
        """Take the library, by default the installed one; raise `UsageError` if it is not installed."""
        self._library = library or _import_library()

    def __exit__(self, *_: object) -> None:
        """Close nothing."""

    def prices(self, ticker: str, first: date, last: date) -> ProviderPrices:
        """Return a stock's prices between two dates; errors as in `PriceProvider`."""
        with self._translated(ticker):
            frame = self._library.Ticker(ticker).history(
                start=str(first), interval="1d", auto_adjust=False, actions=True, timeout=_SECONDS
            )
            dates = [str(at.date()) for at in frame.index]
            days = [{"on": on, **row} for on, row in zip(dates, frame.to_dict("records"), strict=True)]
            return read_days([*_raw_rows(days)], first, last)

    def company(self, ticker: str) -> Company:
        """Return a stock's company; errors as in `PriceProvider`."""
        with self._translated(ticker):
            said = self._library.Ticker(ticker).info
            return Company(fields.name_of(said, "longName"), fields.name_of(said, "sector"))

    @contextmanager
    def _translated(self, ticker: str) -> Iterator[None]:
        own = self._library.exceptions
        try:
            yield
        except own.YFRateLimitError as error:
            raise VenueUnavailable(f"yahoo was asked too often: {one_line(str(error))}; run again later") from error
        except own.YFTickerMissingError as error:
            said = one_line(str(error))
            raise TickerUnknown(f"yahoo has no stock {ticker} ({said}): take it out, or write it as it does") from error
        except (own.YFException, OSError) as error:
            said = one_line(str(error))
            raise VenueUnavailable(f"yfinance got no prices of {ticker}: {said}; run again later") from error
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            seen = f"{type(error).__name__}: {one_line(str(error))}"
            raise VenueChanged(f"yfinance could not read {ticker} ({seen}); update yfinance or predibot") from error


def _raw_rows(days: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield days, the newest first, as they were on their date: without the splits that came later."""
    later_splits = 1.0
    for row in reversed(days):
        split = float(row["Stock Splits"]) or 1.0
        yield {
            "on": row["on"],
            **{name: _rounded(row[column] * later_splits) for column, name in _PRICES.items()},
            "adjusted_close": _rounded(row["Adj Close"]),
            "volume": float(row["Volume"]) / later_splits,
            "dividend_usd": _rounded(row["Dividends"] * later_splits),
            "split": split,
        }
        later_splits *= split


def _rounded(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def _import_library() -> Any:
    try:
        # Imported here: it is in the extra `stocks`, and takes a second.
        import yfinance
        import yfinance.exceptions
    except ImportError:
        raise UsageError("yfinance is not installed; run `pip install 'predibot[stocks]'`") from None
    # Else it logs what went wrong, and answers as if there were no prices.
    yfinance.config.debug.hide_exceptions = False
    return yfinance
