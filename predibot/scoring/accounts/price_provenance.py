"""Price provenance: the sources of the prices that value accounts, and where two of them disagree."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

MAX_DISAGREEMENT = 0.05
"""Two prices of one outcome at one instant that differ by more are reported."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class SeenPrice:
    """A stored price of an outcome, of any source."""

    outcome: str
    at: datetime
    source: str
    """Such as `mid`, `last` or `history` of a quote, or `valuation`."""
    price: float


@dataclass(frozen=True, slots=True)
class PriceConflict:
    """The lowest and the highest price of one outcome at one instant, which lie far apart."""

    low: SeenPrice
    high: SeenPrice

    @property
    def difference(self) -> float:
        """Return how far they lie apart."""
        return self.high.price - self.low.price


def price_conflicts(seen: Iterable[SeenPrice]) -> tuple[PriceConflict, ...]:
    """Return where prices of one outcome at one instant differ by more than .05, by time and outcome."""
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
