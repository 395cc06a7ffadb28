"""Budgets: what a piece of work may spend, and what it has spent."""

from dataclasses import dataclass, fields
from typing import Literal

LimitLevel = Literal["decision", "bot", "run", "day"]
LIMIT_LEVELS: tuple[LimitLevel, ...] = ("decision", "bot", "run", "day")
LEAST_SHARE = 1e-3
"""A stated cost below this share of the known price is not believed: a provider that states almost nothing would defeat
every limit. Even the largest real discounts leave 1 % of the price.
"""


def format_limit_usd(value: float) -> str:
    """Return a limit in dollars to the last digit that was stated.

    Examples:
        >>> [format_limit_usd(each) for each in (1_500.0, 0.5, 0.004)]
        ['$1,500.00', '$0.50', '$0.004']
    """
    return f"${value:,.2f}" if value == round(value, 2) else f"${value:,}"


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that may be spent at one level; None means no limit."""

    usd: float | None = None
    tokens: int | None = None
    steps: int | None = None
    searches: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Refuse a limit below zero."""
        for each in fields(self):
            limit = getattr(self, each.name)
            if limit is not None and not limit >= 0:
                raise ValueError(f"a limit of {limit!r} {each.name} cannot be kept; it is 0 or more")


@dataclass(frozen=True, slots=True)
class Spending:
    """An amount of everything that limits count."""

    usd: float = 0.0
    tokens: int = 0
    steps: int = 0
    searches: int = 0
    seconds: float = 0.0
