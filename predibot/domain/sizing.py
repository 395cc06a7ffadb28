"""Sizing: how many dollars a probability is worth at a price, by a rule with a name."""

import math
from collections.abc import Sequence
from typing import Literal

from predibot.domain.price import MIN_SIDE_PRICE

SizingRule = Literal["kelly", "fractional_kelly", "flat"]
SIZING_RULES: tuple[SizingRule, ...] = ("kelly", "fractional_kelly", "flat")
KELLY_FRACTION = 0.25
"""What `fractional_kelly` bets of Kelly's share: a quarter, because forecasts are less certain than they say."""


def bet_usd(rule: SizingRule, probability: float, price_yes: float, stake_usd: float) -> float:
    """Return the bet on one market: positive buys YES, negative buys NO, never more than the stake.

    `kelly` bets the share of the stake that makes its logarithm grow fastest,
    `fractional_kelly` a quarter of that, and `flat` all of it on the side that
    is worth more than it costs. Without an edge, or on a side that is too cheap
    for a bet to be taken, nothing is bet.

    Args:
        rule: One of `SIZING_RULES`.
        probability: Of YES, in [0, 1].
        price_yes: What a share of YES costs, in [0, 1]; NO costs the rest.
        stake_usd: The most that may be bet, 0 or more.

    Raises:
        ValueError: If a number is out of its range.

    Source:
        Kelly (1956), Bell System Technical Journal 35(4), 917-926, for a share
        that costs c and pays 1: (p - c) / (1 - c).

    Examples:
        >>> bet_usd("kelly", 0.75, 0.5, 1.0)
        0.5
        >>> bet_usd("fractional_kelly", 0.25, 0.5, 1.0)
        -0.125
        >>> bet_usd("flat", 0.4, 0.5, 1.0)
        -1.0
    """
    for name, value in (("probability", probability), ("price", price_yes)):
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"the {name} is {value!r}; it is between 0 and 1")
    if not 0.0 <= stake_usd < math.inf:
        raise ValueError(f"the stake is {stake_usd!r}; it is 0 or more")
    yes = probability > price_yes
    chance, cost = (probability, price_yes) if yes else (1.0 - probability, 1.0 - price_yes)
    if chance <= cost or not MIN_SIDE_PRICE <= cost < 1.0:
        return 0.0
    return _share(rule, chance, cost) * stake_usd * (1.0 if yes else -1.0)


def bets_usd(
    rule: SizingRule, probabilities: Sequence[float], prices_yes: Sequence[float | None], stake_usd: float
) -> tuple[float, ...]:
    """Return bets on several markets that together stay within one stake.

    Each is sized by itself with the whole stake, then all are made smaller by
    the same factor where they are too much together.

    Args:
        rule: One of `SIZING_RULES`.
        probabilities: Of YES, (n,), each in [0, 1].
        prices_yes: Of YES, (n,), each in [0, 1], or None where there is none: nothing is bet there.
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


def _share(rule: SizingRule, chance: float, cost: float) -> float:
    """Return the share of the stake that is bet on the side that has an edge."""
    kelly = (chance - cost) / (1.0 - cost)
    shares: dict[SizingRule, float] = {"kelly": kelly, "fractional_kelly": KELLY_FRACTION * kelly, "flat": 1.0}
    if rule not in shares:
        raise ValueError(f"no sizing rule {rule!r}; there are {', '.join(SIZING_RULES)}")
    return shares[rule]
