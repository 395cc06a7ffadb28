"""Recording stocks: daily prices of a provider are added to a folder of CSV files."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from predibot.errors import UsageError, VenueUnavailable
from predibot.jobs.caller import Caller
from predibot.jobs.price_histories import shorten_failures
from predibot.sandbox.stocks.folder import SIMULATED_FILE
from predibot.venues.stocks import recording
from predibot.venues.stocks.providers import check_provider, open_provider
from predibot.venues.stocks.recording import check_ticker, list_tickers, missing_days


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
        provider: One of `PROVIDERS`; its key, if it wants one, is in the environment.
        as_of: Days whose close was not known by then are left out.
        days: How far back a stock begins that is new to the folder.

    Raises:
        UsageError: If there is no such provider, key or ticker, or a file of the folder has another layout.
        VenueUnavailable: If some could not be read; the rest is written.
    """
    settings, now = caller.settings(), as_of or caller.clock()
    check_provider(provider)
    names = tuple(dict.fromkeys(map(check_ticker, tickers))) or list_tickers(folder)
    if not names:
        raise UsageError(f"{folder} has no stocks yet; name some with --tickers AAPL,MSFT,SPY")
    if (folder / SIMULATED_FILE).exists():
        raise UsageError(f"{folder} has simulated stocks, as its {SIMULATED_FILE} says; record into another folder")
    since = (now - timedelta(days=days)).date()
    with open_provider(provider, settings, caller.clock) as source, caller.progress() as listener:
        recorded = recording.record_stocks(folder, source, names, since=since, now=now, listener=listener)
    notes = (*recorded.notes, *missing_days(folder, names))
    if recorded.failures:
        message = "; ".join((*shorten_failures([*recorded.failures]), *notes))
        raise VenueUnavailable(f"{message}. The rest is written; run the same command again")
    return StocksReport(folder, provider, names, recorded.rows, recorded.actions, notes)
