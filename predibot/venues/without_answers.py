"""What a venue answers that has no prices and settles nothing by itself."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from predibot.contracts import ResolutionPage
from predibot.domain.event import Event, MarketRef
from predibot.domain.price import Instrument, PricePath, Quote


class WithoutAnswers:
    """A venue whose markets, if it has any, nobody can be asked about."""

    live: ClassVar = False

    def price_path(self, instrument: Instrument, *, start: datetime, until: datetime) -> PricePath:
        """Return no price."""
        return PricePath(instrument)

    def resolutions(self, markets: Sequence[MarketRef], *, as_of: datetime) -> ResolutionPage:
        """Return nothing: what settles, if anything, comes with an import."""
        return ResolutionPage({})

    def quotes(self, event: Event) -> Mapping[str, Quote]:
        """Return no quote."""
        return {}
