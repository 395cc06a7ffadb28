"""A data set of comments: the rows of its two files, under salted ids, and the windows that its rows are of."""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Literal, Self

from predibot.studies.label_game import MAX_MONEY
from predibot.studies.stakebench.cleaning import Platform
from predibot.studies.stakebench.positions import ACTION_HOURS, Action, Side

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


Resolved = Literal[-1, 0, 1]
"""1: YES, -1: NO, 0: anything else."""


@dataclass(frozen=True, slots=True)
class LabelledComment:
    """A comment and its writer's position at that time, under salted ids."""

    platform: Platform
    split: str
    market: str
    question: str
    comment: str
    user: str
    at: str
    text: str
    side: Side | None
    size: float
    action: Action | None
    """First action within 48 hours; None without a position, or where the shares mean nothing."""
    actions: tuple[Action, ...]
    """First action within each of `ACTION_HOURS`; empty where `action` is None."""
    resolved: Resolved
    ever_held: bool
    """Whether the writer had a position in the market before."""
    truncated: bool
    """Whether its thread may have more comments than were served."""
    volume: float
    """What was traded on the market, in the venue's currency."""
    closed: str
    """The end of trading."""
    price_yes: float | None = None
    """At that time; None where there was none. No bot is shown it."""

    @property
    def days_left(self) -> float:
        """Return the days from the comment to the end of trading."""
        return (datetime.fromisoformat(self.closed) - datetime.fromisoformat(self.at)).total_seconds() / 86_400

    def __post_init__(self) -> None:
        """Refuse impossible positions, actions and amounts."""
        if not abs(self.size) <= MAX_MONEY or not 0.0 <= self.volume <= MAX_MONEY:
            raise ValueError(f"size is {self.size:g} and volume {self.volume:g}; they are amounts of money")
        if self.price_yes is not None and not 0.0 <= self.price_yes <= 1.0:
            raise ValueError(f"price_yes is {self.price_yes:g}; it is a price in [0, 1]")
        if len(self.actions) != (0 if self.action is None else len(ACTION_HOURS)):
            raise ValueError(f"actions are {len(self.actions)}, action is {self.action}; one goes with each window")
        if self.side is None and (self.action is not None or self.size):
            raise ValueError(f"side is None, size {self.size:g} and action {self.action}; nothing is held")
        _instant("at", self.at)
        _instant("closed", self.closed)


@dataclass(frozen=True, slots=True)
class LabelledWindow:
    """A window of a market and the move of its odds after it, under salted ids."""

    platform: Platform
    split: str
    market: str
    question: str
    start: str
    days: int
    price_before: float
    price_after: float
    direction: Direction
    comments: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse impossible windows."""
        prices = (self.price_before, self.price_after)
        if not all(0.0 <= price <= 1.0 for price in prices) or not 1 <= self.days <= LONGEST_DAYS or not self.comments:
            raise ValueError(
                f"prices are {prices[0]:g} and {prices[1]:g} over {self.days} days of {len(self.comments)} comments"
            )
        _instant("start", self.start)


def _instant(name: str, text: str) -> None:
    try:
        aware = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        aware = False
    if not aware:
        raise ValueError(f"{name} is {text[:40]!r}; it is an instant in UTC")


FILES: Mapping[str, type] = {"comments": LabelledComment, "windows": LabelledWindow}
"""The type of a line, by the file's name without its ending."""
