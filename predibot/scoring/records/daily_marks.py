"""Daily marks: what markets were priced at by each UTC midnight that shows anything new."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.price_lookup import in_order

DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What markets were priced at, by midnights that show anything new, by market and then by day."""

    first: int
    """The first of those midnights, in days since 1970."""
    span: int
    """How many days there are, and one more: none is so late."""
    key: Ints
    """market * span + day since the first, (k,), rising."""
    price: Floats
    at: Floats
    """When that price was seen, (k,)."""
    paid: NDArray[np.bool_]
    """Whether it is a payout, (k,): nothing of the market follows."""
    ends: Ints
    """Where the marks of each market end, (m,)."""

    def first_after(self, market: Ints, at: Floats) -> Ints:
        """Return the first mark of each market that was seen after an instant, (n,); the number of marks for none."""
        day = np.clip(midnights(at) - self.first, 0, self.span - 1).astype(np.int64)
        wanted = market * self.span + day
        row = np.searchsorted(self.key, wanted)
        if self.key.size == 0:
            return row
        inside = np.minimum(row, self.key.size - 1)
        # That day's mark may have been seen before the instant.
        row = row + ((self.key[inside] == wanted) & (self.at[inside] <= at))
        return np.where(row < self.ends[market], row, self.key.size)


def midnights(at: Floats) -> Floats:
    """Return the first midnight not before each instant, in days since 1970."""
    days = np.ceil(at / DAY_SECONDS)
    # A quotient is rounded; whole days are exact.
    days += days * DAY_SECONDS < at
    days -= (days - 1.0) * DAY_SECONDS >= at
    return days


def daily_marks(
    payouts: Floats,
    settled_at: Floats,
    market: Ints,
    at: Floats,
    prices: Floats,
    as_of: float,
    *,
    unfinished: bool = False,
) -> Marks:
    """Return the last price of each market by each midnight up to an instant, where one was seen since the one before.

    Args:
        payouts: What each market paid, (m,), NaN for nothing yet.
        settled_at: Since when, (m,), NaN likewise.
        market: Of which market each price is, (o,).
        at: When it was seen, (o,).
        prices: What YES was priced at, (o,).
        as_of: The instant.
        unfinished: Whether the day in which it lies counts too, as far as it had come.
    """
    last = math.floor(as_of / DAY_SECONDS)
    if unfinished:
        last += last * DAY_SECONDS < as_of
    until = min(as_of, last * DAY_SECONDS)
    paid_on = np.where(settled_at <= until, midnights(settled_at), np.inf)
    seen_on = midnights(at)
    kept = np.flatnonzero((at <= until) & (seen_on < paid_on[market]))
    paid = np.flatnonzero(paid_on <= last)
    if kept.size + paid.size == 0:
        nothing = np.zeros(0)
        none = np.zeros(0, dtype=np.int64)
        return Marks(0, 1, none, nothing, nothing, none == 0, np.zeros(payouts.size, dtype=np.int64))
    days = np.concatenate([seen_on[kept], paid_on[paid]])
    first = int(days.min())
    span = int(days.max()) - first + 2
    key = market[kept] * span + (seen_on[kept] - first).astype(np.int64)
    order = np.arange(key.size) if in_order(key, at[kept]) else np.lexsort((at[kept], key))
    latest = order[np.diff(key[order], append=-1) != 0]
    row = kept[latest]
    key = np.concatenate([key[latest], paid * span + (paid_on[paid] - first).astype(np.int64)])
    order = np.argsort(key, kind="stable")
    key = key[order]
    return Marks(
        first=first,
        span=span,
        key=key,
        price=np.concatenate([prices[row], payouts[paid]])[order],
        at=np.concatenate([at[row], settled_at[paid]])[order],
        paid=order >= row.size,
        ends=np.searchsorted(key, np.arange(1, payouts.size + 1) * span).astype(np.int64),
    )
