"""Daily prices from Tiingo, with a key. The shapes are unverified; `predibot/sandbox/server/hosts/stock_prices.py`,
which serves them, has their sources.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import date
from typing import Any

from predibot.errors import VenueChanged, VenueUnavailable
from predibot.net.api_keys import Key
from predibot.venues import fields
from predibot.venues.http import RequestRefused, VenueClient
from predibot.venues.stocks.daily_prices import Company, ProviderPrices, TickerUnknown, read_days

OWN_URL = "https://api.tiingo.com"
MAX_BYTES = 16_000_000
"""Forty years of a stock are 3 MB."""
_SPENT = "run over your"
"""Part of the text that says that the allowance is spent."""
_NAMES = {
    "date": "on", "open": "open", "high": "high", "low": "low", "close": "close", "volume": "volume",
    "adjClose": "adjusted_close", "divCash": "dividend_usd", "splitFactor": "split",
}  # fmt: skip


class Tiingo(AbstractContextManager["Tiingo"]):
    """Tiingo's end-of-day prices."""

    name = "tiingo"
    own_url = OWN_URL

    def __init__(self, key: Key, *, url: str = OWN_URL, **client: Any) -> None:
        """Open the client; `url` is without `/tiingo`, and the key is sent in a header."""
        self._url = url.rstrip("/")
        # The allowance is per hour, and nobody waits for its end.
        rates = {self._url: 40.0}
        options = {"requests_per_10_seconds": rates, "max_response_bytes": MAX_BYTES, **client}
        self._client = VenueClient(key=key, authorization="Token", **options)

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self._client.close()

    def prices(self, ticker: str, first: date, last: date) -> ProviderPrices:
        """Return a stock's prices between two dates; errors as in `PriceProvider`."""
        params = [("startDate", str(first)), ("endDate", str(last)), ("format", "json")]
        answer = self._get(ticker, "/prices", params)
        if not isinstance(answer, list) or not all(isinstance(row, dict) for row in answer):
            seen = fields.short_repr(answer)
            raise VenueChanged(
                f"tiingo answered no list of days for {ticker} but {seen}; see whether predibot is up to date"
            )
        return read_days(
            ({_NAMES.get(name, name): value for name, value in row.items()} for row in answer), first, last
        )

    def company(self, ticker: str) -> Company:
        """Return a stock's company, without a sector, which Tiingo's free plans do not state."""
        answer = self._get(ticker)
        return Company(fields.name_of(answer, "name"))

    def _get(self, ticker: str, below: str = "", params: Sequence[tuple[str, str]] = ()) -> object:
        try:
            return self._client.get(f"{self._url}/tiingo/daily/{ticker}{below}", params)
        except RequestRefused as error:
            if error.status == 404:
                raise TickerUnknown(f"tiingo has no stock {ticker}: take it out, or write it as tiingo does") from error
            raise
        except VenueChanged as error:
            if _SPENT in str(error):
                said = "tiingo says that the allowance of this hour, day or month is spent"
                raise VenueUnavailable(f"{said}; run again later, or get another plan") from error
            raise
