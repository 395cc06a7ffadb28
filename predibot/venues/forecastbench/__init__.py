"""ForecastBench as a venue: imported questions; their outcomes come with the next import."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import ClassVar

from predibot.contracts import OpenVenue, Venue, VenuePlugin, VenueRequest
from predibot.domain.event import Event, EventPage
from predibot.errors import UsageError

_BY_IMPORT = "its questions come with `predibot import forecastbench FILE`; decide on another venue"


class ForecastBench(Venue):
    """A venue without a service: the ledger has what was imported."""

    name: ClassVar = "forecastbench"
    live: ClassVar = False

    def events(self, as_of: datetime, *, enough: Callable[[Sequence[Event]], bool] | None = None) -> EventPage:
        """Refuse: it lists no events."""
        raise UsageError(f"ForecastBench lists no events: {_BY_IMPORT}")

    def event(self, event_id: str, as_of: datetime) -> Event:
        """Refuse: it shows no event."""
        raise UsageError(f"ForecastBench cannot be asked for event {event_id[:60]!r}: {_BY_IMPORT}")


def _open(request: VenueRequest) -> OpenVenue:
    return OpenVenue(request.spec, ForecastBench(), request.live_instant() if request.as_of is None else request.as_of)


VENUE = VenuePlugin(_open, live=False, recorded_by=frozenset({"forecastbench"}))
