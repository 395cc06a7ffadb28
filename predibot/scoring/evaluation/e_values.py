"""E-values: what an account that bets a forecaster's disagreement with the price would be worth, read on any day."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import (
    Floats,
    Ints,
    distinct,
    floats,
    indices,
    instances_of,
    numbers,
    one_dimensional,
    refuse,
    same_length,
    scalar,
    shares,
    stable_order,
    within_floats,
)
from predibot.scoring.inference.clusters import cluster_codes
from predibot.scoring.inference.dependence import NO_MOVE, dependence_by_day
from predibot.scoring.metrics.kelly import kelly_fraction
from predibot.scoring.records.horizon_returns import Marks, daily_marks, record_marks
from predibot.scoring.records.track_record import DAY_SECONDS, TrackRecord

BEATS_FROM = 20.0
"""An e-value from here on is called evidence: at a fair price at most one in twenty ever gets so far."""
FRACTIONS = tuple(0.999 * share for share in (0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0))
"""The parts of each stake that the averaged accounts bet; the best part need not be known beforehand."""
HALFWAY = 0.5
"""The truth is as far from the forecast as from the price: an edge turns from a gain into a loss here."""

_LATEST = 253_402_300_800.0
_MOST_LOG = math.log(np.finfo(np.float64).max)
_LEAST = float(np.finfo(np.float64).tiny)
_CELLS_AT_ONCE = 4_096
_MOST_STAKED = 1.0 + 1e-9
"""Rounded shares of one dollar may add up to a little more."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """An e-value now and its largest so far, both at UTC midnights."""

    now: float = 1.0
    """At the last midnight, above zero; 1 says nothing; capped at the largest float."""
    largest: float = 1.0
    """Over all midnights and the beginning, so at least 1."""
    largest_at: float | None = None
    """The first midnight with that value, in seconds since 1970; None where it never was above 1."""

    @property
    def p_value(self) -> float:
        """Return 1 / largest: a p-value that stays valid however often it is looked at."""
        return 1.0 / self.largest

    @property
    def convinces(self) -> bool:
        """Return whether it ever reached `BEATS_FROM`."""
        return self.largest >= BEATS_FROM


@dataclass(frozen=True, slots=True)
class BettingEvidence:
    """What bets at market prices say of the bets and of the prices."""

    better: Evidence = field(default_factory=Evidence)
    """Against the hypothesis that prices are right; grows where the stakes know more."""
    worse: Evidence = field(default_factory=Evidence)
    """Against the hypothesis that the truth is at least halfway from the price to the first forecast on each event:
    that the edge of first forecasts is not negative."""
    book: Evidence = field(default_factory=Evidence)
    """Like `better`, for the whole open book against the capital at stake: weaker, but allows any dependence."""
    dependence: float | None = None
    """G, 1 or more: how many events moved as one; divides the logarithm of `better`. None without moves."""
    dependence_worse: float | None = None
    days: int = 0
    """UTC days with any change of price."""
    events: int = 0


@within_floats
def betting_evidence(
    stakes: ArrayLike,
    prices_yes: ArrayLike,
    decisions: ArrayLike,
    events: ArrayLike,
    markets: ArrayLike,
    decided_at: ArrayLike,
    *,
    payouts_yes: ArrayLike,
    settled_at: ArrayLike,
    observation_market: ArrayLike,
    observation_at: ArrayLike,
    observation_price_yes: ArrayLike,
    as_of: float,
) -> BettingEvidence:
    """Return the e-values of stakes that were placed at market prices, at each UTC midnight up to an instant.

    Each event has an account of one dollar, marked to the market:
    W_e(t) = 1 + sum of a_d |stake| (s(t) / s_d - 1), where s is the price of the
    side that was bought, a_1 = lambda, and a_{d+1} = a_d (1 - lambda S_d) with
    S_d the sum of the stakes of decision d, so that no account is ever empty. s(t)
    is the payout from the settlement on, else the last price observed after the
    decision and not after t, however old, else the price that was paid. E0 is
    the product over all events begun, averaged over the lambdas of `FRACTIONS`,
    and E = E0^(1 / G). G = max(1, m + 2 sqrt(2 / n)), where n counts the days so
    far with any change, and m is the sum over these days of (sum of g)^2, divided
    by the sum of all g^2. g is the gain of an event's stakes on that day.

    If prices are right, E reaches 20 in at most one of twenty worlds, however often it is looked at.
    docs/coverage.md has how often it did, also for events that move together.

    `worse` is the product of 1 / W_e with lambda = 1/2, over the first stakes on
    each event alone; its G takes the day's changes of 1 / W_e for g. (If the truth
    is halfway, gains have a mean. Bad luck of all events at once may just cancel
    it, and G by gains would then be 1.) With stakes by `kelly_fraction`, W_e with
    lambda is the likelihood ratio of the forecast moved by 1 - lambda toward the
    price. The edge in squared error is zero if the truth is halfway, and negative
    if it is nearer the price. Later stakes on the event are left out: beside the
    first they bet more than any forecast stated, and would call a bot "worse" that
    is right and repeats it daily.

    `book` compounds 1 + lambda R over the days, averaged over the lambdas. R is the day's gain of all open positions
    over their value at its beginning, or over the cost of that day's positions. It assumes nothing of the events,
    except that bets do not react to other outcomes of the same day.

    Args:
        stakes: Shares of a dollar, shape (n,): positive bought YES, negative NO; of one decision they add up to at most
            1. `kelly_fraction` over the number of markets asked turns forecasts into stakes.
        prices_yes: The price of YES then, shape (n,), strictly between 0 and 1.
        decisions: The decision of each stake, shape (n,), whole numbers.
        events: The event of each stake, shape (n,), whole numbers.
        markets: Rows of `payouts_yes`, shape (n,).
        decided_at: The instant of each, shape (n,), in seconds since 1970 UTC, as all instants.
        payouts_yes: The payout of a share of YES, shape (m,), in [0, 1], NaN where the market is not settled.
        settled_at: The instant of the payout, shape (m,), NaN where it is not. A
            market settled before the decision does not count.
        observation_market: Rows of markets, shape (o,).
        observation_at: The instant of each, shape (o,); of equal instants of a market the last row counts.
        observation_price_yes: The price of YES seen, shape (o,), in [0, 1].
        as_of: Nothing after the last midnight by then counts.

    Raises:
        ValueError: If lengths differ, or a value is NaN or out of range. Having no stakes is no error.

    Source:
        Ville (1939); Shafer (2021), JRSS A 184(2), for betting as testing; Waudby-Smith and Ramdas (2024), JRSS B
        86(1), for the mixture. G is ours, a design effect as in Kish (1965), and holds as de la Peña (1999), Annals of
        Probability 27(1), shows for days whose sums are symmetric.

    Examples:
        A forecast of .75 at a price of .5, which comes true at 10:00 on the next day:

        >>> found = betting_evidence(
        ...     kelly_fraction([0.75], [0.5]), [0.5], [0], [0], [0], [0.0], payouts_yes=[1.0], settled_at=[122_400.0],
        ...     observation_market=[0], observation_at=[80_000.0], observation_price_yes=[0.5], as_of=200_000.0,
        ... )
        >>> round(found.better.now, 4), found.better.largest_at, round(found.dependence, 3)
        (1.0433, 172800.0, 3.828)
    """
    positions = _positions(stakes, prices_yes, decisions, events, markets, decided_at)
    known = (payouts_yes, settled_at, observation_market, observation_at, observation_price_yes)
    marks = _marks(*known, as_of=as_of, markets=positions.market)
    moves = _paths(positions, marks).moves(np.arange(positions.stake.size), positions)
    return _evidence(positions, marks, moves)


@dataclass(frozen=True, slots=True)
class BotEvidence:
    """How strongly prices speak for or against a bot."""

    bot: str
    forecasts: BettingEvidence
    """For its probabilities on all asked markets: "beats the price" rests on it."""
    dollars: BettingEvidence | None


@within_floats
def record_evidence(
    record: TrackRecord, *, dollars: bool = True, marks: Marks | None = None
) -> tuple[BotEvidence, ...]:
    """Return the e-values of each bot over its scored decisions, in the record's order.

    A forecast stakes `kelly_fraction` over the number of markets asked of the event and slot; markets without an answer
    stake nothing. Dollars are staked as they were bet; the bets of a decision above one dollar are scaled down to one.
    Decisions of a bot on one event and slot, as those of its replicates are, share the stake equally: the event's
    account is the mean of theirs, whose mean is one at fair prices too, and copies of a bot have the bot's e-values.

    Args:
        dollars: Whether the evidence of the dollars is wanted too.
        marks: The result of `record_marks`, where the caller has it.

    Raises:
        ValueError: If an argument is of another class.
    """
    instances_of(record=(record, TrackRecord), dollars=(dollars, bool), marks=(marks, Marks | None))
    marks = (record_marks(record) if marks is None else marks).of_whole_days(record.as_of)
    cell = record.cells()
    part = 1.0 / np.maximum(np.bincount(cell[record.scored_mask()], minlength=cell.size), 1)[cell][record.bet_decision]
    on_forecasts, on_bets = part * _forecast_stakes(record), part * _dollar_stakes(record)
    counts = record.scored_mask()[record.bet_decision] & ((on_forecasts != 0.0) | (on_bets != 0.0))
    rows = np.flatnonzero(counts)
    event = _number_events(record.clusters())
    # Bots hold the same markets: their price paths are sorted once.
    paths = _paths(_of_record(record, rows, on_forecasts, event, cell), marks)
    bot = record.decision_bot[record.bet_decision[rows]]
    found = []
    for number, name in enumerate(record.bots):
        own = np.flatnonzero(bot == number)
        positions = _of_record(record, rows[own], on_forecasts, event, cell)
        moves = paths.moves(own, positions)
        of_dollars = _evidence(replace(positions, stake=on_bets[rows[own]]), marks, moves) if dollars else None
        found.append(BotEvidence(name, _evidence(positions, marks, moves), of_dollars))
    return tuple(found)


def _forecast_stakes(record: TrackRecord) -> Floats:
    """Return the signed share of a dollar that each forecast stakes, (n_b,)."""
    if record.bet_usd.size == 0:
        return np.zeros(0)
    asked = np.bincount(record.questions()[0], minlength=record.decided_at.size)
    forecasts = np.where(np.isnan(record.bet_probability), record.bet_price_yes, record.bet_probability)
    stakes: Floats = np.asarray(kelly_fraction(forecasts, record.bet_price_yes))
    return stakes / asked[record.bet_decision]


def _dollar_stakes(record: TrackRecord) -> Floats:
    total = np.bincount(record.bet_decision, np.abs(record.bet_usd), record.decided_at.size)
    return record.bet_usd / np.maximum(total, 1.0)[record.bet_decision]


def _number_events(events: Ints) -> Ints:
    return cluster_codes(events) if events.size else events


def _of_record(record: TrackRecord, rows: Ints, stakes: Floats, event: Ints, cell: Ints) -> "_Positions":
    decision = record.bet_decision[rows]
    return _Positions(
        stakes[rows],
        record.bet_price_yes[rows],
        cell[decision],
        event[decision],
        record.bet_market[rows],
        record.decided_at[decision],
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Positions:
    """Nonzero stakes, (n,) each."""

    stake: Floats
    price: Floats
    decision: Ints
    event: Ints
    market: Ints
    decided_at: Floats

    def shares(self) -> Floats:
        """Return the shares bought, (n,); shares of NO count as sold YES."""
        return self.stake / np.where(self.stake > 0.0, self.price, 1.0 - self.price)


def _positions(
    stakes: ArrayLike,
    prices_yes: ArrayLike,
    decisions: ArrayLike,
    events: ArrayLike,
    markets: ArrayLike,
    decided_at: ArrayLike,
) -> _Positions:
    staked, price = numbers("stakes", stakes), numbers("prices_yes", prices_yes)
    decision, event = indices("decisions", decisions), indices("events", events)
    market, at = indices("markets", markets), _instants("decided_at", decided_at)
    same_length(stakes=staked, prices_yes=price, decisions=decision, events=event, markets=market, decided_at=at)
    refuse("prices_yes", price, (price <= 0.0) | (price >= 1.0), "each must be strictly between 0 and 1")
    label, first, code = np.unique(decision, return_index=True, return_inverse=True)
    total = np.bincount(code, np.abs(staked), label.size)
    refuse("stakes", staked, total[code] > _MOST_STAKED, "those of one decision add up to more than 1")
    for name, each in (("events", event), ("decided_at", at)):
        refuse(name, each, each != each[first][code], "a decision has one event and one instant")
    return _Positions(staked, price, decision, _number_events(event), market, at)


def _marks(
    payouts_yes: ArrayLike,
    settled_at: ArrayLike,
    observation_market: ArrayLike,
    observation_at: ArrayLike,
    observation_price_yes: ArrayLike,
    *,
    as_of: float,
    markets: Ints,
) -> Marks:
    payouts, paid_at = (
        shares("payouts_yes", payouts_yes, allow_nan=True),
        one_dimensional("settled_at", floats("settled_at", settled_at)),
    )
    same_length(payouts_yes=payouts, settled_at=paid_at)
    refuse("settled_at", paid_at, np.isnan(paid_at) != np.isnan(payouts), "a market has a payout and its instant")
    refuse("settled_at", paid_at, np.abs(paid_at) >= _LATEST, "give seconds since 1970")
    observed, seen_at = indices("observation_market", observation_market), _instants("observation_at", observation_at)
    seen = shares("observation_price_yes", observation_price_yes)
    same_length(observation_market=observed, observation_at=seen_at, observation_price_yes=seen)
    for name, rows in (("markets", markets), ("observation_market", observed)):
        refuse(name, rows, (rows < 0) | (rows >= payouts.size), f"there are {payouts.size} of them, counted from 0")
    instant = scalar("as_of", as_of)
    if not abs(instant) < _LATEST:
        raise ValueError(f"as_of is {as_of!r}; give seconds since 1970")
    return daily_marks(payouts, paid_at, observed, seen_at, seen, instant).of_whole_days(instant)


def _instants(name: str, values: ArrayLike) -> Floats:
    at = numbers(name, values)
    refuse(name, at, np.abs(at) >= _LATEST, "give seconds since 1970")
    return at


def _evidence(positions: _Positions, marks: Marks, moves: "_Moves") -> BettingEvidence:
    events = int(np.unique(positions.event[positions.stake != 0.0]).size)
    shares_bought = positions.shares()
    gained = moves.gains(shares_bought[np.newaxis])[0]
    gained = np.where(np.abs(gained) > NO_MOVE, gained, 0.0)
    if not gained.any():
        return BettingEvidence(events=events)
    logs = _log_wealth(positions, shares_bought, gained, moves)
    better = _log_mean([moves.total(log) for log in islice(logs, len(FRACTIONS))])
    of_first = next(logs)
    dependence, days = moves.dependence(gained)
    dependence_worse, _ = moves.dependence(moves.changes(np.exp(-of_first), 1.0))
    returns = _book_returns(positions, marks, moves.days, moves.of_days(gained))
    book = _log_mean([np.cumsum(np.log1p(share * returns)) for share in FRACTIONS])
    return BettingEvidence(
        better=_to_evidence(better / dependence, moves.days),
        worse=_to_evidence(-moves.total(of_first) / dependence_worse, moves.days),
        book=_to_evidence(book, moves.days),
        dependence=float(dependence[-1]),
        dependence_worse=float(dependence_worse[-1]),
        days=days,
        events=events,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Moves:
    """Price moves of the positions: the first mark of each, and the later ones of its market while it was held.

    A cell is an event on a day on which any of its markets moved; cells are by event and then by day.
    """

    row: Ints
    """The positions that were ever marked, by event, market and first mark, (f,)."""
    change: Floats
    """The move of the price of YES by the first mark, (f,)."""
    cell: Ints
    run_start: Ints
    """The first index in `row` of the same event and market, (f,)."""
    held_last: Ints
    """The index in `row` of the last position marked before each later mark, (h,), by cell."""
    held_change: Floats
    held_starts: Ints
    """The first later mark of each cell that has any, (c,)."""
    held_cell: Ints
    cell_event: Ints
    event_start: Ints
    cell_day: Ints
    """An index into `days`, (cells,)."""
    days: Ints
    """The midnights, in days since 1970, rising."""

    def gains(self, shares_bought: Floats) -> Floats:
        """Return the gain of each cell, (w, cells), for each of w ways to hold shares of the positions, (w, n)."""
        bought = shares_bought[:, self.row]
        total = np.concatenate([np.zeros((len(bought), 1)), np.cumsum(bought, axis=1)], axis=1)
        held = total[:, 1:] - total[:, self.run_start]
        found = np.zeros((len(bought), self.cell_day.size))
        ends = np.append(self.held_starts, self.held_last.size)
        for first in range(0, self.held_cell.size, _CELLS_AT_ONCE):
            cells = slice(first, first + _CELLS_AT_ONCE)
            starts = self.held_starts[cells]
            rows = slice(starts[0], ends[first + starts.size])
            last, change = self.held_last[rows], self.held_change[rows]
            for shares_held, gained in zip(held, found, strict=True):
                gained[self.held_cell[cells]] = np.add.reduceat(shares_held[last] * change, starts - starts[0])
        for each, gained in zip(bought, found, strict=True):
            gained += np.bincount(self.cell, each * self.change, self.cell_day.size)
        return found

    def of_days(self, values: Floats) -> Floats:
        return np.bincount(self.cell_day, values, self.days.size).astype(np.float64)

    def changes(self, values: Floats, at_first: float) -> Floats:
        """Return the change of each cell's event since its cell before, or since the beginning."""
        changed = np.diff(values, prepend=0.0)
        changed[self.event_start] = values[self.event_start] - at_first
        return changed

    def total(self, values: Floats) -> Floats:
        """Return the sum of the latest values of all events, which begin at 0, by each day, (days,)."""
        return np.cumsum(self.of_days(self.changes(values, 0.0)))

    def dependence(self, gained: Floats) -> tuple[Floats, int]:
        """Return G by each day, (days,), from the gain of each cell, and the number of days with a move."""
        ratio, moved = dependence_by_day(gained, self.cell_day, self.days.size)
        return np.maximum(1.0, ratio + 2.0 * np.sqrt(2.0 / np.maximum(moved, 1))), int(moved[-1])


@dataclass(frozen=True, slots=True, eq=False)
class _Paths:
    """Prices from the first mark of any position on, for all bots.

    A path is of a market in an event; paths are by event and then by market.
    """

    marks: Marks
    mark: Ints
    """The first mark of each position, (n,); the number of marks for none."""
    path: Ints
    first: Ints
    """The first mark of any position of each path, (p,)."""
    starts: Ints
    """The start of each path's later marks among those of all paths, and the end of the last, (p + 1,)."""
    moved: Ints
    """Those of them that moved the price, by event and then by day, (h,)."""
    change: Floats
    label: Ints
    """Their event * span + day, (h,)."""

    def moves(self, own: Ints, positions: _Positions) -> _Moves:
        """Return the price moves of some positions; `own` are their rising numbers."""
        marks, mark = self.marks, self.mark[own]
        row = np.flatnonzero(mark < marks.key.size)
        row = row[np.lexsort((mark[row], self.path[own][row]))]
        mark, path = mark[row], self.path[own][row]
        begins = np.diff(path, prepend=-1) != 0
        held = self._last_held(path, mark)
        kept = np.flatnonzero(held >= 0)
        held_label = self.label[kept]
        held_starts = np.flatnonzero(np.diff(held_label, prepend=-1))
        held_label = held_label[held_starts]
        label = positions.event[row] * marks.span + marks.key[mark] % marks.span
        cells = distinct(np.sort(np.concatenate([label, held_label])))
        there = np.bincount(cells % marks.span, minlength=marks.span) > 0
        return _Moves(
            row=row,
            change=marks.price[mark] - positions.price[row],
            cell=np.searchsorted(cells, label).astype(np.int64),
            run_start=np.flatnonzero(begins)[np.cumsum(begins) - 1],
            held_last=held[kept],
            held_change=self.change[kept],
            held_starts=held_starts,
            held_cell=np.searchsorted(cells, held_label).astype(np.int64),
            cell_event=cells // marks.span,
            event_start=np.flatnonzero(np.diff(cells // marks.span, prepend=-1)),
            cell_day=(np.cumsum(there) - 1)[cells % marks.span],
            days=np.flatnonzero(there) + marks.first,
        )

    def _last_held(self, path: Ints, mark: Ints) -> Ints:
        """Return the last position held when each later mark moved the price, (h,); -1 for none.

        `path` and `mark` (the first mark) are of the positions, by path and then by mark.
        """
        # Paths and their positions share one numbering, so that the largest so far is the last one.
        paths = np.arange(self.first.size)
        position = np.arange(path.size)
        latest = np.zeros(self.starts[-1] + 1, dtype=np.int64)
        latest[self.starts[:-1]] = paths + np.searchsorted(path, paths)
        # A position is held from the mark after its first one on, if there is one.
        place = self.starts[path] + mark - self.first[path]
        ever = place < self.starts[path + 1]
        latest[place[ever]] = (position + path + 1)[ever]
        position_of = np.full(paths.size + position.size + 1, -1)
        position_of[position + path + 1] = position
        return position_of[np.maximum.accumulate(latest)[self.moved]]


def _paths(positions: _Positions, marks: Marks) -> _Paths:
    order = stable_order(positions.market)
    order = order[stable_order(positions.event[order])]
    event, market = positions.event[order], positions.market[order]
    marked = marks.first_after(market, positions.decided_at[order])
    begins = (np.diff(event, prepend=-1) != 0) | (np.diff(market, prepend=-1) != 0)
    start = np.flatnonzero(begins)
    mark, path = np.empty_like(order), np.empty_like(order)
    mark[order], path[order] = marked, np.cumsum(begins) - 1
    first = np.minimum.reduceat(marked, start) if start.size else start
    later = np.maximum(marks.ends[market[start]] - first - 1, 0)
    starts = np.concatenate([[0], np.cumsum(later)])
    after = np.arange(starts[-1]) + np.repeat(first + 1 - starts[:-1], later)
    change = marks.price[after] - marks.price[after - 1]
    moved = np.flatnonzero(change)
    day = marks.key[after[moved]] % marks.span
    held_event = np.repeat(event[start], later)[moved]
    order = stable_order(day)
    order = order[stable_order(held_event[order])]
    moved = moved[order]
    return _Paths(marks, mark, path, first, starts, moved, change[moved], held_event[order] * marks.span + day[order])


def _log_wealth(positions: _Positions, shares_bought: Floats, gained: Floats, moves: _Moves) -> Iterator[Floats]:
    """Yield the log wealth of the account of each cell's event, (cells,), for each way to stake.

    First a share of each stake is bet, for each of `FRACTIONS`; then `HALFWAY` of the first stake on each event, and
    nothing later. `gained` is the gain of each cell with all of each stake, (cells,).
    """
    _, first, code = np.unique(positions.decision, return_index=True, return_inverse=True)
    # Decisions by event and then in time.
    order = np.lexsort((positions.decided_at[first], positions.event[first]))
    event, staked = positions.event[first][order], np.minimum(np.bincount(code, np.abs(positions.stake)), 1.0)[order]
    shares_bet = np.array(FRACTIONS)
    kept = np.log1p(-shares_bet * staked[:, np.newaxis])
    starts = np.flatnonzero(np.diff(event, prepend=-1))
    total = np.cumsum(kept, axis=0) - kept
    before = total - np.repeat(total[starts], np.diff(starts, append=len(kept)), axis=0)
    staking = np.flatnonzero(staked)
    of_first = np.zeros((staked.size, 1))
    of_first[staking[np.diff(event[staking], prepend=-1) != 0]] = HALFWAY
    kept = np.hstack([kept, np.log1p(-of_first * staked[:, np.newaxis])])
    # With one decision an event, there are no earlier stakes.
    if before.any():
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        weights = np.hstack([shares_bet * np.exp(before), of_first])
        of_ways = moves.gains(shares_bought * weights.T[:, place[code]])
    else:
        of_ways = gained * np.append(shares_bet, HALFWAY)[:, np.newaxis]
    for of_cells, of_decisions in zip(of_ways, kept.T, strict=True):
        wealth = 1.0 + _running_sums(of_cells, moves.event_start)
        # The part that cannot be lost; rounded sums may fall below it.
        least = np.bincount(event, of_decisions)[moves.cell_event]
        yield np.maximum(np.log(np.maximum(wealth, _LEAST)), least)


def _running_sums(values: Floats, starts: Ints) -> Floats:
    """Return the running sums of values, which begin again at zero at each start."""
    total = np.cumsum(values)
    before = np.where(starts > 0, total[starts - 1], 0.0)
    total -= np.repeat(before, np.diff(starts, append=total.size))
    return total


def _book_returns(positions: _Positions, marks: Marks, days: Ints, gained: Floats) -> Floats:
    """Return the gain of all open positions on each day over the capital at stake, (days,)."""
    last = np.maximum(marks.ends[positions.market] - 1, 0)
    paid = marks.paid[last] & (marks.key[last] // marks.span == positions.market)
    too_late = paid & (marks.at[last] <= positions.decided_at)
    midnights = days.astype(np.float64)
    open_rows, paid_rows = np.flatnonzero(~too_late), np.flatnonzero(paid & ~too_late)
    put_in = _sum_before(positions.decided_at[open_rows], np.abs(positions.stake[open_rows]), midnights * DAY_SECONDS)
    worth: Floats = np.where(positions.stake > 0.0, marks.price[last], 1.0 - marks.price[last])
    worth = worth * np.abs(positions.shares())
    paid_on = (marks.key[last] % marks.span + marks.first).astype(np.float64)
    paid_out = _sum_before(paid_on[paid_rows], worth[paid_rows], midnights)
    at_stake = put_in - paid_out + np.cumsum(gained) - gained
    # Positions worth nothing cannot lose anything.
    returns = np.divide(gained, at_stake, out=np.zeros_like(gained), where=at_stake > NO_MOVE)
    return np.maximum(returns, -1.0)


def _sum_before(when: Floats, values: Floats, instants: Floats) -> Floats:
    order = np.argsort(when, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(values[order])])
    return total[np.searchsorted(when[order], instants)]


def _log_mean(logs: Sequence[Floats]) -> Floats:
    table = np.stack(logs)
    most = table.max(axis=0)
    means: Floats = most + np.log(np.mean(np.exp(table - most), axis=0))
    return means


def _to_evidence(logs: Floats, days: Ints) -> Evidence:
    """Return an e-value from its logarithm at each midnight that changed it."""
    highest = int(np.argmax(logs))
    largest = max(0.0, float(logs[highest]))
    return Evidence(
        now=max(math.exp(min(float(logs[-1]), _MOST_LOG)), _LEAST),
        largest=math.exp(min(largest, _MOST_LOG)),
        largest_at=float(days[highest] * DAY_SECONDS) if largest > 0.0 else None,
    )
