"""Price provenance: where the prices come from that accounts are valued at, and where two of them disagree."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

MAX_DISAGREEMENT = 0.05
"""By how much two prices of one outcome at one instant may differ before it is said."""
_ROUNDING = 1e-9


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
