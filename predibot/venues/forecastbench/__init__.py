"""ForecastBench: the questions of its sets, which are imported; what became of them comes with the next import."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from predibot.contracts import OpenVenue, ResolutionPage, VenuePlugin, VenueRequest
from predibot.domain.event import Event, EventPage, MarketRef
from predibot.domain.price import Instrument, PricePath, Quote
from predibot.errors import UsageError

_BY_IMPORT = "its questions come with `predibot import forecastbench`; decide on another venue"


class ForecastBench:
    """A venue that nobody can ask: the ledger has what was imported, and no more."""

    name: ClassVar = "forecastbench"
    live: ClassVar = False

    def events(self, as_of: datetime, *, enough: Callable[[Sequence[Event]], bool] | None = None) -> EventPage:
        """Refuse, as there is no list."""
        raise UsageError(f"ForecastBench lists no events: {_BY_IMPORT}")

    def event(self, event_id: str, as_of: datetime) -> Event:
        """Refuse, as for the list."""
        raise UsageError(f"ForecastBench cannot be asked for event {event_id[:60]!r}: {_BY_IMPORT}")

    def price_path(self, instrument: Instrument, *, start: datetime, until: datetime) -> PricePath:
        """Return no price."""
        return PricePath(instrument)

    def resolutions(self, markets: Sequence[MarketRef], *, as_of: datetime) -> ResolutionPage:
        """Return nothing: the next import brings them."""
        return ResolutionPage({})

    def quotes(self, event: Event) -> Mapping[str, Quote]:
        """Return no quote."""
        return {}


def _open(asked: VenueRequest) -> OpenVenue:
    return OpenVenue(asked.spec, ForecastBench(), asked.live_instant() if asked.as_of is None else asked.as_of)


VENUE = VenuePlugin(_open, live=False, recorded_by=frozenset({"forecastbench"}))
