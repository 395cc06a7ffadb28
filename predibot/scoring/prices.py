"""Prices as of an instant: the last observation of a market that a query may see."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from predibot.scoring.arguments import Floats, Ints, indices, numbers, same_length, shares

MAX_GAP_SECONDS = 259_200.0
"""Three days."""


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
    """Return what each queried market's price was at the queried instant.

    That is its last observation with `not_before < observed_at <= query_at`,
    if `query_at - observed_at <= max_gap_seconds`. Nothing later is ever seen.
    The inputs need no order. Of several observations of a market at one
    instant the last in input order wins.

    Args:
        market_index: Which market was observed, shape (n,), whole numbers.
        observed_at: When, in seconds, shape (n,); compared exactly as given.
        prices_yes: The price of YES seen, shape (n,), in [0, 1].
        query_market: Which market is asked about, shape (q,), whole numbers; it
            may be one never observed.
        query_at: As of when, in seconds, shape (q,).
        not_before: An observation must be strictly later than this, in seconds,
            shape (q,) or one number; minus infinity and None allow any.
        max_gap_seconds: How old an observation may be; infinity allows any.

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
    if not max_gap_seconds >= 0.0:
        raise ValueError(f"max_gap_seconds is {max_gap_seconds!r}; it must be zero or more")
    earliest = _earliest(not_before, asked_at)
    found = np.full(asked.shape, np.nan)
    row = _last_observation(market, seen_at, asked, asked_at)
    hit = np.flatnonzero(row >= 0)
    row = row[hit]
    hit_at = seen_at[row]
    visible = (market[row] == asked[hit]) & (hit_at > earliest[hit]) & (asked_at[hit] - hit_at <= max_gap_seconds)
    found[hit[visible]] = prices[row[visible]]
    return found


def _earliest(not_before: ArrayLike | None, asked_at: Floats) -> Floats:
    """Return the bound of each query, shape (q,)."""
    bound = np.asarray(-np.inf if not_before is None else not_before, dtype=np.float64)
    if np.isnan(bound).any():
        raise ValueError("not_before has a NaN; give seconds, or minus infinity for no bound")
    if bound.ndim and bound.shape != asked_at.shape:
        raise ValueError(f"not_before has shape {bound.shape}, query_at {asked_at.shape}; give one bound a query")
    return np.broadcast_to(bound, asked_at.shape)


def _last_observation(market: Ints, seen_at: Floats, asked: Ints, asked_at: Floats) -> Ints:
    """Return the row of the last observation sorted before each query, -1 for none, shape (q,).

    Observations and queries are sorted together: four times faster than a
    binary search of each query. At one instant observations stay before
    queries, and in input order, because both sorts are stable. The row found
    may be of an earlier market: the caller looks.
    """
    markets = _narrow(np.concatenate([market, asked]))
    order = np.argsort(np.concatenate([seen_at, asked_at]), kind="stable")
    order = order[np.argsort(markets[order], kind="stable")]
    place = np.where(order < market.size, np.arange(order.size), -1)
    np.maximum.accumulate(place, out=place)
    rows = np.empty(order.size, dtype=np.int64)
    rows[order] = np.where(place >= 0, order[place], -1)
    return rows[market.size :]


def _narrow(markets: Ints) -> NDArray[np.integer[Any]]:
    """Return the same order of markets in 16 bits where they fit: numpy then sorts in linear time."""
    if markets.size == 0 or int(markets.max()) - int(markets.min()) >= 65_536:
        return markets
    narrow: NDArray[np.uint16] = (markets - markets.min()).astype(np.uint16)
    return narrow
