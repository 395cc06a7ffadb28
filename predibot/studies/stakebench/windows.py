"""Windows: stretches of a market with enough comments of position holders, and the move of its price after each."""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Literal, Self

from predibot.studies.stakebench.positions import Side

Direction = Literal["UP", "DOWN"]
COMMENTS = 10
LONGEST_DAYS = 30
NEAR_TIE = 0.005
_ROUNDING = 1e-12
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class StepPath:
    """Prices of YES; each holds from its instant until the next."""

    instants: tuple[datetime, ...]
    yes: tuple[float, ...]
    ends_at: datetime | None = None
    """The end of trading, after which there is no price; a payout is none."""

    @classmethod
    def of(cls, points: Sequence[tuple[datetime, float]], ends_at: datetime) -> Self:
        """Return the path of points in order of time."""
        return cls(tuple(at for at, _ in points), tuple(price for _, price in points), ends_at)

    def at(self, instant: datetime) -> float | None:
        """Return the price at an instant; None before the first one, and after trading."""
        place = bisect_right(self.instants, instant) - 1
        return None if place < 0 or (self.ends_at is not None and instant > self.ends_at) else self.yes[place]

    def mean(self, start: datetime, end: datetime) -> float | None:
        """Return the time-weighted price over [start, end); None where a part has no price.

        Examples:
            >>> from datetime import UTC
            >>> day = datetime(2026, 3, 1, tzinfo=UTC)
            >>> path = StepPath((day, day + timedelta(hours=6)), (0.2, 0.6))
            >>> round(path.mean(day, day + timedelta(hours=8)), 6)
            0.3
        """
        first = bisect_right(self.instants, start) - 1
        if first < 0 or (self.ends_at is not None and end > self.ends_at):
            return None
        last = bisect_left(self.instants, end)
        turns = [start, *self.instants[first + 1 : last], end]
        spans = [(b - a).total_seconds() for a, b in pairwise(turns)]
        weighted = (price * span for price, span in zip(self.yes[first:last], spans, strict=True))
        return math.fsum(weighted) / (end - start).total_seconds()


@dataclass(frozen=True, slots=True)
class MarketWindow:
    """A stretch of a market, and its prices in it and after it."""

    start: datetime
    days: int
    comments: tuple[int, ...]
    """The numbers of the position holders' comments in it."""
    price_before: float
    """Mean price of YES over [start, start + days)."""
    price_after: float
    """Mean price over as many days after it."""

    @property
    def direction(self) -> Direction:
        """Return where the price went."""
        return "UP" if self.price_after > self.price_before else "DOWN"


def windows_of(commented: Sequence[datetime], path: StepPath, funnel: Counter[str]) -> list[MarketWindow]:
    """Return the windows of a market, one after the other, and count them and those left out.

    A window begins at a comment of a position holder and takes the fewest whole days with ten of them. The next begins
    at the first comment after it. Where 30 days hold fewer than ten, the next comment is tried.
    """
    found: list[MarketWindow] = []
    unpriced = near_ties = at = 0
    while at < len(commented):
        start = commented[at]
        if at + COMMENTS > len(commented):
            break
        # The tenth comment decides: it lies in [start, start + h).
        days = (commented[at + COMMENTS - 1] - start) // _DAY + 1
        if days > LONGEST_DAYS:
            at += 1
            continue
        middle = start + days * _DAY
        until = bisect_left(commented, middle)
        before, after = path.mean(start, middle), path.mean(middle, middle + days * _DAY)
        if before is None or after is None:
            unpriced += 1
        elif abs(after - before) <= NEAR_TIE + _ROUNDING:
            near_ties += 1
        else:
            found.append(MarketWindow(start, days, tuple(range(at, until)), before, after))
        at = until
    funnel["- windows without prices"] += unpriced
    funnel["- windows with a near tie"] += near_ties
    funnel["windows"] += len(found)
    return found


def stake_weighted_direction(sides: Sequence[Side], sizes: Sequence[float]) -> Direction | None:
    """Return the direction with the larger stakes, by magnitude; None for a tie.

    Examples:
        >>> stake_weighted_direction(["YES", "NO"], [5.0, -7.0])
        'DOWN'
    """
    signed = [abs(size) if side == "YES" else -abs(size) for side, size in zip(sides, sizes, strict=True)]
    total = math.fsum(signed)
    if abs(total) <= 1e-12 * math.fsum(map(abs, signed)):
        return None
    return "UP" if total > 0.0 else "DOWN"
