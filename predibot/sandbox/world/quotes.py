"""Quotes: what the venue shows of a chance, rounded to ticks and with a spread around it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.sandbox.world.plan import MarketPlan

Floats = NDArray[np.float64]

WIDEST_SHOWN_MID = 0.10
"""Above this spread the venue shows the last trade instead of the middle."""


@dataclass(frozen=True, slots=True)
class Quotes:
    """Prices of the first outcomes hour by hour, each of shape (markets, hours); NaN where a book lacks a side."""

    bid: Floats
    ask: Floats
    last_trade: Floats
    shown: Floats
    """What `outcomePrices` and the price history say, in (0, 1)."""


LONGEST_TRADE_LAG_HOURS = 2


def quotes_of(markets: Sequence[MarketPlan], chance: Floats) -> Quotes:
    """Return the quotes that go with paths of chances, shape (markets, hours).

    The last trade is up to two hours old, so the first two hours of a path
    that does not begin with the event are good for nothing else.
    """
    tick, half_spread = (np.array([[getattr(market, name)] for market in markets]) for name in ("tick", "half_spread"))
    bid = np.floor((chance - half_spread) / tick + 1e-9) * tick
    ask = np.maximum(np.ceil((chance + half_spread) / tick - 1e-9) * tick, bid + tick)
    sides = np.array([[market.one_sided] for market in markets])
    bid = np.where((bid < tick / 2) | (sides == "ask"), np.nan, np.round(bid, 6))
    ask = np.where((ask > 1 - tick / 2) | (sides == "bid"), np.nan, np.round(ask, 6))
    lags = np.array([[market.trade_lag_hours] for market in markets])
    traded = np.take_along_axis(chance, np.maximum(np.arange(chance.shape[1]) - lags, 0), axis=1)
    last_trade = np.round(np.clip(np.round(traded / tick) * tick, tick, 1 - tick), 6)
    shows_mid = ask - bid <= WIDEST_SHOWN_MID + 1e-9
    shown = np.where(shows_mid, np.round((bid + ask) / 2, 6), last_trade)
    return Quotes(bid=bid, ask=ask, last_trade=last_trade, shown=shown)


@dataclass(frozen=True, slots=True)
class BookQuote:
    """Prices of the first outcome at one instant; None where a side of the book is empty."""

    bid: float | None
    ask: float | None
    last_trade: float
    shown: float

    @property
    def mid(self) -> float | None:
        """Return the middle of bid and ask, None unless both are there."""
        return None if self.bid is None or self.ask is None else round((self.bid + self.ask) / 2, 6)


def last_quotes(quotes: Quotes) -> list[BookQuote]:
    """Return each market's quote in the last hour of a path."""
    columns = (quotes.bid, quotes.ask, quotes.last_trade, quotes.shown)
    rows = zip(*(column[:, -1].tolist() for column in columns), strict=True)
    return [BookQuote(_number(bid), _number(ask), last_trade, shown) for bid, ask, last_trade, shown in rows]


def decided_quote(market: MarketPlan, last: BookQuote, payout: float) -> BookQuote:
    """Return the quote of a market whose outcome is known but not yet paid: near 1 or 0, or as it was when void."""
    if payout == 1.0:
        return BookQuote(bid=round(1 - market.tick, 6), ask=None, last_trade=round(1 - market.tick, 6), shown=0.9995)
    if payout == 0.0:
        return BookQuote(bid=None, ask=market.tick, last_trade=market.tick, shown=0.0005)
    return last


def _number(value: float) -> float | None:
    """Return the number, or None for NaN."""
    return None if math.isnan(value) else value
