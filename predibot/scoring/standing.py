"""Standings: the groups of a leaderboard and their order, with the baselines as the last."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

from predibot.scoring.records.knowledge import Knowledge

INDEX_FUND = "index_fund"
"""The baseline that buys an index fund, for portfolios of stocks."""
BASELINES = frozenset(
    {
        *("market_price", "random_bet", "favourite", "underdog", "always_half"),
        *("all_cash", "equal_weights", "buy_and_hold", "market_favourite", "random_weights", INDEX_FUND),
        "random_trade",
    }
)
"""Names of strategies; the name of a bot says nothing."""


Standing = Literal["better", "not proven", "worse", "too few", "baseline"]
STANDINGS: tuple[Standing, ...] = ("better", "not proven", "worse", "too few", "baseline")
"""Only the first has ranks; baselines come last."""
ALIKE_PLACES = 9
_ALIKE = 1e-9
_Name = TypeVar("_Name")


def places(ends: Mapping[_Name, tuple[Knowledge, float]]) -> Mapping[_Name, int]:
    """Return ranks from 1, the highest of the lower `ends` first, equals alike; each kind of knowledge by itself."""
    return {
        name: 1 + sum(other == known and end > low + _ALIKE for other, end in ends.values())
        for name, (known, low) in ends.items()
    }


def left_out_notes(bots: Sequence[str]) -> tuple[str, ...]:
    """Return a note on the bots in no score because their models may know the outcomes; empty for none."""
    what = "left out, because their models were trained on what came after their decisions"
    return (f"{what}: {', '.join(bots)}",) if bots else ()
