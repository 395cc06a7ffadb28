"""Standings: the groups of a leaderboard and their order, with the baselines as the last."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

from predibot.scoring.records.knowledge import Knowledge

INDEX_FUND = "index_fund"
"""The one that buys an index, by which portfolios of stocks are measured."""
BASELINES = frozenset(
    {
        *("market_price", "random_bet", "favourite", "underdog", "always_half"),
        *("all_cash", "equal_weights", "buy_and_hold", "market_favourite", "random_weights", INDEX_FUND),
        "random_trade",
    }
)
"""Their names as strategies: what a bot is called says nothing."""


Standing = Literal["better", "not proven", "worse", "too few", "baseline"]
STANDINGS: tuple[Standing, ...] = ("better", "not proven", "worse", "too few", "baseline")
"""In the order of a board. Only the first has places; baselines are lines apart."""
ALIKE_PLACES = 9
"""Numbers that are equal to so many places order nobody."""
_ALIKE = 1e-9
_Name = TypeVar("_Name")


def places(ends: Mapping[_Name, tuple[Knowledge, float]]) -> Mapping[_Name, int]:
    """Return the place of each by what it surely has, equals alike; whoever may have known otherwise is counted apart.

    Args:
        ends: What the models behind each can have known, and the lower end that ranks it.
    """
    return {
        name: 1 + sum(other == known and end > low + _ALIKE for other, end in ends.values())
        for name, (known, low) in ends.items()
    }


def left_out(told: Sequence[str]) -> tuple[str, ...]:
    """Return why bots are in no score whose models may have read how it went; nothing of none."""
    what = "left out, because their models were trained on what came after their decisions"
    return (f"{what}: {', '.join(told)}",) if told else ()
