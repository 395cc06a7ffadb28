"""Prices as of an instant: the last observation of a market that a query may see."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import (
    Floats,
    Ints,
    floats,
    indices,
    numbers,
    same_length,
    scalar,
    shares,
    stable_order,
    within_floats,
)

MAX_GAP_SECONDS = 259_200.0
"""Three days."""

_QUERIES_AT_ONCE = 32_768


@within_floats
def as_of_prices(
    market_index: ArrayLike,
    observed_at: ArrayLike,
    prices_yes: ArrayLike,
    query_market: ArrayLike,
    query_at: ArrayLike,
    *,
    not_before: ArrayLike | None = None,
    max_gap_seconds: float = MAX_GAP_SECONDS,
) -> Floats:
    """Return the price of each queried market at the queried instant.

    It is the last observation with `not_before < observed_at <= query_at`, if `query_at - observed_at <=
    max_gap_seconds`. Nothing later is ever seen. The inputs need no order. Of several observations of a market at one
    instant the last in input order counts.

    Args:
        market_index: The observed market, shape (n,), whole numbers.
        observed_at: Its instant in seconds, shape (n,); compared exactly as given.
        prices_yes: The observed price of YES, shape (n,), in [0, 1].
        query_market: The queried market, shape (q,), whole numbers; it may have no observation.
        query_at: The queried instant in seconds, shape (q,).
        not_before: An observation must be strictly later than this, in seconds,
            shape (q,) or one number; minus infinity and None allow any.
        max_gap_seconds: The greatest age of an observation; infinity allows any.

    Returns:
        Prices of YES, shape (q,), NaN where there is none.

    Raises:
        ValueError: If lengths differ, or a value is NaN or out of range. Having
            no observations or no queries is no error.

    Examples:
        >>> as_of_prices([7, 7], [10.0, 20.0], [0.4, 0.6], [7, 7, 7, 8], [9.0, 19.0, 20.0, 20.0])
        array([nan, 0.4, 0.6, nan])
        >>> as_of_prices([7], [10.0], [0.4], [7, 7], [15.0, 99.0], not_before=[10.0, 0.0], max_gap_seconds=50)
        array([nan, nan])
    """
    market, seen_at = indices("market_index", market_index), numbers("observed_at", observed_at)
    prices = shares("prices_yes", prices_yes)
    same_length(market_index=market, observed_at=seen_at, prices_yes=prices)
    asked, asked_at = indices("query_market", query_market), numbers("query_at", query_at)
    same_length(query_market=asked, query_at=asked_at)
    max_gap_seconds = scalar("max_gap_seconds", max_gap_seconds)
    if not max_gap_seconds >= 0.0:
        raise ValueError(f"max_gap_seconds is {max_gap_seconds!r}; it must be zero or more")
    earliest = _earliest(not_before, asked_at)
    market, asked = _from_zero(market, asked)
    shown = Observations.of(market, seen_at, prices, max(int(market.max(initial=-1)), int(asked.max(initial=-1))) + 1)
    found = np.empty(asked.shape)
    # In market order, the observations are in the cache already.
    order = stable_order(asked)
    for start in range(0, asked.size, _QUERIES_AT_ONCE):
        rows = order[start : start + _QUERIES_AT_ONCE]
        found[rows] = shown.prices_at(asked[rows], asked_at[rows], earliest[rows], max_gap_seconds)
    return found


def _earliest(not_before: ArrayLike | None, asked_at: Floats) -> Floats:
    """Return the lower bound of each query, shape (q,)."""
    bound = floats("not_before", -np.inf if not_before is None else not_before)
    if np.isnan(bound).any():
        raise ValueError("not_before has a NaN; give seconds, or minus infinity for no bound")
    if bound.ndim and bound.shape != asked_at.shape:
        raise ValueError(f"not_before has shape {bound.shape}, query_at {asked_at.shape}; give one bound a query")
    return np.broadcast_to(bound, asked_at.shape)


def _from_zero(market: Ints, asked: Ints) -> tuple[Ints, Ints]:
    """Return the same markets numbered from zero, with few or no gaps."""
    if market.size == 0 or asked.size == 0:
        return np.zeros_like(market), np.zeros_like(asked)
    low, high = min(int(market.min()), int(asked.min())), max(int(market.max()), int(asked.max()))
    if low >= 0 and high < 4 * (market.size + asked.size):
        return market, asked
    if high - low < 4 * (market.size + asked.size):
        return market - low, asked - low
    codes = np.unique(np.concatenate([market, asked]), return_inverse=True)[1].astype(np.int64)
    return codes[: market.size], codes[market.size :]


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """Observed prices, by market and then by instant."""

    ends: Ints
    """The end of each market's observations, (markets,)."""
    at: Floats
    prices: Floats
    steps: tuple[int, ...]
    """Falling powers of two that add up to at least the most observations of a market."""

    @classmethod
    def of(cls, market: Ints, seen_at: Floats, prices: Floats, markets: int) -> "Observations":
        """Return observations sorted by market (numbered from zero) and time; at one instant in input order."""
        counts = np.bincount(market, minlength=markets)
        steps = tuple(1 << power for power in reversed(range(int(counts.max(initial=0)).bit_length())))
        if not in_order(market, seen_at):
            order = np.lexsort((seen_at, market))
            seen_at, prices = seen_at[order], prices[order]
        return cls(np.cumsum(counts), seen_at, prices, steps)

    def prices_at(self, asked: Ints, at: Floats, earliest: Floats, gap: float) -> Floats:
        """Return the price of each queried market, (q,), by bisection of all queries at once."""
        stop = self.ends[asked]
        start = np.where(asked > 0, self.ends[asked - 1], 0)
        row = start - 1
        for step in self.steps:
            further = row + step
            seen = self.at[np.minimum(further, self.at.size - 1)]
            row = np.where((further < stop) & (seen <= at), further, row)
        hit = np.flatnonzero(row >= start)
        row = row[hit]
        seen = self.at[row]
        visible = (seen > earliest[hit]) & (at[hit] - seen <= gap)
        found = np.full(asked.shape, np.nan)
        found[hit[visible]] = self.prices[row[visible]]
        return found


def in_order(market: Ints, seen_at: Floats) -> bool:
    """Return whether rows are sorted by market and instant, as from a ledger: sorting millions takes seconds."""
    same, rising = market[1:] == market[:-1], seen_at[1:] >= seen_at[:-1]
    return bool(np.all((market[1:] > market[:-1]) | (same & rising)))
