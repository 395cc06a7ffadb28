"""A venue that is only remembered: the quotes a decision was made and booked at, and nothing to ask."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NoReturn

from predibot.contracts import ResolutionPage, Venue
from predibot.domain.event import Event, EventPage, MarketRef
from predibot.domain.price import Instrument, PricePath, Quote
from predibot.errors import VenueUnavailable
from predibot.jobs.deciding.venue_board import VenueBoard


class RecordedVenue(Venue):
    """A venue's name; a rerun asks it for nothing."""

    name, live = "", False

    def __init__(self, name: str) -> None:
        """Know a venue by its name."""
        self.name = name

    def events(self, as_of: datetime, *, enough: object = None) -> EventPage:
        """Refuse."""
        self._refuse()

    def event(self, event_id: str, as_of: datetime) -> Event:
        """Refuse."""
        self._refuse()

    def price_path(self, instrument: Instrument, *, start: datetime, until: datetime) -> PricePath:
        """Refuse."""
        self._refuse()

    def resolutions(self, markets: Sequence[MarketRef], *, as_of: datetime) -> ResolutionPage:
        """Refuse."""
        self._refuse()

    def quotes(self, event: Event) -> Mapping[str, Quote]:
        """Refuse."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise VenueUnavailable(f"{self.name} is not asked for anything while a run is rerun")


class RecordedQuotes(VenueBoard):
    """The quotes that are stored with a decision: first those it was shown, then those it was booked at."""

    def __init__(self, venue: Venue, now: datetime, *quoted: Mapping[str, Quote]) -> None:
        """Keep them in their order."""
        super().__init__(venue, lambda: now)
        self._recorded = list(quoted)

    def open_event(self, event: Event) -> Event:
        """Return the event with the next quotes, or as it is where none are stored."""
        quotes = self._recorded.pop(0) if self._recorded else {}
        if not quotes:
            return event
        return replace(
            event, markets=tuple(each if each.is_named else each.quoted_by(quotes) for each in event.markets)
        )
