"""Averages: means over decisions or event-slots with the shares held behind them, and the intervals of both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.bootstrap import Estimate
from predibot.scoring.clusters import cluster_codes, cluster_sums
from predibot.scoring.comparison import Comparison
from predibot.scoring.intervals import Spread, comparison_by_prices, estimate_by_prices
from predibot.scoring.price_implied import Exclusion, Holdings, variances
from predibot.scoring.record import TrackRecord
from predibot.scoring.uncertainty import MOST_WITH_INTERVALS, fullest


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What is averaged, n_u of them: a decision, an event and slot, or a forecast."""

    bot: Ints
    """Whose it is, (n_u,)."""
    event: Ints
    """The cluster, (n_u,)."""
    subject: Ints
    """What it is about, (n_u,): two bots are compared where this is the same number."""
    value: Floats
    """(n_u,); NaN where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The shares behind the units, k of them, a row a market of a unit."""

    unit: Ints
    """Of which unit, (k,)."""
    bet: Ints
    """Which bet of the record, (k,)."""
    shares: Floats
    """Shares of YES as far as the unit's value moves with the price, (k,), negative for NO."""
    price_yes: Floats
    """q is of this price at the start, (k,)."""
    later_yes: Floats
    """The price at the end or the payout, (k,); NaN where nothing needs one."""
    paid: NDArray[np.bool_]
    """Whether it is the payout, (k,)."""
    if_no: Floats
    """What it would add to the unit's value, would the market pay nothing, (k,)."""
    if_yes: Floats
    """The same, would it pay 1, (k,)."""

    def only(self, kept: NDArray[np.bool_] | Ints) -> Self:
        """Return some of the rows, in the order asked for."""
        changed: dict[str, Any] = {each.name: getattr(self, each.name)[kept] for each in fields(self)}
        return replace(self, **changed)


@dataclass(frozen=True, slots=True, eq=False)
class Book:
    """The bets of a record by market and then by time: what all averages over it are summed in."""

    rank: Ints
    """The place of each bet in that order, (n_b,)."""
    market: Ints
    start: Floats
    slot: Floats
    group: Ints
    """The group of outcomes that exclude each other, -1 for none, (n_b,)."""
    settled_at: Floats
    payout_yes: Floats

    @classmethod
    def of(cls, record: TrackRecord) -> "Book":
        """Return the book of a record."""
        start = record.decided_at[record.bet_decision]
        order = np.argsort(start, kind="stable")
        order = order[np.argsort(_narrow(record.bet_market[order]), kind="stable")]
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        groups = record.market_exclusive
        none = np.full(record.bet_market.shape, -1, dtype=np.int64)
        return cls(
            rank=rank.astype(np.int64),
            market=record.bet_market,
            start=start,
            slot=record.slots()[record.bet_decision],
            group=none if groups is None else groups[record.bet_market].astype(np.int64),
            settled_at=record.settled_at[record.bet_market],
            payout_yes=record.payout_yes[record.bet_market],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Average:
    """A mean of every bot over its units that have a value, and what was held behind it."""

    units: Units
    rows: Rows
    book: Book
    held_seconds: float | None = None
    """For how long each row is held; None for all until the same instant."""
    limits: tuple[float, float] | None = None
    """What the mean lies within whatever markets pay; None for what the rows could pay at worst and best."""

    def of_each(self, bots: int, confidence: float) -> list[Estimate | None]:
        """Return the mean of each bot with its interval; None of one without a value, or of too many."""
        many = fullest(np.bincount(self.units.bot[~np.isnan(self.units.value)], minlength=bots), MOST_WITH_INTERVALS)
        wanted = set(many.tolist())
        return [
            self._estimate(units, rows, confidence) if bot in wanted and units.size else None
            for bot, (units, rows) in enumerate(zip(self._units_of_each(bots), self._rows_of_each(bots), strict=True))
        ]

    def compared(self, bots: Ints) -> "Compared":
        """Return some bots beside each other, on the subjects that they have values of.

        Of a bot that was asked the same twice, by two recipes, the mean counts.
        """
        units = np.flatnonzero(np.isin(self.units.bot, bots) & ~np.isnan(self.units.value))
        subjects, first, code = np.unique(self.units.subject[units], return_index=True, return_inverse=True)
        cell = code * bots.size + np.searchsorted(bots, self.units.bot[units])
        n = np.bincount(cell, minlength=subjects.size * bots.size)
        sums = np.bincount(cell, self.units.value[units], subjects.size * bots.size)
        table = np.where(n > 0, sums / np.maximum(n, 1), np.nan).reshape(subjects.size, bots.size)
        subject = np.zeros(self.units.bot.size, dtype=np.int64)
        weight = np.zeros(self.units.bot.size)
        subject[units], weight[units] = code, 1.0 / n[cell]
        rows = list(self._rows_of_each(int(bots.max(initial=-1)) + 1))
        return Compared(self, table, self.units.event[units][first], [rows[bot] for bot in bots], subject, weight)

    def spread(self, rows: Rows, event: Ints, n: int) -> Spread:
        """Return what the prices say of the mean of n units, whose rows are in the order of the book.

        Args:
            rows: What was held.
            event: The cluster of each row, (k,).
            n: How many units.
        """
        if not rows.bet.size:
            return Spread(0.0, 0.0, 0.0)
        market = self.book.market[rows.bet]
        runs = np.cumsum(np.diff(market, prepend=market[0]) != 0)
        ends = np.bincount(runs, rows.if_no), np.bincount(runs, rows.if_yes)
        lowest, highest = (float(reach(*ends).sum()) / n for reach in (np.minimum, np.maximum))
        if self.limits is not None and lowest < highest:
            lowest, highest = self.limits
        return Spread(float(self._variances(rows, market, event).sum()), lowest, highest)

    def _units_of_each(self, bots: int) -> Iterator[Ints]:
        """Yield the units of each bot that have a value."""
        units = np.flatnonzero(~np.isnan(self.units.value))
        units = units[np.argsort(_narrow(self.units.bot[units]), kind="stable")]
        ends = np.searchsorted(self.units.bot[units], np.arange(bots + 1))
        for start, end in pairwise(ends.tolist()):
            yield units[start:end]

    def _rows_of_each(self, bots: int) -> Iterator[Rows]:
        """Yield the rows of each bot's units that have a value, in the order of the book."""
        known = np.flatnonzero(~np.isnan(self.units.value)[self.rows.unit])
        # The place of each row in the book is its own, so that nothing has to be sorted.
        place = np.full(self.book.rank.size, -1, dtype=np.int64)
        place[self.book.rank[self.rows.bet[known]]] = known
        order = place[place >= 0]
        owner = self.units.bot[self.rows.unit[order]]
        order = order[np.argsort(_narrow(owner), kind="stable")]
        ends = np.searchsorted(self.units.bot[self.rows.unit[order]], np.arange(bots + 1))
        for start, end in pairwise(ends.tolist()):
            yield self.rows.only(order[start:end])

    def _estimate(self, units: Ints, rows: Rows, confidence: float) -> Estimate:
        value = self.units.value[units]
        sums = cluster_sums(value, np.ones_like(value), cluster_codes(self.units.event[units]))
        spread = self.spread(rows, self.units.event[rows.unit], units.size)
        return estimate_by_prices(sums, units.size, spread, confidence)

    def _variances(self, rows: Rows, market: Ints, event: Ints) -> Floats:
        cell = cluster_codes(event)
        held = Holdings(cell, market, rows.shares, rows.price_yes, rows.later_yes, rows.paid)
        cells = int(cell.max()) + 1
        if self.held_seconds is not None:
            start = self.book.start[rows.bet]
            return variances(held, cells, start=start, until=start + self.held_seconds)
        group = self.book.group[rows.bet]
        exclusion = Exclusion(
            group, self.book.slot[rows.bet], self.book.settled_at[rows.bet], self.book.payout_yes[rows.bet]
        )
        return variances(held, cells, exclusion=exclusion)


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Some bots beside each other on n_t subjects."""

    average: Average
    table: Floats
    """The value of each bot on each subject, (n_t, bots), NaN for none."""
    clusters: Ints
    """The event of each subject, (n_t,)."""
    rows: Sequence[Rows]
    """Those of each bot, in the order of the book."""
    subject: Ints
    """The row of the table of each unit, (n_u,)."""
    weight: Floats
    """What part of its bot's value a unit is, (n_u,): less than one where a bot was asked the same twice."""

    def difference(self, first: int, second: int, confidence: float) -> Comparison | None:
        """Return the mean of one column less that of another where both have values; None where there is none."""
        both = ~np.isnan(self.table[:, first] + self.table[:, second])
        shared = np.flatnonzero(both)
        if not shared.size:
            return None
        less = self.table[shared, first] - self.table[shared, second]
        sums = cluster_sums(less, np.ones_like(less), cluster_codes(self.clusters[shared]))
        rows = self._net(self.rows[first], self.rows[second], both)
        event = self.clusters[self.subject[rows.unit]]
        return comparison_by_prices(sums, shared.size, self.average.spread(rows, event, shared.size), confidence)

    def _net(self, first: Rows, second: Rows, both: NDArray[np.bool_]) -> Rows:
        """Return what holding the first's shares and owing the second's comes to, in the order of the book."""
        own, other = (rows.only(both[self.subject[rows.unit]]) for rows in (first, second))
        sign = np.repeat([1.0, -1.0], [own.bet.size, other.bet.size])
        joined = Rows(*(np.concatenate([getattr(own, each.name), getattr(other, each.name)]) for each in fields(Rows)))
        weight = sign * self.weight[joined.unit]
        joined = replace(
            joined,
            shares=joined.shares * weight,
            if_no=joined.if_no * weight,
            if_yes=joined.if_yes * weight,
        )
        return joined.only(np.argsort(self.average.book.rank[joined.bet], kind="stable"))


def _narrow(numbers: Ints) -> NDArray[Any]:
    """Return the same numbers in 16 bits where these hold them, in which sorting takes linear time."""
    return numbers.astype(np.uint16) if numbers.max(initial=0) < 65_536 else numbers
