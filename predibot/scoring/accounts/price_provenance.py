"""Price provenance: where the prices come from that accounts are valued at, and where two of them disagree."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from predibot.domain.price import PriceSourceName, Quote

MAX_DISAGREEMENT = 0.05
"""By how much two prices of one outcome at one instant may differ before it is said."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two prices of YES of one quote that lie far apart."""

    used: PriceSourceName
    used_price: float
    other: PriceSourceName
    other_price: float

    @property
    def difference(self) -> float:
        """Return how far they lie apart."""
        return abs(self.used_price - self.other_price)


def disagreement(quote: Quote) -> Disagreement | None:
    """Return the price of a quote that lies farthest from the one that is used, if by more than .05; else None.

    Examples:
        >>> from datetime import UTC, datetime
        >>> now = datetime(2026, 3, 1, tzinfo=UTC)
        >>> disagreement(Quote(now, bid=0.4, ask=0.42, displayed=0.41, last=0.3)).other
        'last'
        >>> disagreement(Quote(now, displayed=0.4, last=0.45)) is None
        True
    """
    used = quote.price
    if used is None:
        return None
    candidates: tuple[tuple[PriceSourceName, float | None], ...] = (
        ("mid", quote.mid),
        ("displayed", quote.displayed),
        ("last", quote.last),
        ("history", quote.history),
    )
    found = [
        Disagreement(used.source, used.yes, source, price)
        for source, price in candidates
        if price is not None and source != used.source
    ]
    farthest = max(found, key=lambda each: each.difference, default=None)
    return farthest if farthest is not None and farthest.difference > MAX_DISAGREEMENT + _ROUNDING else None


def provenance(sources: Iterable[PriceSourceName]) -> Mapping[PriceSourceName, int]:
    """Return how many prices come from each source, the most frequent first.

    Examples:
        >>> provenance(["mid", "last", "mid"])
        {'mid': 2, 'last': 1}
    """
    return dict(Counter(sources).most_common())


@dataclass(frozen=True, slots=True)
class SeenPrice:
    """A price of an outcome that is stored, wherever it comes from."""

    outcome: str
    """What it is a price of."""
    at: datetime
    source: str
    """Such as `mid`, `last` or `history` of a quote, or `valuation` of what was marked."""
    price: float


@dataclass(frozen=True, slots=True)
class PriceConflict:
    """The lowest and the highest of the prices of one outcome at one instant, which lie far apart."""

    low: SeenPrice
    high: SeenPrice

    @property
    def difference(self) -> float:
        """Return how far they lie apart."""
        return self.high.price - self.low.price


def price_conflicts(seen: Iterable[SeenPrice]) -> tuple[PriceConflict, ...]:
    """Return where prices of one outcome at one instant differ by more than .05, in order of time and outcome.

    Examples:
        >>> from datetime import UTC, datetime
        >>> now = datetime(2026, 3, 1, tzinfo=UTC)
        >>> (found,) = price_conflicts([SeenPrice("a", now, "mid", 0.4), SeenPrice("a", now, "last", 0.5)])
        >>> found.low.source, found.high.source
        ('mid', 'last')
        >>> price_conflicts([SeenPrice("a", now, "mid", 0.4), SeenPrice("a", now, "last", 0.45)])
        ()
    """
    lowest: dict[tuple[datetime, str], SeenPrice] = {}
    highest: dict[tuple[datetime, str], SeenPrice] = {}
    for each in seen:
        key = each.at, each.outcome
        if each.price < lowest.setdefault(key, each).price:
            lowest[key] = each
        if each.price > highest.setdefault(key, each).price:
            highest[key] = each
    found = (PriceConflict(lowest[key], highest[key]) for key in sorted(lowest))
    return tuple(each for each in found if each.difference > MAX_DISAGREEMENT + _ROUNDING)
