"""Daily gains: what holdings of a record's bets gained, cluster by cluster and UTC day by day."""

from dataclasses import dataclass

import numpy as np

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.clusters import cluster_codes
from predibot.scoring.inference.dependence import dependence_by_day
from predibot.scoring.records.daily_marks import Marks, midnights
from predibot.scoring.records.track_record import TrackRecord


@dataclass(frozen=True, slots=True, eq=False)
class DailyPrices:
    """What prices of a record's markets did from its n_b bets on, by k marks; its last day as far as it had come."""

    marks: Marks
    change: Floats
    """How far each market moved from its mark before, (k,)."""
    cell: Ints
    """The cluster and day of each mark, (k,), from zero."""
    day_of_cell: Ints
    """(cells,), from zero."""
    market: Ints
    """That of each bet, (n_b,)."""
    price_yes: Floats
    """At which it was made, (n_b,)."""
    first: Ints
    """Its first mark, (n_b,); k for none."""

    @classmethod
    def of(cls, record: TrackRecord, cluster: Ints, marks: Marks) -> "DailyPrices":
        """Return them.

        Args:
            record: Whose bets, and what prices did.
            cluster: Of each bet, (n_b,), from zero; a market is in one.
            marks: Those of the record.
        """
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
        """Return the mark after the last one of each bet that was seen by an instant, (n_b,); `first` for none."""
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
        """Return what some bets gained in each cell, (cells,).

        Args:
            rows: Which.
            shares: How many shares of YES of each of them, negative for NO.
            after: The mark after the last one of each bet, (n_b,); left out, all are held until the record's instant.
            later: What YES of each was priced at in the end, (n_b,), NaN where nothing is held; left out likewise.
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
            # What was seen since the last mark is of the same day as the next one.
            own = np.flatnonzero((stop < ends) & (shares != 0.0))
            begin, stop_of = first[own], stop[own]
            before = np.where(stop_of > begin, self.marks.price[stop_of - 1], self.price_yes[rows][own])
            gained += np.bincount(self.cell[stop_of], shares[own] * (later[rows][own] - before), cells)
        return gained

    def dependence(self, gained: Floats) -> float:
        """Return D of what cells gained."""
        ratio, _ = dependence_by_day(gained, self.day_of_cell, int(self.day_of_cell.max(initial=0)) + 1)
        return max(1.0, float(ratio[-1]))
