"""The past of an account: what a bot may be shown of it beside what it holds now."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from predibot.domain.account import JournalRow
from predibot.domain.decision import Order
from predibot.domain.price import Instrument, Price, Side

CASH = "CASH"
"""The asset that is no instrument: what an account has in money."""
_SIDE_WORDS: Mapping[Side, str] = {"YES": "Yes", "NO": "No"}


def asset_name(market_id: str, side: Side) -> str:
    """Return what prompts, answers and remembered allocations call one side of a market.

    Examples:
        >>> asset_name("512", "NO")
        '512_No'
    """
    return f"{market_id}_{_SIDE_WORDS[side]}"


@dataclass(frozen=True, slots=True)
class NewsItem:
    """A dated piece of news, in words of strangers."""

    title: str
    snippet: str
    published_at: datetime
    url: str | None = None
    """None of news that were found before addresses were kept."""


@dataclass(frozen=True, slots=True)
class PastAllocation:
    """An allocation that a bot decided on, and what its account was worth when it did."""

    at: datetime
    weights: Mapping[str, float]
    """Shares of the account by asset, as they were applied; what is left is CASH."""
    value_usd: float
    """Before the orders of this allocation."""
    accumulated_return: float
    """Since the first deposit: the value over what was paid in, less one."""


@dataclass(frozen=True, slots=True)
class AccountPast:
    """What is known of an account before a slot, besides its journal; nothing of it is later than the view."""

    allocations: tuple[PastAllocation, ...] = ()
    """The last ten, oldest first."""
    news: Mapping[str, tuple[NewsItem, ...] | None] = field(default_factory=dict)
    """By market id; None where it could not be fetched."""
    last_prices: Mapping[Instrument, Price] = field(default_factory=dict)
    """The last known of what is held and has no price now."""
    pending: tuple[Order, ...] = ()
    """Orders of an earlier decision that are not filled yet."""
    at: datetime | None = None
    """The instant that the bot decides at; None where that of the latest quote has to do."""
    outside: frozenset[str] = frozenset()
    """The markets in the view that the run does not play: they are shown because something of them is held."""
    journal: tuple[JournalRow, ...] = ()
    """Of the account, in its order, for games that tell positions in one instrument apart by when they were opened."""
