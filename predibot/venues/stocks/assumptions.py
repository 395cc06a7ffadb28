"""Assumptions about providers of daily prices; see `predibot doctor --live`."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from predibot.contracts import Assumption, VenueSettings
from predibot.errors import PredibotError, UsageError
from predibot.venues.stocks.providers import PROVIDERS, open_provider
from predibot.venues.stocks.recording import last_closed_day

_TICKER = "SPY"
_DAYS = 14
_LEAST_DAYS = 7
"""Two weeks have ten weekdays; a few of them may be holidays."""


def assumptions(settings: VenueSettings, clock: Callable[[], datetime]) -> Iterator[Assumption]:
    """Yield of each provider whether it states the last two weeks of an index fund; one without a key is not tried."""
    last = last_closed_day(clock())
    for name in PROVIDERS:
        what = f"{name} states raw and adjusted closes, dividends and splits"
        try:
            opened = open_provider(name, settings, clock)
        except UsageError as error:
            yield Assumption(what, True, f"not tried: {error}")
            continue
        try:
            with opened as provider:
                read = provider.prices(_TICKER, last - timedelta(days=_DAYS), last)
        except PredibotError as error:
            yield Assumption(what, False, str(error)[:300])
            continue
        newest = f", the last of {read.days[-1].on} at ${read.days[-1].close:,.2f}" if read.days else ""
        seen = "; ".join([f"{len(read.days)} closes of {_TICKER} in {_DAYS} days{newest}", *read.notes])
        yield Assumption(what, len(read.days) >= _LEAST_DAYS and not read.notes, seen)
