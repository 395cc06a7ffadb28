"""Averages: means over decisions or event-slots with the shares behind them, and their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, Ints, distinct
from predibot.scoring.evaluation.book import Book, Shares
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.clusters import ClusterSums, cluster_codes, cluster_sums, difference, without_rounding
from predibot.scoring.inference.intervals import Spread, comparison_by_prices, estimate_by_prices
from predibot.scoring.inference.price_implied import ShareLots, first_after, run_ends, variances
from predibot.scoring.inference.uncertainty import MOST_WITH_INTERVALS, Comparison, fullest
from predibot.scoring.records.moments import Moments


@dataclass(frozen=True, eq=False)
class Later:
    """The prices of bets when they end, (n_b,) each, in the order of the book."""

    book: Book
    price_yes: Floats
    paid: NDArray[np.bool_]
    held_seconds: float | None
    """How long each bet is held; None where all end at one instant."""
    dependences: list[tuple[Floats, list[float]]] = field(default_factory=list)
    """Cache: the D of every bot, by shares."""

    @classmethod
    def of(cls, book: Book, price_yes: Floats, paid: NDArray[np.bool_], held_seconds: float | None) -> "Later":
        """Return the prices of the record's bets when they end; arguments are in the record's own order."""
        return cls(book, price_yes[book.order], paid[book.order], held_seconds)

    @cached_property
    def ends(self) -> Ints:
        """Return the ends of all bets, (n_b,), as `ends_among`."""
        return self.ends_among(slice(None))

    def ends_among(self, rows: slice | Ints) -> Ints:
        """Return, for each of some bets, the first later one of the same bot and market that does not overlap."""
        record, start = self.book.record, self.book.start[rows]
        runs = run_ends(record.bet_market[rows], record.decision_bot[record.bet_decision[rows]])
        return runs if self.held_seconds is None else first_after(start, start + self.held_seconds, runs)

    def daily_gains(self, rows: slice | Ints, shares: Floats) -> Floats:
        """Return the gains of so many shares of some bets in each cluster and day, (cells,)."""
        daily = self.book.daily
        if self.held_seconds is None:
            return daily.gains(rows, shares)
        return daily.gains(rows, shares, after=self.book.marks_until(self.held_seconds), later=self.price_yes)

    @cached_property
    def starts_of_one_end(self) -> Ints:
        """Return the starts of runs of bets of one bot and market with the same end, and the end of the last run.

        A market may stand at 0 when the first bet ends and at 1 when the next does, but it pays only once.
        """
        book, record = self.book, self.book.record
        if self.held_seconds is None:
            return book.starts_of_runs
        bot = record.decision_bot[record.bet_decision]
        return np.concatenate([[0], distinct(run_ends(record.bet_market, bot, self.end_of(slice(None))))])

    @cached_property
    def alternatives(self) -> "_Alternatives | None":
        """Return which of these runs exclude each other, by bot; None where none do, or ends differ."""
        record, first = self.book.record, self.starts_of_one_end[:-1]
        if record.market_exclusive is None or self.held_seconds is not None:
            return None
        group, bot = record.market_exclusive[record.bet_market[first]], record.decision_bot[record.bet_decision[first]]
        return _Alternatives.of(np.where(group < 0, -1, bot * (group.max(initial=0) + 1) + group))

    def end_of(self, rows: slice | Ints) -> Floats:
        """Return a number for the end of each of some bets, which differs between ends of one market."""
        return np.where(self.paid[rows], np.inf, self.book.start[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Average:
    """The mean of every bot over its n_u units with a value, and the shares behind it. A unit is a decision, an
    event-slot or a forecast.
    """

    book: Book
    decision: Ints
    """A decision of each unit, (n_u,), for its bot and event."""
    value: Floats
    """The value of each unit, (n_u,); NaN where it has none."""
    held: Shares
    later: Later
    limits: tuple[float, float] | None = None
    """Bounds of the mean; None takes the worst and best that the shares could bring."""
    beside: tuple[Floats, Floats] | None = None
    """The least and the most that each unit's value has besides its shares, (n_u,) each."""
    made: Ints | None = None
    """The bets that count, as if no others had been made; None for all."""

    def of_each(self, confidence: float, dependences: Sequence[float] | None = None) -> list[Estimate | None]:
        """Return each bot's mean with its interval; None without a value, or above the limit of bots.

        `dependences` are the D of each bot's gains, if they are known.
        """
        book = self.book
        known = ~np.isnan(self.value)
        cell = book.cell[self.decision[known]]
        cells = int(book.ends_of_cells[-1])
        n = np.bincount(cell, minlength=cells).astype(np.float64)
        sums = np.bincount(cell, self.value[known], cells).astype(np.float64)
        counts = _sums_between(n, book.ends_of_cells)
        spreads = self._spreads(cells, counts, dependences)
        wanted = set(fullest(counts.astype(np.int64), MOST_WITH_INTERVALS).tolist())
        found: list[Estimate | None] = []
        for bot, count in enumerate(counts.tolist()):
            own = slice(book.ends_of_cells[bot], book.ends_of_cells[bot + 1])
            there = n[own] > 0.0
            clusters = ClusterSums(sums[own][there], n[own][there])
            in_question = count > 0.0 and bot in wanted
            found.append(estimate_by_prices(clusters, int(count), spreads[bot], confidence) if in_question else None)
        return found

    def spreads(self) -> list[Spread]:
        """Return the spread of each bot's sum: what prices imply, and the dependence of its events."""
        known, cells = ~np.isnan(self.value), int(self.book.ends_of_cells[-1])
        n = np.bincount(self.book.cell[self.decision[known]], minlength=cells).astype(np.float64)
        return self._spreads(cells, _sums_between(n, self.book.ends_of_cells))

    def counted_shares(self) -> Floats:
        """Return the shares of each bet, (n_b,); zero in a unit without a value."""
        return np.where(np.isnan(self.value[self.held.unit]), 0.0, self.held.shares)

    def _spreads(self, cells: int, counts: Floats, dependences: Sequence[float] | None = None) -> list[Spread]:
        """Return the spread of each bot's mean; units without a value count as nothing held."""
        record, book = self.book.record, self.book
        known, shares = ~np.isnan(self.value), self.counted_shares()
        made = slice(None) if self.made is None else self.made
        counted = known[self.held.unit]
        held = ShareLots(
            cell=book.cell[record.bet_decision[made]],
            market=record.bet_market[made],
            shares=shares[made],
            price_yes=record.bet_price_yes[made],
            later_yes=self.later.price_yes[made],
            paid=self.later.paid[made],
        )
        # A market that excludes others counts from its first bet on, whatever is held of it.
        exclusion = None if self.later.held_seconds is not None else book.exclusion(made)
        ends = self.later.ends if self.made is None else self.later.ends_among(self.made)
        variance = variances(held, cells, ends=ends, exclusion=exclusion)
        variance = _sums_between(variance, book.ends_of_cells)
        starts = self.later.starts_of_one_end
        if_no, if_yes = (
            _sums_between(np.where(counted, each, 0.0), starts) for each in (self.held.if_no, self.held.if_yes)
        )
        ends_of_bots = np.searchsorted(starts[1:], book.ends_of_bots, "right")
        bounds = [_sums_between(each, ends_of_bots) for each in _reach(if_no, if_yes, self.later.alternatives)]
        if self.beside is not None:
            bot = record.decision_bot[self.decision[known]]
            bounds = [
                bound + np.bincount(bot, each[known], counts.size)
                for bound, each in zip(bounds, self.beside, strict=True)
            ]
        lowest, highest = (bound / np.maximum(counts, 1.0) for bound in bounds)
        return [
            self._limit(Spread(*each))
            for each in zip(
                variance.tolist(),
                lowest.tolist(),
                highest.tolist(),
                self._dependences(shares, counts) if dependences is None else dependences,
                strict=True,
            )
        ]

    def _dependences(self, shares: Floats, counts: Floats) -> list[float]:
        """Return D of each bot's gains with these shares of each bet, (n_b,); 1 above the limit of bots."""
        # A return less its costs holds the same shares as the return.
        for other, known in self.later.dependences:
            if np.array_equal(shares, other):
                return known
        found = [1.0] * counts.size
        for bot in fullest(counts.astype(np.int64), MOST_WITH_INTERVALS).tolist():
            rows = slice(*self.book.ends_of_bots[bot : bot + 2].tolist())
            if shares[rows].any():
                found[bot] = self.book.daily.dependence(self.later.daily_gains(rows, shares[rows]))
        self.later.dependences.append((shares, found))
        return found

    def _limit(self, spread: Spread) -> Spread:
        if self.limits is None or spread.lowest >= spread.highest:
            return spread
        lowest, highest = self.limits
        return replace(spread, lowest=lowest, highest=highest)

    def compare(self, bots: Ints) -> "AverageComparison":
        """Return some bots beside each other, at the moments when they have values."""
        record, decision = self.book.record, self.decision
        owner = record.decision_bot[decision]
        units = np.flatnonzero(np.isin(owner, bots) & ~np.isnan(self.value))
        decision, column = decision[units], np.searchsorted(bots, owner[units])
        event = self.book.event[decision]
        moments = Moments.of(column, event, self.book.subject[decision], record.decided_at[decision], bots.size)
        moment, weight = np.zeros(owner.size, dtype=np.int64), np.zeros(owner.size)
        moment[units], weight[units] = moments.of_row, 1.0 / moments.rows[moments.of_row]
        rows = [self._rows_of(int(bot), moment, weight) for bot in bots]
        cluster = self.book.cluster[decision]
        return AverageComparison(self, moments, moments.means(self.value[units]), cluster[moments.row], rows)

    def _rows_of(self, bot: int, moment: Ints, weight: Floats) -> "_Rows":
        own = slice(self.book.ends_of_bots[bot], self.book.ends_of_bots[bot + 1])
        unit, held, record = self.held.unit[own], self.held, self.book.record
        of_unit = weight[unit]
        shares = held.shares[own] * of_unit
        bounded = (held.if_no[own] != 0.0) | (held.if_yes[own] != 0.0)
        # Where outcomes exclude each other, prices of markets without shares matter too.
        moves = bounded | (shares != 0.0) if record.market_exclusive is None else np.ones(unit.shape, dtype=np.bool_)
        kept = np.flatnonzero(moves & (of_unit > 0.0)) + int(own.start)
        part = of_unit[kept - int(own.start)]
        unit, shares = held.unit[kept], shares[kept - int(own.start)]
        return _Rows(
            row=kept,
            rank=self.book.rank[kept],
            moment=moment[unit],
            shares=shares,
            gained=self.later.daily_gains(kept, shares),
            if_no=held.if_no[kept] * part,
            if_yes=held.if_yes[kept] * part,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The shares of one bot, in the order of the book."""

    row: Ints
    rank: Ints
    moment: Ints
    shares: Floats
    gained: Floats
    """Their gains in each cluster and day, (cells,)."""
    if_no: Floats
    if_yes: Floats


@dataclass(frozen=True, slots=True, eq=False)
class AverageComparison:
    """Some bots beside each other, by the n_t moments when they have values."""

    average: Average
    moments: Moments
    value: Floats
    cluster: Ints
    rows: Sequence[_Rows]

    def difference(self, first: int, second: int, confidence: float) -> tuple[Comparison | None, int]:
        """Return one bot's mean less another's over events on which they decided at about the same time, or None.

        Also returns the number of events on which both decided, but never at about the same time.
        """
        ours, theirs, apart = self.moments.match(first, second)
        if not ours.size:
            return None, apart
        less = difference(self.value[ours], self.value[theirs])
        sums = cluster_sums(less, np.ones_like(less), cluster_codes(self.cluster[ours]))
        both = np.zeros(self.value.shape, dtype=np.bool_)
        both[ours] = both[theirs] = True
        return comparison_by_prices(sums, less.size, self._spread(first, second, both, less.size), confidence), apart

    def _spread(self, first: int, second: int, both: NDArray[np.bool_], n: int) -> Spread:
        """Return the spread of holding the first bot's shares and owing the second's."""
        book, later = self.average.book, self.average.later
        sides = [(rows, np.flatnonzero(both[rows.moment])) for rows in (self.rows[first], self.rows[second])]
        rank = np.concatenate([rows.rank[kept] for rows, kept in sides])
        order = np.argsort(rank, kind="stable")
        if not order.size:
            return Spread(0.0, 0.0, 0.0)
        ours, theirs = (self._gains(rows, kept) for rows, kept in sides)
        row = np.concatenate([rows.row[kept] for rows, kept in sides])[order]
        shares, if_no, if_yes = (
            np.concatenate(
                [sign * getattr(rows, each)[kept] for sign, (rows, kept) in zip((1.0, -1.0), sides, strict=True)]
            )[order]
            for each in ("shares", "if_no", "if_yes")
        )
        market = book.record.bet_market[row]
        cell = book.cluster[book.record.bet_decision[row]]
        ends = of_one_end = run_ends(market, cell)
        if later.held_seconds is not None:
            start = book.start[row]
            of_one_end = run_ends(market, cell, later.end_of(row))
            ends = first_after(start, start + later.held_seconds, ends)
        starts = np.concatenate([[0], distinct(of_one_end)])
        price = book.record.bet_price_yes[row]
        held = ShareLots(cell, market, shares, price, later.price_yes[row], later.paid[row])
        exclusion = book.exclusion(row) if later.held_seconds is None else None
        bounds = [
            without_rounding(_sums_between(each, starts), _sums_between(np.abs(each), starts))
            for each in (if_no, if_yes)
        ]
        alternatives = None if exclusion is None else _Alternatives.of(exclusion.group[starts[:-1]])
        lowest, highest = (float(each.sum()) / n for each in _reach(bounds[0], bounds[1], alternatives))
        variance = variances(held, int(cell.max()) + 1, ends=ends, exclusion=exclusion)
        return Spread(float(variance.sum()), lowest, highest, book.daily.dependence(ours - theirs))

    def _gains(self, rows: _Rows, kept: Ints) -> Floats:
        if kept.size == rows.row.size:
            return rows.gained
        return self.average.later.daily_gains(rows.row[kept], rows.shares[kept])


@dataclass(frozen=True, slots=True, eq=False)
class _Alternatives:
    """k markets that exclude each other, in groups in which at most one pays."""

    row: Ints
    group: Ints
    first: Ints
    """The first market of each group, (groups,)."""

    @classmethod
    def of(cls, group: Ints) -> "_Alternatives | None":
        """Return the groups from the group of each market, -1 for none; None where no market is in a group."""
        row = np.flatnonzero(group >= 0)
        if not row.size:
            return None
        _, first, code = np.unique(group[row], return_index=True, return_inverse=True)
        return cls(row, code, row[first])


def _reach(if_no: Floats, if_yes: Floats, alternatives: _Alternatives | None) -> tuple[Floats, Floats]:
    """Return the least and the most that each market could bring, (m,) each; a group's markets can be summed."""
    lowest, highest = np.minimum(if_no, if_yes), np.maximum(if_no, if_yes)
    if alternatives is not None:
        row, more = alternatives.row, (if_yes - if_no)[alternatives.row]
        for found, further in ((lowest, np.minimum), (highest, np.maximum)):
            of_one = np.zeros(alternatives.first.size)
            further.at(of_one, alternatives.group, more)
            found[row] = if_no[row]
            found[alternatives.first] += of_one
    return lowest, highest


def _sums_between(values: Floats, ends: Ints) -> Floats:
    summed = np.add.reduceat(np.append(values, 0.0), ends[:-1]) if ends.size > 1 else np.zeros(0)
    # Between equal ends, `reduceat` would return a single value.
    return np.where(np.diff(ends) > 0, summed, 0.0)
