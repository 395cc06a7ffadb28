"""Filters: which markets trade and move enough to be compared, and on which days two were both open."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.related.beliefs import Beliefs
from predibot.related.features import daily_changes, volatile_share
from predibot.scoring.arguments import Ints


@dataclass(frozen=True, slots=True)
class Filters:
    """What a market must have to be compared."""

    least_traded: float = 0.25
    """The share of each domain's markets that is left out, by least volume."""
    window_days: int = 7
    least_deviation: float = 0.1
    """gamma: least standard deviation of a window's daily logit returns."""
    volatile_share: float = 0.3
    """alpha: least share of windows with that deviation."""


@dataclass(frozen=True, slots=True, eq=False)
class FilterResult:
    """The markets that are kept, and the numbers of others."""

    kept: NDArray[np.bool_]
    little_traded: int
    flat: int
    """Markets that traded enough, but moved too little or have no whole window."""
    volume_unknown: int
    """Markets without a stated volume, which is no reason to leave them out; some may be flat."""


def apply_filters(beliefs: Beliefs, filters: Filters) -> FilterResult:
    """Return which of n markets pass the filters of BeliefBench, section 5.1; a volume at the quantile passes."""
    unknown = np.isnan(beliefs.volume_usd)
    traded = np.ones(beliefs.n, dtype=np.bool_)
    domains, domain = np.unique(np.array(beliefs.domains, dtype=np.str_), return_inverse=True)
    for number in range(domains.size):
        own = (domain == number) & ~unknown
        if own.any():
            traded[own] = beliefs.volume_usd[own] >= np.quantile(beliefs.volume_usd[own], filters.least_traded)
    share = volatile_share(
        daily_changes(beliefs.prices, logits=True),
        beliefs.n,
        window_days=filters.window_days,
        least_deviation=filters.least_deviation,
    )
    moved = share >= filters.volatile_share
    return FilterResult(
        kept=traded & moved,
        little_traded=int((~traded).sum()),
        flat=int((traded & ~moved).sum()),
        volume_unknown=int(unknown.sum()),
    )


def open_days(beliefs: Beliefs) -> tuple[Ints, Ints]:
    """Return each market's first and last day with a price, (n,) each; 1 and 0 without any."""
    first, last = np.ones(beliefs.n, dtype=np.int64), np.zeros(beliefs.n, dtype=np.int64)
    begins = np.flatnonzero(np.diff(beliefs.prices.market, prepend=-1))
    ends = np.append(begins[1:], beliefs.prices.market.size) - 1
    market = beliefs.prices.market[begins]
    first[market], last[market] = beliefs.prices.day[begins], beliefs.prices.day[ends[: begins.size]]
    return first, last


def overlap_days(first: Ints, last: Ints, ours: Ints, theirs: Ints) -> Ints:
    """Return the number of days on which two markets were both open, for rows `ours` and `theirs`."""
    days: Ints = np.minimum(last[ours], last[theirs]) - np.maximum(first[ours], first[theirs]) + 1
    priced = (last >= first)[ours] & (last >= first)[theirs]
    return np.where(priced, np.maximum(days, 0), 0)
