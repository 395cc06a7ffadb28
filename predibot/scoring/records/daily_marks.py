"""Daily marks: the price of each market at each UTC midnight after something new was seen."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.price_lookup import in_order
from predibot.scoring.records.track_record import DAY_SECONDS, TrackRecord


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Prices of markets at midnights after something new, by market and then by day."""

    first: int
    """The first of those midnights, in days since 1970."""
    span: int
    """The number of days plus one, which no day reaches."""
    key: Ints
    """market * span + day since the first, (k,), rising."""
    price: Floats
    at: Floats
    paid: NDArray[np.bool_]
    """Whether it is a payout, (k,), the last mark of its market."""
    ends: Ints
    """The end of each market's marks, (m,)."""

    def first_after(self, market: Ints, at: Floats) -> Ints:
        """Return the first mark of each market seen after an instant, (n,); the number of marks for none."""
        day = np.clip(midnights(at) - self.first, 0, self.span - 1).astype(np.int64)
        wanted = market * self.span + day
        row = np.searchsorted(self.key, wanted)
        if self.key.size == 0:
            return row
        inside = np.minimum(row, self.key.size - 1)
        # That day's mark may be older than the instant.
        row = row + ((self.key[inside] == wanted) & (self.at[inside] <= at))
        return np.where(row < self.ends[market], row, self.key.size)

    def of_whole_days(self, as_of: float) -> "Marks":
        """Return the marks of midnights up to an instant."""
        rows = np.flatnonzero(self.key % self.span + self.first <= math.floor(as_of / DAY_SECONDS))
        if rows.size == self.key.size:
            return self
        ends = np.searchsorted(rows, self.ends).astype(np.int64)
        return replace(
            self, key=self.key[rows], price=self.price[rows], at=self.at[rows], paid=self.paid[rows], ends=ends
        )


def midnights(at: Floats) -> Floats:
    """Return the first midnight not before each instant, in days since 1970."""
    days = np.ceil(at / DAY_SECONDS)
    # The quotient is rounded; whole days are exact.
    days += days * DAY_SECONDS < at
    days -= (days - 1.0) * DAY_SECONDS >= at
    return days


def record_marks(record: TrackRecord) -> Marks:
    """Return the marks of a record's markets."""
    settled_at = np.where(record.settled_at <= record.as_of, record.settled_at, np.nan)
    observed = (record.observation_market, record.observation_at, record.observation_price_yes)
    return daily_marks(record.payout_yes, settled_at, *observed, record.as_of)


def daily_marks(payouts: Floats, settled_at: Floats, market: Ints, at: Floats, prices: Floats, as_of: float) -> Marks:
    """Return the last price of each market by each midnight, if one was seen since the midnight before.

    The day of `as_of` counts too, up to that instant. Payouts and their instants, (m,) each, are NaN for
    open markets; markets, instants and prices of YES have a row for each observation, (o,).
    """
    paid = np.flatnonzero(settled_at <= as_of)
    paid_on = np.full(settled_at.shape, np.inf)
    paid_on[paid] = midnights(settled_at[paid])
    seen_on = midnights(at)
    kept = np.flatnonzero((at <= as_of) & (seen_on < paid_on[market]))
    if kept.size + paid.size == 0:
        nothing = np.zeros(0)
        none = np.zeros(0, dtype=np.int64)
        return Marks(0, 1, none, nothing, nothing, none == 0, np.zeros(payouts.size, dtype=np.int64))
    days = np.concatenate([seen_on[kept], paid_on[paid]])
    first = int(days.min())
    span = int(days.max()) - first + 2
    key = market[kept] * span + (seen_on[kept] - first).astype(np.int64)
    if not in_order(key, at[kept]):
        order = np.lexsort((at[kept], key))
        kept, key = kept[order], key[order]
    latest = np.flatnonzero(np.diff(key, append=-1))
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
