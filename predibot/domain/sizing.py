"""Sizing: how many dollars to bet on a probability at a price, by a rule with a name."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from predibot.domain.price import MIN_SIDE_PRICE

SizingRule = Literal["flat", "kelly", "half_kelly", "fractional_kelly"]
SIZINGS: Mapping[str, float | None] = MappingProxyType(
    {"flat": None, "kelly": 1.0, "half_kelly": 0.5, "fractional_kelly": 0.25}
)
"""The part of Kelly's share that each rule bets: less than all, because forecasts are less certain than they say."""


def kelly_share(edge: Any, other_price: Any) -> Any:
    """Return the share of one's money whose logarithm grows fastest on a bet: its edge over the other side's price.

    A share that costs c and pays 1 with probability p is worth (p - c) / (1 - c) of it. Numbers and arrays will do.

    Args:
        edge: The side's value less its cost: p - c.
        other_price: The other side's cost, above 0: 1 - c.

    Source:
        Kelly (1956), Bell System Technical Journal 35(4), 917-926.
    """
    return edge / other_price


def bet_usd(rule: str, probability: float, price_yes: float, stake_usd: float) -> float:
    """Return the bet on one market: positive buys YES, negative buys NO, at most the stake.

    `kelly` bets `kelly_share` of the stake, `half_kelly` half of that and `fractional_kelly` a quarter. `flat` bets the
    whole stake on the side that is worth more than it costs. Without an edge, or on a side below the least price of a
    bet, it is 0.

    Args:
        rule: One of `SIZINGS`.
        probability: Of YES, in [0, 1].
        price_yes: In [0, 1].
        stake_usd: 0 or more.

    Raises:
        ValueError: If there is no such rule, or a number is out of its range.

    Examples:
        >>> bet_usd("kelly", 0.75, 0.5, 1.0)
        0.5
        >>> bet_usd("fractional_kelly", 0.25, 0.5, 1.0)
        -0.125
        >>> bet_usd("flat", 0.4, 0.5, 1.0)
        -1.0
    """
    if rule not in SIZINGS:
        raise ValueError(f"no sizing rule {rule!r}; there are {', '.join(SIZINGS)}")
    for name, value in (("probability", probability), ("price", price_yes)):
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"the {name} is {value!r}; it is between 0 and 1")
    if not 0.0 <= stake_usd < math.inf:
        raise ValueError(f"the stake is {stake_usd!r}; it is 0 or more")
    yes = probability > price_yes
    chance, cost = (probability, price_yes) if yes else (1.0 - probability, 1.0 - price_yes)
    if chance <= cost or not MIN_SIDE_PRICE <= cost < 1.0:
        return 0.0
    fraction = SIZINGS[rule]
    share = 1.0 if fraction is None else fraction * kelly_share(chance - cost, 1.0 - cost)
    return share * stake_usd * (1.0 if yes else -1.0)


def bets_usd(
    rule: str, probabilities: Sequence[float], prices_yes: Sequence[float | None], stake_usd: float
) -> tuple[float, ...]:
    """Return bets on several markets that together stay within one stake.

    Each is sized alone with the whole stake; if they come to more, all are scaled down by the same factor.

    Args:
        rule: One of `SIZINGS`.
        probabilities: Of YES, (n,), each in [0, 1].
        prices_yes: (n,), each in [0, 1], or None for no bet.
        stake_usd: For all together.

    Raises:
        ValueError: If the lengths differ or a number is out of its range.

    Examples:
        >>> bets_usd("flat", [0.6, 0.1, 0.5], [0.5, 0.5, None], 1.0)
        (0.5, -0.5, 0.0)
    """
    pairs = zip(probabilities, prices_yes, strict=True)
    bets = [0.0 if price is None else bet_usd(rule, chance, price, stake_usd) for chance, price in pairs]
    total_usd = math.fsum(map(abs, bets))
    scale = stake_usd / total_usd if total_usd > stake_usd else 1.0
    return tuple(bet * scale for bet in bets)
