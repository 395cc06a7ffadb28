"""The past of an account: what a bot may see of it besides its present positions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from predibot.domain.account import JournalRow
from predibot.domain.decision import Order
from predibot.domain.price import Instrument, Price, Side

CASH = "CASH"
"""The name of cash among assets; it is not an instrument."""
_SIDE_WORDS: Mapping[Side, str] = {"YES": "Yes", "NO": "No"}


def asset_name(market_id: str, side: Side) -> str:
    """Return the name of one side of a market in prompts, answers and remembered allocations.

    Examples:
        >>> asset_name("512", "NO")
        '512_No'
    """
    return f"{market_id}_{_SIDE_WORDS[side]}"


@dataclass(frozen=True, slots=True)
class NewsItem:
    """A dated piece of news, written by strangers."""

    title: str
    snippet: str
    published_at: datetime
    url: str | None = None
    """None for news found before addresses were kept."""


@dataclass(frozen=True, slots=True)
class PastAllocation:
    """An allocation that a bot decided on, and what its account was worth then."""

    at: datetime
    weights: Mapping[str, float]
    """Shares of the account by asset, after the rules of the game; the rest is CASH."""
    value_usd: float
    """The account's value before the orders of this allocation."""
    accumulated_return: float


@dataclass(frozen=True, slots=True)
class AccountPast:
    """What is known of an account before a slot, besides its journal; nothing in it is later than the view."""

    allocations: tuple[PastAllocation, ...] = ()
    news: Mapping[str, tuple[NewsItem, ...] | None] = field(default_factory=dict)
    """By market id; None where the news could not be fetched."""
    last_prices: Mapping[Instrument, Price] = field(default_factory=dict)
    """The last known price of each position that has no price now."""
    pending: tuple[Order, ...] = ()
    at: datetime | None = None
    """The instant of the decision; None takes that of the latest quote."""
    outside: frozenset[str] = frozenset()
    """Markets in the view that the run does not play: the account owns shares of them."""
    journal: tuple[JournalRow, ...] = ()
    """The account's rows, in order, for games that tell positions in one instrument apart by when they were opened."""
