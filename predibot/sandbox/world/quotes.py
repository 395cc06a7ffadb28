"""Chances and quotes of a market: a random walk implies the chance, and the venue quotes around it.

With x the level, V the uncertainty used up (1 in the end) and k a border, the chance of ending above k is Phi((x - k) /
sqrt(1 - V)). It is an exact martingale that ends at the outcome, so prices made of it are calibrated.

Insiders know a step of the level a lead before it reaches the price, and write the news. Prices stay calibrated and a
martingale given their own past, because unknown steps are independent of known ones. Nobody knows the deciding step
before its time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.sandbox.world.calendar import MINUTES_AN_HOUR
from predibot.sandbox.world.draws import Draws
from predibot.sandbox.world.plan import EventPlan, MarketPlan

Floats = NDArray[np.float64]

LEAD_SHARE = 0.8
SHORTEST_LEAD_HOURS = 6
LONGEST_LEAD_HOURS = 45 * 24
SURPRISE_SHARE = 0.3
"""The share of the uncertainty of a deciding step that no insider knows before."""


@dataclass(frozen=True, slots=True)
class Walk:
    """The level and the share of uncertainty used up at each hour of an event, shapes (hours + 1,)."""

    level: Floats
    used: Floats
    surprise: Floats
    """The part of each step that no insider knows before, shape (hours,)."""


def walk_of(draws: Draws, plan: EventPlan) -> Walk:
    """Return the walk of an event; insiders know each step a lead before its hour."""
    used = _uncertainty_by_hour(draws, plan)
    hours = np.arange(plan.opens_hour + 1, plan.decided_hour + 1)
    known_hours = np.maximum(hours - lead_hours(plan), plan.opens_hour)
    sizes, open_share = np.sqrt(np.diff(used)), _open_share(plan)
    news = draws.normal("step", event=plan.number, item=hours, known_at_minute=known_hours * MINUTES_AN_HOUR)
    last = draws.normal("surprise", event=plan.number, item=hours, known_at_minute=hours * MINUTES_AN_HOUR)
    surprise = sizes * np.sqrt(open_share) * last
    steps = sizes * np.sqrt(1.0 - open_share) * news + surprise
    return Walk(level=np.concatenate(([0.0], np.cumsum(steps))), used=used, surprise=surprise)


def _uncertainty_by_hour(draws: Draws, plan: EventPlan) -> Floats:
    """Return the share of uncertainty used up at each hour of an event, shape (hours + 1,), from 0 to 1.

    Some goes steadily, some with news, some when an outcome is known. All of it is fixed at birth, so that a chance
    depends on nothing later than its own hour.
    """
    hours = plan.decided_hour - plan.opens_hour
    steady = 1.0 - plan.news_share - plan.closing_share
    used = np.full(hours, steady / hours)
    numbers = np.arange(plan.news_count)
    place = draws.uniform("news hour", event=plan.number, item=numbers, known_at_minute=plan.known_at_minute)
    size = np.exp(draws.normal("news size", event=plan.number, item=numbers, known_at_minute=plan.known_at_minute))
    np.add.at(used, np.floor(place * hours).astype(np.int64), plan.news_share * size / size.sum())
    closings = sorted({market.decided_hour for market in plan.markets})
    used[np.array(closings) - plan.opens_hour - 1] += plan.closing_share / len(closings)
    return np.concatenate(([0.0], np.cumsum(used) / used.sum()))


def lead_hours(plan: EventPlan) -> int:
    """Return how many hours insiders are ahead of the price: most of the event's life."""
    return int(min(max(LEAD_SHARE * (plan.decided_hour - plan.opens_hour), SHORTEST_LEAD_HOURS), LONGEST_LEAD_HOURS))


def insider_chances(plan: EventPlan, walk: Walk, hour: int) -> Floats:
    """Return the chance of YES of each market as insiders know it, shape (markets,), each in [0, 1]. `hour` counts from
    the event's first. From a market's decision on, its last chance before that is repeated.
    """
    places = np.arange(1, len(walk.used))
    ends = np.array([[market.decided_hour - plan.opens_hour] for market in plan.markets])
    past, ahead = places <= np.minimum(hour, ends - 1), places <= np.minimum(hour + lead_hours(plan), ends)
    level = (ahead * (np.diff(walk.level) - walk.surprise) + past * walk.surprise).sum(axis=1)
    open_share = np.where(past, 0.0, np.where(ahead, _open_share(plan), 1.0)) * (places <= ends)
    left = (open_share * np.diff(walk.used)).sum(axis=1)
    deviation = np.sqrt(np.maximum(left, 1e-12))
    low, high = (np.array([getattr(market, name) for market in plan.markets]) for name in ("low", "high"))
    return np.maximum(_normal_cdf((level - low) / deviation) - _normal_cdf((level - high) / deviation), 0.0)


def _open_share(plan: EventPlan) -> Floats:
    """Return the share of each hour's uncertainty that no insider knows before, shape (hours,)."""
    share = np.zeros(plan.decided_hour - plan.opens_hour)
    share[[market.decided_hour - plan.opens_hour - 1 for market in plan.markets]] = SURPRISE_SHARE
    return share


def chances(plan: EventPlan, markets: Sequence[MarketPlan], walk: Walk, hours: NDArray[np.int64]) -> Floats:
    """Return the chance of YES of each market at each hour, shape (markets, hours), each in [0, 1]; hours as above."""
    ends = np.array([[market.decided_hour - plan.opens_hour] for market in markets])
    known = np.minimum(hours, ends - 1)
    deviation = np.sqrt(np.maximum(walk.used[ends] - walk.used[known], 1e-12))
    bounds = np.array([[market.low, market.high] for market in markets])
    level = walk.level[known]
    chance = _normal_cdf((level - bounds[:, :1]) / deviation)
    if np.isinf(bounds[:, 1]).all():
        return chance
    return np.maximum(chance - _normal_cdf((level - bounds[:, 1:]) / deviation), 0.0)


def is_yes(plan: EventPlan, market: MarketPlan, walk: Walk) -> bool:
    """Return whether the level ends within the market's bounds; known from its `decided_hour` on."""
    return market.low < float(walk.level[market.decided_hour - plan.opens_hour]) <= market.high


def _normal_cdf(values: Floats) -> Floats:
    scaled = (values / math.sqrt(2.0)).ravel().tolist()
    return 0.5 + 0.5 * np.array([math.erf(value) for value in scaled]).reshape(values.shape)


WIDEST_SHOWN_MID = 0.10
"""Above this spread the venue shows the last trade, not the middle."""


@dataclass(frozen=True, slots=True)
class Quotes:
    """Hourly prices of first outcomes, shape (markets, hours); NaN where a book lacks a side."""

    bid: Floats
    ask: Floats
    last_trade: Floats
    shown: Floats
    """The displayed price of `outcomePrices` and of the price history, in (0, 1)."""


LONGEST_TRADE_LAG_HOURS = 2


def quotes_of(markets: Sequence[MarketPlan], chance: Floats) -> Quotes:
    """Return the quotes for paths of chances, shape (markets, hours). A last trade is up to two hours old: unless the
    path begins with the event, do not use its first two hours.
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
    """Prices of the first outcome at an instant; None for an empty side of the book."""

    bid: float | None
    ask: float | None
    last_trade: float
    shown: float

    @property
    def mid(self) -> float | None:
        """Return the middle of bid and ask, None without both."""
        return None if self.bid is None or self.ask is None else round((self.bid + self.ask) / 2, 6)


def last_quotes(quotes: Quotes) -> list[BookQuote]:
    """Return each market's quote at the last hour of a path."""
    columns = (quotes.bid, quotes.ask, quotes.last_trade, quotes.shown)
    rows = zip(*(column[:, -1].tolist() for column in columns), strict=True)
    return [
        BookQuote(_none_for_nan(bid), _none_for_nan(ask), last_trade, shown) for bid, ask, last_trade, shown in rows
    ]


def quote_after_decision(market: MarketPlan, last: BookQuote, payout: float) -> BookQuote:
    """Return the quote of a decided but unpaid market: near 1 or 0; unchanged if it is void."""
    if payout == 1.0:
        return BookQuote(bid=round(1 - market.tick, 6), ask=None, last_trade=round(1 - market.tick, 6), shown=0.9995)
    if payout == 0.0:
        return BookQuote(bid=None, ask=market.tick, last_trade=market.tick, shown=0.0005)
    return last


def _none_for_nan(value: float) -> float | None:
    return None if math.isnan(value) else value
