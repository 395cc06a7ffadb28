"""Beliefs: markets with their words, tags and daily prices as of an instant."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, Ints, stable_order

_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True, eq=False)
class MarketPrices:
    """The last price of each market on each UTC day, (p,) each, sorted by market and day; all are in (0, 1)."""

    market: Ints
    """The row of the market."""
    day: Ints
    price_yes: Floats


def daily_prices(
    market: Ints, at_seconds: Floats, price_yes: Floats, *, settled_at: Floats, as_of: float
) -> MarketPrices:
    """Return the last price of each day that was known at an instant, without payouts.

    A price of exactly 0 or 1, and any price from a market's settlement on, is a payout. Instants are in seconds since
    1970.

    Args:
        market: The market's row, for each price, (o,).
        at_seconds: The instant of each price, (o,); of equal instants the last row counts.
        price_yes: (o,), in [0, 1].
        settled_at: The settlement of each market, (n,); NaN for never.
        as_of: Nothing later counts.
    """
    known = at_seconds <= as_of
    known &= ~((settled_at <= as_of)[market] & (at_seconds >= settled_at[market]))
    known &= (price_yes > 0.0) & (price_yes < 1.0)
    market, at_seconds, price_yes = market[known], at_seconds[known], price_yes[known]
    order = np.lexsort((at_seconds, market))
    market, price_yes = market[order], price_yes[order]
    day = (at_seconds[order] // _DAY_SECONDS).astype(np.int64)
    last = np.ones(market.size, dtype=np.bool_)
    last[:-1] = (np.diff(market) != 0) | (np.diff(day) != 0)
    return MarketPrices(market[last], day[last], price_yes[last])


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """The n markets that are compared, each once; each field is (n,)."""

    market_ids: tuple[str, ...]
    event_ids: tuple[str, ...]
    texts: tuple[str, ...]
    """The questions."""
    tags: tuple[frozenset[str], ...]
    domains: tuple[str, ...]
    """Their categories, with `Election` apart from `Politics`."""
    volume_usd: Floats
    """NaN where the venue does not say."""
    prices: MarketPrices

    @property
    def n(self) -> int:
        """Return the number of markets."""
        return len(self.market_ids)

    def only(self, kept: NDArray[np.bool_] | Ints | Sequence[int]) -> Self:
        """Return some of the markets: those marked in a mask of (n,), or those of some rows in that order."""
        rows = np.flatnonzero(kept) if np.asarray(kept).dtype == np.bool_ else np.asarray(kept, dtype=np.int64)
        place = np.full(self.n, -1)
        place[rows] = np.arange(rows.size)
        market = place[self.prices.market]
        order = stable_order(market)
        order = order[market[order] >= 0]
        prices = MarketPrices(market[order], self.prices.day[order], self.prices.price_yes[order])
        columns = (self.market_ids, self.event_ids, self.texts, self.tags, self.domains)
        ids, events, texts, tags, domains = (tuple(each[row] for row in rows.tolist()) for each in columns)
        return type(self)(ids, events, texts, tags, domains, self.volume_usd[rows], prices)

    def in_order(self) -> Self:
        """Return the markets sorted by event and id."""
        return self.only(sorted(range(self.n), key=lambda row: (self.event_ids[row], self.market_ids[row])))
