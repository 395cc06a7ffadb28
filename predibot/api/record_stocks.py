"""Recording stocks: daily prices of a provider with a key are added to a folder of CSV files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from predibot.config import Settings
from predibot.contracts import Progress
from predibot.domain.spelling import did_you_mean
from predibot.environment import api_keys, secrets_present
from predibot.errors import UsageError, VenueError, VenueUnavailable
from predibot.jobs.caller import Caller
from predibot.jobs.open_venue import Clock
from predibot.jobs.price_histories import shorten_failures
from predibot.net.api_keys import ApiKeys, key_names
from predibot.sandbox.stocks.folder import SIMULATED_FILE
from predibot.venues.stocks.alpha_vantage import AlphaVantage
from predibot.venues.stocks.daily_prices import TickerUnknown
from predibot.venues.stocks.recording import check_ticker, list_tickers, missing_days, record_stock
from predibot.venues.stocks.tiingo import Tiingo

_PROVIDERS: Mapping[str, type[Tiingo | AlphaVantage]] = {kind.name: kind for kind in (Tiingo, AlphaVantage)}


@dataclass(frozen=True, slots=True)
class StocksReport:
    """What one call recorded of stocks."""

    folder: Path
    provider: str
    tickers: tuple[str, ...]
    rows: int
    """New trading days of all stocks."""
    actions: int
    """New splits and dividends."""
    notes: tuple[str, ...]


def record_stocks(
    folder: Path, caller: Caller, *, provider: str, tickers: Sequence[str], as_of: datetime | None, days: float
) -> StocksReport:
    """Add missing prices of stocks to a folder, one stock after the other.

    Args:
        folder: In the layout of the venue `stocks`; made where it does not exist.
        provider: Its key is in the environment.
        as_of: Days whose close was not known by then are left out.
        days: How far back a stock begins that is new to the folder.

    Raises:
        UsageError: If there is no such provider, key or ticker, or a file of the folder has another layout.
        VenueUnavailable: If some could not be read; the rest is written.
    """
    settings, now = caller.settings(), as_of or caller.clock()
    if provider not in _PROVIDERS:
        raise UsageError(f"no provider of stocks {provider[:40]!r}. {did_you_mean(provider, _PROVIDERS)}")
    names = tuple(dict.fromkeys(map(check_ticker, tickers))) or list_tickers(folder)
    if not names:
        raise UsageError(f"{folder} has no stocks yet; name some with --tickers AAPL,MSFT,SPY")
    if (folder / SIMULATED_FILE).exists():
        raise UsageError(f"{folder} has simulated stocks, as its {SIMULATED_FILE} says; record into another folder")
    opened = _open_provider(provider, settings, caller.clock)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error}; name a folder that can") from error
    rows, actions, notes, failures = 0, 0, list[str](), list[str]()
    with opened as source, caller.progress() as listener:
        for done, ticker in enumerate(names):
            listener(Progress("record", done, len(names), f"prices of {ticker}"))
            try:
                recorded = record_stock(folder, source, ticker, since=(now - timedelta(days=days)).date(), now=now)
            except TickerUnknown as error:
                failures.append(str(error))
            except VenueUnavailable as error:
                # The provider would answer the same for the other stocks.
                failures.append(f"{ticker}: {error}")
                failures += [f"{left}: it was not asked for any more" for left in names[done + 1 :]]
                break
            except VenueError as error:
                failures.append(f"{ticker}: {error}")
            else:
                rows, actions = rows + recorded.rows, actions + recorded.actions
                notes += recorded.notes
    notes += missing_days(folder, names)
    if failures:
        message = "; ".join((*shorten_failures(failures), *notes))
        raise VenueUnavailable(f"{message}. The rest is written; run `predibot record` again")
    return StocksReport(folder, provider, names, rows, actions, tuple(notes))


def _open_provider(provider: str, settings: Settings, clock: Clock) -> Tiingo | AlphaVantage:
    """Return a provider with its key, which may go to its own host, this machine, or hosts that the operator named."""
    kind = _PROVIDERS[provider]
    url = settings.urls.get(f"{provider}_url", kind.own_url)
    names = key_names(provider)
    key = ApiKeys(api_keys(), settings.key_hosts, {}, secrets_present()).find(names, url)
    if key is None:
        raise UsageError(f"{provider} wants a key: set {' or '.join(names)} in the environment")
    return kind(key, url=url, now=clock, deadline_seconds=settings.call_deadline_seconds)
