"""A data set of comments: the rows of its two files, under salted ids."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from predibot.studies.label_game import MAX_MONEY
from predibot.studies.stakebench.cleaning import Platform
from predibot.studies.stakebench.positions import ACTION_HOURS, Action, Side
from predibot.studies.stakebench.windows import LONGEST_DAYS, Direction

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
    """Of the market, in the venue's currency."""
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
