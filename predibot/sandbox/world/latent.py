"""The latent level behind an event: a Gaussian walk in a time that jumps at news, and the chances it implies.

With x the level, V the uncertainty used up (1 in the end) and k a border, the
chance of ending above k is Phi((x - k) / sqrt(1 - V)). That is an exact
martingale that ends at the outcome, so prices made of it are calibrated.

What moves the level is known to some a lead before it reaches the price; news
pages are written by them. A price stays calibrated and a martingale given its
own past, because the steps it has still to learn are independent of those it
knows. Only the step at which an outcome is decided is known to nobody before.
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
"""Of the uncertainty that goes when an outcome is decided, what goes only then for everybody."""


@dataclass(frozen=True, slots=True)
class Walk:
    """The level at each hour of an event, and the share of uncertainty used up by then; shapes (hours + 1,)."""

    level: Floats
    used: Floats
    surprise: Floats
    """The part of the step into each hour after the first that is known to nobody before, shape (hours,)."""


def walk_of(draws: Draws, plan: EventPlan) -> Walk:
    """Return the walk of an event; the step into an hour becomes known to some a lead before it."""
    used = _uncertainty_used(draws, plan)
    hours = np.arange(plan.opens_hour + 1, plan.decided_hour + 1)
    known_hours = np.maximum(hours - lead_hours(plan), plan.opens_hour)
    sizes, open_share = np.sqrt(np.diff(used)), _open_share(plan)
    news = draws.normal("step", event=plan.number, item=hours, known_at_minute=known_hours * MINUTES_AN_HOUR)
    last = draws.normal("surprise", event=plan.number, item=hours, known_at_minute=hours * MINUTES_AN_HOUR)
    surprise = sizes * np.sqrt(open_share) * last
    steps = sizes * np.sqrt(1.0 - open_share) * news + surprise
    return Walk(level=np.concatenate(([0.0], np.cumsum(steps))), used=used, surprise=surprise)


def _uncertainty_used(draws: Draws, plan: EventPlan) -> Floats:
    """Return the share of uncertainty used up at each hour of an event, shape (hours + 1,), from 0 to 1.

    Part of it goes steadily, part at the instants of news, part when an outcome
    is known. All of this is fixed at birth, so that a chance never needs to
    know anything later than its own hour.
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
    """Return how many hours before the price some know what will move it: most of the event's life."""
    return int(min(max(LEAD_SHARE * (plan.decided_hour - plan.opens_hour), SHORTEST_LEAD_HOURS), LONGEST_LEAD_HOURS))


def informed_chances(plan: EventPlan, walk: Walk, hour: int) -> Floats:
    """Return the chance of YES of each market to those who know what will reach the price within the lead.

    Args:
        plan: The event.
        walk: Its walk.
        hour: Counted from the event's first, from 0. From a market's decision
            on, its last chance before that is repeated.

    Returns:
        Shape (markets,), each in [0, 1]; exact given what they know.
    """
    places = np.arange(1, len(walk.used))
    ends = np.array([[market.decided_hour - plan.opens_hour] for market in plan.markets])
    past, ahead = places <= np.minimum(hour, ends - 1), places <= np.minimum(hour + lead_hours(plan), ends)
    level = (ahead * (np.diff(walk.level) - walk.surprise) + past * walk.surprise).sum(axis=1)
    open_share = np.where(past, 0.0, np.where(ahead, _open_share(plan), 1.0)) * (places <= ends)
    left = (open_share * np.diff(walk.used)).sum(axis=1)
    deviation = np.sqrt(np.maximum(left, 1e-12))
    low, high = (np.array([getattr(market, name) for market in plan.markets]) for name in ("low", "high"))
    return np.maximum(_normal_share((level - low) / deviation) - _normal_share((level - high) / deviation), 0.0)


def _open_share(plan: EventPlan) -> Floats:
    """Return the share of each hour's uncertainty that is known to nobody before, shape (hours,)."""
    share = np.zeros(plan.decided_hour - plan.opens_hour)
    share[[market.decided_hour - plan.opens_hour - 1 for market in plan.markets]] = SURPRISE_SHARE
    return share


def chances(plan: EventPlan, markets: Sequence[MarketPlan], walk: Walk, hours: NDArray[np.int64]) -> Floats:
    """Return the chance of YES of each market at each hour, shape (markets, hours), each in [0, 1].

    Hours count from the event's first; from a market's decision on, its last
    chance before that is repeated.
    """
    ends = np.array([[market.decided_hour - plan.opens_hour] for market in markets])
    known = np.minimum(hours, ends - 1)
    deviation = np.sqrt(np.maximum(walk.used[ends] - walk.used[known], 1e-12))
    bounds = np.array([[market.low, market.high] for market in markets])
    level = walk.level[known]
    chance = _normal_share((level - bounds[:, :1]) / deviation)
    if np.isinf(bounds[:, 1]).all():
        return chance
    return np.maximum(chance - _normal_share((level - bounds[:, 1:]) / deviation), 0.0)


def is_yes(plan: EventPlan, market: MarketPlan, walk: Walk) -> bool:
    """Return whether the level ends within the market's bounds. Known from its `decided_hour` on."""
    return market.low < float(walk.level[market.decided_hour - plan.opens_hour]) <= market.high


def _normal_share(values: Floats) -> Floats:
    """Return the standard normal distribution function, elementwise."""
    scaled = (values / math.sqrt(2.0)).ravel().tolist()
    return 0.5 + 0.5 * np.array([math.erf(value) for value in scaled]).reshape(values.shape)
