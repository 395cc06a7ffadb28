"""Stocks live: a provider's daily closes, kept in a folder that grows by each trading day."""

from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

from predibot.contracts import OpenVenue, VenueRequest
from predibot.errors import UsageError, VenueMissing, VenueUnavailable
from predibot.venues.stocks.folder import read_folder
from predibot.venues.stocks.past import StockVenue
from predibot.venues.stocks.providers import check_provider, choose_provider, open_provider
from predibot.venues.stocks.recording import check_ticker, list_tickers, missing_days, record_stocks

LIVE_FOLDER = Path("runs/out/stocks")
"""It is a folder like any other: its prices can be replayed."""
FIRST_DAYS = 90
"""So far back the history of a new stock begins; prompts show ten trading days."""
_SHOWN_FAILURES = 3


def check_live(argument: str) -> str:
    """Return `live`, or `live:` and a provider; raise `UsageError` for another one."""
    _, colon, provider = argument.partition(":")
    return f"live:{check_provider(provider)}" if colon else "live"


def open_live(request: VenueRequest) -> OpenVenue:
    """Return the stocks of the folder and of the recipe, with all closes that a provider states by now.

    A stock that could not be read is a note of the run: it keeps its last close and is not traded. Raises
    `VenueMissing` without a provider, `VenueUnavailable` if none of the stocks could be read, and `UsageError` if the
    key is refused, or no stock is named or kept.
    """
    now, folder = request.live_instant(), LIVE_FOLDER
    tickers = tuple(dict.fromkeys([*map(check_ticker, request.only), *list_tickers(folder)]))
    if not tickers:
        raise UsageError(f"{request.spec} knows no stock yet; decide with a recipe whose [game] has tickers")
    try:
        name = request.argument.partition(":")[2] or choose_provider()
        opened = open_provider(name, request.settings, request.clock)
    except UsageError as error:
        raise VenueMissing(f"{request.spec} cannot be opened: {error}") from None
    with opened as provider:
        since = (now - timedelta(days=FIRST_DAYS)).date()
        done = record_stocks(folder, provider, tickers, since=since, now=now, listener=lambda _: None)
    if len(done.failures) == len(tickers):
        more = f" (and {len(tickers) - _SHOWN_FAILURES} more)" if len(tickers) > _SHOWN_FAILURES else ""
        raise VenueUnavailable(f"no stock could be read: {'; '.join(done.failures[:_SHOWN_FAILURES])}{more}")
    notes = (*done.failures, *done.notes, *missing_days(folder, tickers))
    return OpenVenue(request.spec, StockVenue(read_folder(folder), live_at=now, notes=notes), now, ExitStack())
