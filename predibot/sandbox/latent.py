"""The latent level behind an event: a Gaussian walk in a time that jumps at news, and the chances it implies.

With x the level, V the uncertainty used up (1 in the end) and k a border, the
chance of ending above k is Phi((x - k) / sqrt(1 - V)). That is an exact
martingale that ends at the outcome, so prices made of it are calibrated.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.sandbox.calendar import MINUTES_AN_HOUR
from predibot.sandbox.draws import Draws
from predibot.sandbox.plan import EventPlan, MarketPlan

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Walk:
    """The level at each hour of an event, and the share of uncertainty used up by then; shapes (hours + 1,)."""

    level: Floats
    used: Floats


def walk_of(draws: Draws, plan: EventPlan) -> Walk:
    """Return the walk of an event; the step into an hour becomes known at that hour."""
    used = _uncertainty_used(draws, plan)
    hours = np.arange(plan.opens_hour + 1, plan.decided_hour + 1)
    steps = draws.normal("step", event=plan.number, item=hours, known_at_minute=hours * MINUTES_AN_HOUR)
    return Walk(level=np.concatenate(([0.0], np.cumsum(steps * np.sqrt(np.diff(used))))), used=used)


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
