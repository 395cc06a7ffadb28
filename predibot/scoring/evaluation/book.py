"""The book: a record with its bets in order, the shares held of them, and what these gained day by day."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from predibot.scoring.arguments import Floats, Ints, distinct, stable_order
from predibot.scoring.inference.clusters import cluster_codes
from predibot.scoring.inference.dependence import dependence_by_day
from predibot.scoring.inference.price_implied import Exclusion, run_ends
from predibot.scoring.price_lookup import Observations
from predibot.scoring.records.horizon_returns import Marks, midnights, record_marks
from predibot.scoring.records.track_record import TrackRecord


@dataclass(frozen=True, slots=True, eq=False)
class DailyPrices:
    """What prices of a record's markets did after its n_b bets, in k daily marks; its last day may be partial."""

    marks: Marks
    change: Floats
    """The move of each market since the mark before, (k,)."""
    cell: Ints
    """The cluster and day of each mark, (k,), from zero."""
    day_of_cell: Ints
    market: Ints
    price_yes: Floats
    first: Ints
    """The first mark after each bet, (n_b,); k where there is none."""

    @classmethod
    def of(cls, record: TrackRecord, cluster: Ints, marks: Marks) -> "DailyPrices":
        """Return the daily prices after a record's bets, with the cluster of each bet, (n_b,), from zero."""
        cluster_of = np.zeros(record.payout_yes.size, dtype=np.int64)
        cluster_of[record.bet_market] = cluster
        market, day = np.divmod(marks.key, marks.span)
        cell = cluster_codes(cluster_of[market] * marks.span + day) if day.size else day
        day_of_cell = np.zeros(int(cell.max(initial=-1)) + 1, dtype=np.int64)
        day_of_cell[cell] = day
        first = marks.first_after(record.bet_market, record.decided_at[record.bet_decision])
        change = np.diff(marks.price, prepend=0.0)
        return cls(marks, change, cell, day_of_cell, record.bet_market, record.bet_price_yes, first)

    def marks_until(self, end: Floats) -> Ints:
        """Return the mark after the last one seen by an instant, for each bet, (n_b,); at least `first`."""
        marks = self.marks
        day = np.clip(midnights(end) - marks.first, -1, marks.span - 1).astype(np.int64)
        after = np.searchsorted(marks.key, self.market * marks.span + day, "right")
        if marks.key.size:
            last = np.maximum(after - 1, 0)
            # That day's mark may have been seen after the instant.
            after -= (after > 0) & (marks.key[last] // marks.span == self.market) & (marks.at[last] > end)
        return np.maximum(after, self.first)

    def gains(
        self, rows: slice | Ints, shares: Floats, *, after: Ints | None = None, later: Floats | None = None
    ) -> Floats:
        """Return the gains of some bets in each cell, (cells,).

        Args:
            shares: Shares of YES of each, negative for NO.
            after: The mark after the last one of each bet, (n_b,); by default bets are held until the record's instant.
            later: The last price of YES of each bet, (n_b,), NaN where nothing is held; goes with `after`.
        """
        market, first, cells, size = self.market[rows], self.first[rows], self.day_of_cell.size, self.change.size
        ends = self.marks.ends[market]
        stop = ends if after is None else after[rows]
        own = np.flatnonzero((first < stop) & (shares != 0.0))
        x, begin = shares[own], first[own]
        entry = self.marks.price[begin] - self.price_yes[rows][own]
        gained = np.bincount(self.cell[begin], x * entry, cells).astype(np.float64)
        begin, stop_of = begin + 1, stop[own]
        length = stop_of - begin
        if int(length.sum()) < size:
            mark = np.arange(int(length.sum())) + np.repeat(begin - np.cumsum(length) + length, length)
            held = np.repeat(x, length)
            gained += np.bincount(self.cell[mark], held * self.change[mark], cells)
        else:
            held = np.zeros(size + 1)
            np.add.at(held, begin, x)
            np.subtract.at(held, stop_of, x)
            np.cumsum(held, out=held)
            gained += np.bincount(self.cell, np.multiply(held[:size], self.change, out=held[:size]), cells)
        if later is not None:
            # A price seen since the last mark belongs to the day of the next one.
            own = np.flatnonzero((stop < ends) & (shares != 0.0))
            begin, stop_of = first[own], stop[own]
            before = np.where(stop_of > begin, self.marks.price[stop_of - 1], self.price_yes[rows][own])
            gained += np.bincount(self.cell[stop_of], shares[own] * (later[rows][own] - before), cells)
        return gained

    def dependence(self, gained: Floats) -> float:
        """Return D, the dependence of the gains of cells."""
        ratio, _ = dependence_by_day(gained, self.day_of_cell, int(self.day_of_cell.max(initial=0)) + 1)
        return max(1.0, float(ratio[-1]))


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Shares of each bet's market, (n_b,) each, in the order of the book."""

    unit: Ints
    shares: Floats
    """Shares of YES by which the unit's value moves with the price; negative for NO, zero for nothing."""
    if_no: Floats
    """What they add to the unit's value if the market pays nothing."""
    if_yes: Floats
    """What they add if it pays 1."""


@dataclass(frozen=True, eq=False)
class Book:
    """A record with its bets sorted by bot, by market and then by time, for all sums over them."""

    record: TrackRecord
    order: Ints
    """The original row of each bet, (n_b,)."""
    rank: Ints
    """The place of each bet by market and time over all bots, (n_b,)."""
    ends_of_bots: Ints
    """The end of each bot's bets, (bots + 1,), from 0."""
    starts_of_runs: Ints
    """The start of each run of bets of one bot and market, and the end of the last, (runs + 1,)."""
    start: Floats
    subject: Ints
    """The event and slot of each decision, (n_d,)."""
    event: Ints
    cluster: Ints
    """The cluster of each decision, (n_d,), from zero: its event, or all events related to it."""
    cell: Ints
    """The bot and cluster of each decision, (n_d,), by bot."""
    ends_of_cells: Ints
    """The end of each bot's cells, (bots + 1,), from 0."""
    observations: Observations | None
    """Prices of markets that exclude others; None without such markets."""
    daily_marks: Marks | None
    """None until they are needed."""
    held: dict[str, Shares] = field(default_factory=dict)
    """Cache of shares, by the name of the average."""
    marks: dict[float, Ints] = field(default_factory=dict)

    @classmethod
    def of(cls, record: TrackRecord, marks: Marks | None = None) -> "Book":
        """Return the book of a record, with its daily marks where the caller has them."""
        start = record.decided_at[record.bet_decision]
        by_market = np.lexsort((start, record.bet_market))
        bot = record.decision_bot[record.bet_decision[by_market]]
        rank = stable_order(bot)
        order = by_market[rank]
        _, event = np.unique(record.decision_event, return_inverse=True)
        clusters, cluster = np.unique(record.clusters(), return_inverse=True)
        cells, cell = np.unique(record.decision_bot * max(clusters.size, 1) + cluster, return_inverse=True)
        everyone = np.arange(len(record.bots) + 1)
        sorted_record = record.with_bets(order)
        runs = run_ends(sorted_record.bet_market, bot[rank])
        return cls(
            record=sorted_record,
            order=order.astype(np.int64),
            rank=rank,
            ends_of_bots=np.searchsorted(bot[rank], everyone).astype(np.int64),
            starts_of_runs=np.concatenate([[0], distinct(runs)]),
            start=start[order],
            subject=subjects(record.decision_event, record.slots()),
            event=event.astype(np.int64),
            cluster=cluster.astype(np.int64),
            cell=cell.astype(np.int64),
            ends_of_cells=np.searchsorted(cells // max(clusters.size, 1), everyone).astype(np.int64),
            observations=_exclusive_observations(record),
            daily_marks=marks,
        )

    @cached_property
    def daily(self) -> DailyPrices:
        """Return the daily prices after the bets."""
        marks = record_marks(self.record) if self.daily_marks is None else self.daily_marks
        return DailyPrices.of(self.record, self.cluster[self.record.bet_decision], marks)

    def marks_until(self, held_seconds: float) -> Ints:
        """Return the mark after the last one of each bet held for so many seconds, (n_b,)."""
        if held_seconds not in self.marks:
            self.marks[held_seconds] = self.daily.marks_until(self.start + held_seconds)
        return self.marks[held_seconds]

    def exclusion(self, rows: slice | Ints) -> Exclusion | None:
        """Return which outcomes of some bets exclude each other; None where none do."""
        record = self.record
        if record.market_exclusive is None or self.observations is None:
            return None
        market = record.bet_market[rows]
        group = record.market_exclusive[market].astype(np.int64)
        if not (group >= 0).any():
            return None
        settled_at, payout_yes = record.settled_at[market], record.payout_yes[market]
        return Exclusion(group, self.start[rows], settled_at, payout_yes, self.observations, record.as_of)


def _exclusive_observations(record: TrackRecord) -> Observations | None:
    exclusive = record.market_exclusive
    if exclusive is None or not (exclusive >= 0).any():
        return None
    rows = np.flatnonzero(exclusive[record.observation_market] >= 0)
    market, at = record.observation_market[rows], record.observation_at[rows]
    return Observations.of(market, at, record.observation_price_yes[rows], exclusive.size)


def subjects(event: Ints, slot: Floats) -> Ints:
    """Return a number for each event and slot, (n,)."""
    _, slots = np.unique(slot, return_inverse=True)
    events, code = np.unique(event, return_inverse=True)
    return slots * max(events.size, 1) + code
