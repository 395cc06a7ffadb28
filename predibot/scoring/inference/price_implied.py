"""Price-implied variance: how far a sum of gains may still vary, by the prices that were paid.

No resampling of outcomes knows the long odds that did not come in; a price of 0.01 states them.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from predibot.scoring.arguments import (
    Floats,
    Ints,
    booleans,
    floats,
    indices,
    numbers,
    one_dimensional,
    refuse,
    same_length,
    shares,
    within_floats,
)
from predibot.scoring.inference.clusters import cluster_codes
from predibot.scoring.price_lookup import Observations

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class ShareLots:
    """k holdings of YES shares, those of a market in order of time, in c cells that are summed apart."""

    cell: Ints
    """(k,), from zero, such as a bot's event."""
    market: Ints
    shares: Floats
    """(k,), negative for NO."""
    price_yes: Floats
    later_yes: Floats
    """(k,); NaN where nothing is held."""
    paid: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Exclusion:
    """Groups of holdings in which at most one market pays YES, with their instants."""

    group: Ints
    """(k,), by the holding's market; -1 for none."""
    bought_at: Floats
    """(k,); `_Table` takes those of a group as its slots."""
    settled_at: Floats
    payout_yes: Floats
    stored: Observations | None = None
    """Known prices of the markets, which replace those of earlier purchases; by default a market keeps the price of
    its last purchase.
    """
    as_of: float = math.inf
    """The end, at which a market without a later price takes the last stored one."""


@within_floats
def price_implied_variance(
    shares_yes: ArrayLike,
    prices_yes: ArrayLike,
    prices_yes_later: ArrayLike,
    markets: ArrayLike,
    clusters: ArrayLike,
    bought_at: ArrayLike,
    *,
    held_until: ArrayLike,
    settled: ArrayLike,
    exclusive: ArrayLike | None = None,
) -> Floats:
    """Return the variance that prices imply for the summed gains of each cluster.

    A holding gains shares * (later price - price). Prices move like martingales,
    so while the price goes from p to p' a share has the variance q(p) - q(p'), with
    q(p) = p (1 - p) and 0 once settled. The variance of a market is a sum over all
    pairs of its holdings whose times overlap: the product of their shares times
    the difference of q at the later start and q at the earlier end. The variance of
    a cluster is the sum over its markets, never below zero.

    For markets that exclude each other it is the sum of Q(X_k; p_k) - Q(X_{k-1}; p_k)
    over the instants k of purchases, less Q of all open shares at their last
    prices. X are the net shares, Q(X; p) = sum X^2 p - (sum X p)^2, and prices that
    add up to more than one are scaled to one. These markets must all be held until
    the same instant.

    Args:
        shares_yes: Shares of YES, shape (n,), negative for NO.
        prices_yes: What YES was priced at then, shape (n,), in [0, 1].
        prices_yes_later: What it was priced at or paid at the end, shape (n,), in [0, 1].
        markets: Of which market, whole numbers, shape (n,).
        clusters: Which rows belong together, words or whole numbers, shape (n,).
        bought_at: When, in seconds, shape (n,).
        held_until: Until when, in seconds, shape (n,) or one number; infinity for all
            the same. Of two holdings of a market the one bought first must end first.
        settled: Whether the later price is what was paid, shape (n,).
        exclusive: The number of the group of markets that exclude each other,
            shape (n,), -1 for none; left out, there are none.

    Returns:
        The variance of each cluster, in the order of the labels, shape (clusters,).

    Raises:
        ValueError: If lengths differ, nothing is given, or a value is NaN or out of range.

    Source:
        The project's scoring contract.

    Examples:
        A hundred shares at 0.01, as good as one at even odds by its variance.

        >>> price_implied_variance([1, 100], [0.5, 0.01], [0, 0], [1, 2], ["a", "b"], [0, 0],
        ...     held_until=9, settled=[True, True]).round(2).tolist()
        [0.25, 99.0]
    """
    held, price = numbers("shares_yes", shares_yes), shares("prices_yes", prices_yes)
    later, paid = shares("prices_yes_later", prices_yes_later), booleans("settled", settled)
    market, cell = indices("markets", markets), cluster_codes(clusters)
    start = numbers("bought_at", bought_at)
    group = np.full(market.shape, -1) if exclusive is None else indices("exclusive", exclusive)
    same_length(
        shares_yes=held,
        prices_yes=price,
        prices_yes_later=later,
        markets=market,
        clusters=cell,
        bought_at=start,
        settled=paid,
        exclusive=group,
    )
    until = _ends(held_until, start)
    if np.unique(until[group >= 0]).size > 1:
        raise ValueError("held_until differs among markets that exclude each other; give one instant for all of them")
    order = np.lexsort((until, start, market, cell))
    holdings = ShareLots(cell[order], market[order], held[order], price[order], later[order], paid[order])
    never = np.full(order.shape, np.inf)
    none = exclusive is None or not (group >= 0).any()
    return variances(
        holdings,
        int(cell.max()) + 1,
        ends=first_after(start[order], until[order], run_ends(holdings.market, holdings.cell)),
        exclusion=None if none else Exclusion(group[order], start[order], never, later[order]),
    )


def _ends(held_until: ArrayLike, start: Floats) -> Floats:
    until = floats("held_until", held_until)
    until = one_dimensional("held_until", np.broadcast_to(until, start.shape) if until.ndim == 0 else until)
    same_length(bought_at=start, held_until=until)
    refuse("held_until", until, ~(until >= start), "it must not be before the instant at which it was bought")
    return until


def variances(held: ShareLots, cells: int, *, ends: Ints, exclusion: Exclusion | None = None) -> Floats:
    """Return the variance of each cell, (cells,), never below zero.

    Args:
        held: Holdings in order of time within each market of a cell.
        ends: For each, the first later holding of its market bought after it ended, (k,).
        exclusion: Groups that exclude each other; then all holdings must end at one instant.
    """
    if not held.shares.any():
        return np.zeros(cells)
    added = _of_markets(held, ends)
    if exclusion is None:
        found: Floats = np.maximum(np.bincount(held.cell, added, cells), 0.0)
    else:
        of_rest = np.bincount(held.cell, np.where(exclusion.group < 0, added, 0.0), cells)
        found = np.maximum(of_rest, 0.0) + _of_groups(held, exclusion, cells)
    # Terms that cancel leave the rounding of much larger numbers.
    at_most = np.bincount(held.cell, held.shares**2, cells)
    return np.where(found > _ROUNDING * at_most, found, 0.0)


def _of_markets(held: ShareLots, ends: Ints) -> Floats:
    """Return each holding's part of its cell's variance, (k,): with itself, and with later overlapping ones."""
    x = held.shares
    before = held.price_yes * (1.0 - held.price_yes)
    after = np.where(held.paid | (x == 0.0), 0.0, held.later_yes * (1.0 - held.later_yes))
    summed, weighed = np.zeros(x.size + 1), np.zeros(x.size + 1)
    np.cumsum(x, out=summed[1:])
    np.cumsum(x * before, out=weighed[1:])
    with_later = weighed[ends] - weighed[1:] - after * (summed[ends] - summed[1:])
    return x * (x * (before - after) + 2.0 * with_later)


def run_ends(*labels: Ints | Floats) -> Ints:
    """Return the end of the run of equal labels that each row is in, (k,)."""
    size = labels[0].size
    if not size:
        return np.zeros(0, dtype=np.int64)
    changes = np.logical_or.reduce([each[1:] != each[:-1] for each in labels])
    ends = np.append(np.flatnonzero(changes) + 1, size)
    return np.repeat(ends, np.diff(ends, prepend=0))


def first_after(start: Floats, until: Floats, ends: Ints) -> Ints:
    """Return the first later row of the same run that starts after each has ended, (k,), by bisection.

    `until` is when each one ends, and `ends` the end of its run, (k,) each; starts are in order within a run.
    """
    last = np.arange(start.size)
    span = int((ends - last).max(initial=0))
    for step in (1 << power for power in reversed(range(span.bit_length()))):
        further = last + step
        overlaps = (further < ends) & (start[np.minimum(further, start.size - 1)] < until)
        last = np.where(overlaps, further, last)
    return last + 1


def _of_groups(held: ShareLots, exclusion: Exclusion, cells: int) -> Floats:
    """Return the variance of the markets that exclude each other, (cells,), no group below zero.

    Every group is a table of its markets by the slots of its cell, market by market.
    """
    rows = np.flatnonzero(exclusion.group >= 0)
    table = _Table.of(held.cell[rows], exclusion.group[rows], held.market[rows], exclusion.bought_at[rows])
    bought: Floats = np.bincount(table.place, held.shares[rows], table.size).astype(np.float64)
    settled_at, payout = np.full(table.runs, np.inf), np.zeros(table.runs)
    settled_at[table.run_of_row], payout[table.run_of_row] = exclusion.settled_at[rows], exclusion.payout_yes[rows]
    price, open_price = _prices_of(table, held, exclusion, rows)
    # A NaN instant compares as false: not settled.
    over = settled_at[table.run] <= table.slot[table.column]
    price = np.where(over, payout[table.run], price)
    if exclusion.stored is not None:
        open_price = np.where(settled_at <= exclusion.as_of, payout, open_price)
    summed = np.cumsum(bought)
    after = summed - np.where(table.start_of_run > 0, summed[table.start_of_run - 1], 0.0)
    columns = table.slot.size
    grown = _spread(after, price, table.column, columns) - _spread(after - bought, price, table.column, columns)
    found: Floats = np.bincount(table.group_of_column, grown, table.groups).astype(np.float64)
    last = np.flatnonzero(np.append(np.diff(table.run) != 0, True))
    known = ~np.isnan(held.later_yes[rows])
    open_price[table.run_of_row[known]] = held.later_yes[rows[known]]
    is_paid = np.zeros(table.runs, dtype=np.bool_)
    is_paid[table.run_of_row] = held.paid[rows]
    still_held = np.where(is_paid, 0.0, after[last])
    found -= _spread(still_held, open_price, table.group_of_column[table.column[last]], table.groups)
    return np.bincount(table.cell_of_group, np.maximum(found, 0.0), cells).astype(np.float64)


def _prices_of(table: "_Table", held: ShareLots, exclusion: Exclusion, rows: Ints) -> tuple[Floats, Floats]:
    """Return the price of each place, and the last stored price of each run, zero without any."""
    stored = exclusion.stored
    price, at = np.full(table.size, np.nan), np.full(table.size, -np.inf)
    price[table.place] = held.price_yes[rows]
    if stored is not None:
        at[table.place] = exclusion.bought_at[rows]
    unquoted = np.flatnonzero(np.isnan(price))
    seen = np.maximum.accumulate(np.where(np.isnan(price), table.start_of_run, np.arange(table.size)))
    price, at = np.nan_to_num(price[seen]), at[seen]
    last = np.flatnonzero(np.append(np.diff(table.run) != 0, True))
    in_the_end = price[last]
    if stored is not None:
        market = np.zeros(table.runs, dtype=np.int64)
        market[table.run_of_row] = held.market[rows]
        seen_by = stored.prices_at
        slot = table.slot[table.column[unquoted]]
        newer = seen_by(market[table.run[unquoted]], slot, at[unquoted], np.inf)
        price[unquoted] = np.where(np.isnan(newer), price[unquoted], newer)
        newer = seen_by(market, np.full(table.runs, exclusion.as_of), at[last], np.inf)
        in_the_end = np.where(np.isnan(newer), in_the_end, newer)
    return price, in_the_end


def _spread(held: Floats, price: Floats, code: Ints, codes: int) -> Floats:
    """Return sum X^2 p - (sum X p)^2 over the rows of each code, (codes,), with prices that sum to at most one."""
    total = np.bincount(code, price, codes)
    fair = price / np.maximum(total, 1.0)[code]
    mean: Floats = np.bincount(code, held * fair, codes).astype(np.float64)
    return np.bincount(code, held**2 * fair, codes).astype(np.float64) - mean**2


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """All markets of a group at all its slots: a run of slots a market, and a column a slot of a group."""

    place: Ints
    run_of_row: Ints
    run: Ints
    start_of_run: Ints
    column: Ints
    slot: Floats
    group_of_column: Ints
    cell_of_group: Ints

    @property
    def size(self) -> int:
        return int(self.run.size)

    @property
    def runs(self) -> int:
        return int(self.run[-1]) + 1

    @property
    def groups(self) -> int:
        return int(self.cell_of_group.size)

    @classmethod
    def of(cls, cell: Ints, number: Ints, market: Ints, slot: Floats) -> "_Table":
        (cell_of_group, _), group = _distinct(cell, number)
        (group_of_run, _), run_of_row = _distinct(group, market)
        (group_of_column, slot_of_column), column_of_row = _distinct(group, slot)
        columns = np.bincount(group_of_column, minlength=cell_of_group.size)
        first_column = np.cumsum(columns) - columns
        length = columns[group_of_run]
        start = np.cumsum(length) - length
        run = np.repeat(np.arange(length.size), length)
        start_of_run = start[run]
        within = np.arange(run.size) - start_of_run
        return cls(
            place=start[run_of_row] + column_of_row - first_column[group],
            run_of_row=run_of_row,
            run=run,
            start_of_run=start_of_run,
            column=first_column[group_of_run[run]] + within,
            slot=slot_of_column.astype(np.float64),
            group_of_column=group_of_column.astype(np.int64),
            cell_of_group=cell_of_group.astype(np.int64),
        )


def _distinct(
    first: Ints, second: NDArray[np.float64] | Ints
) -> tuple[tuple[NDArray[np.int64], NDArray[np.float64] | Ints], Ints]:
    """Return the distinct pairs, in order, and the pair of each row."""
    labels, code = np.unique(second, return_inverse=True)
    pairs, index = np.unique(first * labels.size + code, return_inverse=True)
    return (pairs // labels.size, labels[pairs % labels.size]), index.astype(np.int64)
