"""Daily prices from Alpha Vantage, with a key. The shapes are unverified;
`predibot/sandbox/server/hosts/stock_prices.py`, which serves them, has their sources.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime, timedelta
from typing import Any

from predibot.errors import UsageError, VenueChanged, VenueUnavailable
from predibot.net.api_keys import Key
from predibot.net.failures import TryAgain, one_line
from predibot.venues import fields
from predibot.venues.http import VenueClient
from predibot.venues.stocks.daily_prices import Company, ProviderPrices, TickerUnknown, read_days

OWN_URL = "https://www.alphavantage.co"
MAX_BYTES = 16_000_000
"""Twenty-five years of a stock are 2 MB."""
COMPACT_DAYS = 130
"""A compact answer has 100 trading days. The last 130 days have fewer, so it covers them."""
NOTE_SECONDS = 15.0
NOTE_TRIES = 4
_SERIES = "Time Series (Daily)"
_NAMES = {
    "1. open": "open", "2. high": "high", "3. low": "low", "4. close": "close", "5. adjusted close": "adjusted_close",
    "6. volume": "volume", "7. dividend amount": "dividend_usd", "8. split coefficient": "split",
}  # fmt: skip


class AlphaVantage(AbstractContextManager["AlphaVantage"]):
    """Alpha Vantage's daily adjusted time series."""

    name = "alpha_vantage"
    own_url = OWN_URL

    def __init__(self, key: Key, *, url: str = OWN_URL, now: Any = lambda: datetime.now(UTC), **client: Any) -> None:
        """Open the client; `url` is without `/query`, and the clock `now` decides on the size of the answer. The key is
        sent as the parameter `apikey`; no address with it is logged or quoted.
        """
        self._url = url.rstrip("/")
        self._now = now
        # One a second; plans of five a minute answer with notes, after which we wait.
        rates = {self._url: 10.0}
        options = {"requests_per_10_seconds": rates, "max_response_bytes": MAX_BYTES, **client}
        self._client = VenueClient(key=key, key_parameter="apikey", now=now, **options)

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self._client.close()

    def prices(self, ticker: str, first: date, last: date) -> ProviderPrices:
        """Return a stock's prices between two dates; errors as in `PriceProvider`."""
        size = "compact" if self._now().date() - first < timedelta(days=COMPACT_DAYS) else "full"
        answer = self._query("TIME_SERIES_DAILY_ADJUSTED", ticker, ("outputsize", size), ("datatype", "json"))
        series = answer.get(_SERIES) if isinstance(answer, Mapping) else None
        if not isinstance(series, Mapping) or not all(isinstance(row, Mapping) for row in series.values()):
            seen = fields.short_repr(answer)
            raise VenueChanged(
                f"alpha_vantage answered no {_SERIES!r} for {ticker} but {seen}; see whether predibot is up to date"
            )
        rows = (
            {**{_NAMES.get(name, name): value for name, value in row.items()}, "on": on} for on, row in series.items()
        )
        return read_days(rows, first, last)

    def company(self, ticker: str) -> Company:
        """Return a stock's company; Alpha Vantage writes sectors in capitals, and knows none of funds."""
        answer = self._query("OVERVIEW", ticker)
        return Company(fields.name_of(answer, "Name"), fields.name_of(answer, "Sector").capitalize())

    def _query(self, function: str, ticker: str, *params: tuple[str, str]) -> object:
        answer = self._client.get(
            f"{self._url}/query", [("function", function), ("symbol", ticker), *params], check=_raise_for_note
        )
        if isinstance(answer, Mapping) and "Error Message" in answer:
            said = one_line(str(answer["Error Message"]))
            if "apikey" in said:
                raise UsageError(f"alpha_vantage refuses the key: {said}; see whether it is right")
            raise TickerUnknown(f"alpha_vantage has no stock {ticker} ({said}): take it out, or write it as it does")
        return answer


def _raise_for_note(answer: object) -> None:
    """Raise an error for a note with status 200: too many calls in a minute, too many in a day, or not in this plan."""
    said = next(
        (one_line(str(answer[name])) for name in ("Note", "Information") if name in answer)
        if isinstance(answer, Mapping) and _SERIES not in answer
        else iter(()),
        None,
    )
    if said is None:
        return
    if "premium endpoint" in said:
        raise UsageError(f"alpha_vantage wants a plan that is paid for: {said}; use tiingo, or get such a key")
    if "per minute" in said or "per second" in said:
        raise TryAgain(f"alpha_vantage was asked too often: {said}", wait_seconds=NOTE_SECONDS, tries=NOTE_TRIES)
    raise VenueUnavailable(f"alpha_vantage answers no more for now: {said}; run again tomorrow, or get another plan")
