"""Filters: which markets say enough to be compared, and which two of them were open together."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.related.beliefs import Beliefs
from predibot.related.change_points import deltas, volatile_share
from predibot.scoring.arguments import Ints


@dataclass(frozen=True, slots=True)
class Filters:
    """What a market must have to be compared."""

    least_traded: float = 0.25
    """The share of each domain's markets, those of least volume, that are left out."""
    window_days: int = 7
    """w."""
    least_deviation: float = 0.1
    """gamma: of the daily logit returns of a window."""
    volatile_share: float = 0.3
    """alpha: of the windows, that have at least that deviation."""


@dataclass(frozen=True, slots=True, eq=False)
class Filtered:
    """Which markets are kept, and how many are not."""

    kept: NDArray[np.bool_]
    """(n,)."""
    little_traded: int
    flat: int
    """Of those traded enough, how many moved too little, or have no window of `window_days` returns."""
    volume_unknown: int
    """How many passed the first filter because their venue states no volume."""


def filtered(beliefs: Beliefs, filters: Filters) -> Filtered:
    """Return which markets pass the filters.

    Args:
        beliefs: The n markets.
        filters: What they must have.

    Source:
        BeliefBench, section 5.1. A volume at the quantile itself is kept.
    """
    unknown = np.isnan(beliefs.volume_usd)
    traded = np.ones(beliefs.n, dtype=np.bool_)
    domains, domain = np.unique(np.array(beliefs.domains, dtype=np.str_), return_inverse=True)
    for number in range(domains.size):
        own = (domain == number) & ~unknown
        if own.any():
            traded[own] = beliefs.volume_usd[own] >= np.quantile(beliefs.volume_usd[own], filters.least_traded)
    share = volatile_share(
        deltas(beliefs.prices, logits=True),
        beliefs.n,
        window_days=filters.window_days,
        least_deviation=filters.least_deviation,
    )
    moved = share >= filters.volatile_share
    return Filtered(
        kept=traded & moved,
        little_traded=int((~traded).sum()),
        flat=int((traded & ~moved).sum()),
        volume_unknown=int(unknown.sum()),
    )


def open_days(beliefs: Beliefs) -> tuple[Ints, Ints]:
    """Return the first and the last day on which each market had a price, (n,) each; of one without, none: 1 and 0."""
    first, last = np.ones(beliefs.n, dtype=np.int64), np.zeros(beliefs.n, dtype=np.int64)
    begins = np.flatnonzero(np.diff(beliefs.prices.market, prepend=-1))
    ends = np.append(begins[1:], beliefs.prices.market.size) - 1
    market = beliefs.prices.market[begins]
    first[market], last[market] = beliefs.prices.day[begins], beliefs.prices.day[ends[: begins.size]]
    return first, last


def overlap_days(first: Ints, last: Ints, ours: Ints, theirs: Ints) -> Ints:
    """Return on how many days two markets were both open, 0 where they never were; in the shape of both rows together.

    Args:
        first: The first day of each market, (n,).
        last: The last one, (n,).
        ours: Rows of markets.
        theirs: Rows of others, of a shape that fits.
    """
    days: Ints = np.minimum(last[ours], last[theirs]) - np.maximum(first[ours], first[theirs]) + 1
    priced = (last >= first)[ours] & (last >= first)[theirs]
    return np.where(priced, np.maximum(days, 0), 0)
