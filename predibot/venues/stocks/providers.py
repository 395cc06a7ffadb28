"""The providers of daily prices, opened with the operator's keys. The shapes of Alpha Vantage and Tiingo are
unverified; `predibot/sandbox/server/hosts/stock_prices.py`, which serves them, has their sources.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, date, datetime, timedelta
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, ClassVar, Self

from predibot.contracts import VenueSettings
from predibot.domain.spelling import did_you_mean
from predibot.environment import api_keys, secrets_present
from predibot.errors import UsageError, VenueChanged, VenueUnavailable
from predibot.net.api_keys import ApiKeys, Key, key_names
from predibot.net.failures import TryAgain, one_line
from predibot.venues import fields
from predibot.venues.http import RequestRefusal, VenueClient
from predibot.venues.stocks.daily_prices import Company, ProviderPrices, TickerUnknown, read_days

MAX_BYTES = 16_000_000
"""Forty years of a stock are 3 MB."""
COMPACT_DAYS = 130
"""A compact answer has 100 trading days. The last 130 days have fewer, so it covers them."""
NOTE_SECONDS = 15.0
NOTE_TRIES = 4
_SERIES = "Time Series (Daily)"
_ALPHA_VANTAGE_NAMES = {
    "1. open": "open", "2. high": "high", "3. low": "low", "4. close": "close", "5. adjusted close": "adjusted_close",
    "6. volume": "volume", "7. dividend amount": "dividend_usd", "8. split coefficient": "split",
}  # fmt: skip


class _KeyedProvider:
    """A provider that is asked over HTTP with a key."""

    name: ClassVar[str]
    own_url: ClassVar[str]
    _rate: ClassVar[float]
    """Requests in 10 seconds."""
    _key_options: ClassVar[Mapping[str, Any]]
    """How the key is sent."""

    def __init__(self, key: Key, *, url: str = "", now: Any = lambda: datetime.now(UTC), **client: Any) -> None:
        """Open the client; `url` is the host, by default the provider's own, and `now` the clock."""
        self._url, self._now = (url or self.own_url).rstrip("/"), now
        options = {"requests_per_10_seconds": {self._url: self._rate}, "max_response_bytes": MAX_BYTES, **client}
        self._client = VenueClient(key=key, now=now, **self._key_options, **options)

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self._client.close()


class AlphaVantage(_KeyedProvider):
    """Alpha Vantage's daily adjusted time series. The clock decides on the size of the answer."""

    name = "alpha_vantage"
    own_url = "https://www.alphavantage.co"
    # One a second; plans of five a minute answer with notes, after which we wait.
    _rate = 10.0
    # No address with it is logged or quoted.
    _key_options = MappingProxyType({"key_parameter": "apikey"})

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
            {**{_ALPHA_VANTAGE_NAMES.get(name, name): value for name, value in row.items()}, "on": on}
            for on, row in series.items()
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


_SPENT = "run over your"
"""Part of the text that says that the allowance is spent."""
_TIINGO_NAMES = {
    "date": "on", "open": "open", "high": "high", "low": "low", "close": "close", "volume": "volume",
    "adjClose": "adjusted_close", "divCash": "dividend_usd", "splitFactor": "split",
}  # fmt: skip


class Tiingo(_KeyedProvider):
    """Tiingo's end-of-day prices."""

    name = "tiingo"
    own_url = "https://api.tiingo.com"
    # The allowance is per hour, and nobody waits for its end.
    _rate = 40.0
    _key_options = MappingProxyType({"authorization": "Token"})

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
            ({_TIINGO_NAMES.get(name, name): value for name, value in row.items()} for row in answer), first, last
        )

    def company(self, ticker: str) -> Company:
        """Return a stock's company, without a sector, which Tiingo's free plans do not state."""
        return Company(fields.name_of(self._get(ticker), "name"))

    def _get(self, ticker: str, below: str = "", params: Sequence[tuple[str, str]] = ()) -> object:
        try:
            return self._client.get(f"{self._url}/tiingo/daily/{ticker}{below}", params)
        except RequestRefusal as error:
            if error.status == 404:
                raise TickerUnknown(f"tiingo has no stock {ticker}: take it out, or write it as tiingo does") from error
            raise
        except VenueChanged as error:
            if _SPENT in str(error):
                said = "tiingo says that the allowance of this hour, day or month is spent"
                raise VenueUnavailable(f"{said}; run again later, or get another plan") from error
            raise


_YAHOO_SECONDS = 20.0
_YAHOO_PRICES = {"Open": "open", "High": "high", "Low": "low", "Close": "close"}
_YAHOO_DIGITS = 7
"""Yahoo states floats of 32 bits: 263.52 is 263.5199890136719."""


class Yahoo(AbstractContextManager["Yahoo"]):
    """Yahoo's daily prices over the library yfinance, without a key.

    Yahoo states prices, dividends and volumes in shares of now: every later split is in them, and so it is in yfinance
    with `auto_adjust=False` (its documentation, "Price adjustment"). What was paid on a day follows from the splits
    since, so prices are always asked for until now.
    """

    name = "yfinance"

    def __init__(self, library: Any = None) -> None:
        """Take the library, by default the installed one; raise `UsageError` if it is not installed."""
        self._library = library or _import_library()

    def __exit__(self, *_: object) -> None:
        """Close nothing."""

    def prices(self, ticker: str, first: date, last: date) -> ProviderPrices:
        """Return a stock's prices between two dates; errors as in `PriceProvider`."""
        with self._translate_errors(ticker):
            frame = self._library.Ticker(ticker).history(
                start=str(first), interval="1d", auto_adjust=False, actions=True, timeout=_YAHOO_SECONDS
            )
            dates = [str(at.date()) for at in frame.index]
            days = [{"on": on, **row} for on, row in zip(dates, frame.to_dict("records"), strict=True)]
            return read_days([*_raw_rows(days)], first, last)

    def company(self, ticker: str) -> Company:
        """Return a stock's company; errors as in `PriceProvider`."""
        with self._translate_errors(ticker):
            said = self._library.Ticker(ticker).info
            return Company(fields.name_of(said, "longName"), fields.name_of(said, "sector"))

    @contextmanager
    def _translate_errors(self, ticker: str) -> Iterator[None]:
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
            **{name: _round_price(row[column] * later_splits) for column, name in _YAHOO_PRICES.items()},
            "adjusted_close": _round_price(row["Adj Close"]),
            "volume": float(row["Volume"]) / later_splits,
            "dividend_usd": _round_price(row["Dividends"] * later_splits),
            "split": split,
        }
        later_splits *= split


def _round_price(number: float) -> float:
    return float(f"{number:.{_YAHOO_DIGITS}g}")


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


Provider = Tiingo | AlphaVantage | Yahoo
_WITH_KEY: Mapping[str, type[Tiingo | AlphaVantage]] = {kind.name: kind for kind in (Tiingo, AlphaVantage)}
PROVIDERS = (*_WITH_KEY, Yahoo.name)
"""By name, those first that `stocks:live` prefers."""


def check_provider(name: str) -> str:
    """Return a provider's name; raise `UsageError` if there is none of it."""
    if name not in PROVIDERS:
        raise UsageError(f"no provider of stocks {name[:40]!r}. {did_you_mean(name, PROVIDERS)}")
    return name


def open_provider(name: str, settings: VenueSettings, clock: Callable[[], datetime]) -> Provider:
    """Return a provider; its key may go to its own host, this machine, or hosts that the operator named. Raises
    `UsageError` if there is no such provider, or it lacks its key or its library.
    """
    if check_provider(name) == Yahoo.name:
        return Yahoo()
    kind = _WITH_KEY[name]
    url = settings.urls.get(f"{name}_url", kind.own_url)
    key = ApiKeys(api_keys(), settings.key_hosts, {}, secrets_present()).find(key_names(name), url)
    if key is None:
        raise UsageError(f"{name} wants a key: set {' or '.join(key_names(name))} in the environment")
    return kind(key, url=url, now=clock, deadline_seconds=settings.call_deadline_seconds)


def choose_provider() -> str:
    """Return the first provider that has a key, or yfinance if it is installed; raise `UsageError` if there is none."""
    keys = api_keys()
    found = [name for name in _WITH_KEY if any(keys.get(each) for each in key_names(name))]
    found += [Yahoo.name] if find_spec("yfinance") is not None else []
    if not found:
        names = " or ".join(key_names(name)[0] for name in _WITH_KEY)
        raise UsageError(
            f"nobody states live prices of stocks: set {names} in the environment, or run "
            "`pip install 'predibot[stocks]'` for yfinance"
        )
    return found[0]
