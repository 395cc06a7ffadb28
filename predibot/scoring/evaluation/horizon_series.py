"""Series: the values behind each average over a horizon, their shares, and their running sums slot by slot."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.accounts.score import is_curve, returns_of
from predibot.scoring.arguments import Floats, Ints, within_floats
from predibot.scoring.evaluation.averages import Average, Later
from predibot.scoring.evaluation.book import Book, Shares
from predibot.scoring.inference.blocks import draw_curves, growth_estimate
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.metrics.frictions import quote_shares
from predibot.scoring.records.edge import Edges, edges
from predibot.scoring.records.horizon_returns import HorizonReturns, horizon_returns, market_bets_usd, record_marks
from predibot.scoring.records.track_record import DAY_SECONDS, TrackRecord

_QUOTE = "quote_mean_return"
_AVERAGES = ("mean_return", "market_mean_return", _QUOTE, "friction", "net_mean_return", "drift")


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """m known values, with their bots, events and clusters."""

    values: Floats
    bot: Ints
    event: Ints
    cluster: Ints


def horizon_series(record: TrackRecord, returns: HorizonReturns) -> Mapping[str, Series]:
    """Return the values of each average over one horizon, by its name.

    `mean_return` is the return of decisions at the mid. `market_mean_return` is the market's return on the same
    decisions. `quote_mean_return` is the return against the book with fees. `friction` is the return at the mid less
    that at the quote. `net_mean_return` is the return less the cost of the decision, where that is known. `drift` is
    how far the price moved toward the forecast, in [-1, 1]; a forecast equal to the price has no direction and no
    drift.
    """
    decision = record.bet_decision
    everything = np.arange(record.decided_at.size)
    found = {name: _drop_unknown(record, each, everything) for name, each in _of_decisions(record, returns).items()}
    found["drift"] = _drop_unknown(record, _drifts(record, returns), decision)
    return found


def horizon_averages(returns: HorizonReturns, book: Book, names: Collection[str] = _AVERAGES) -> Mapping[str, Average]:
    """Return these averages with the shares behind each; `returns` are in the record's own order; not of friction."""
    record, values = book.record, _of_decisions(book.record, returns)
    held_seconds = None if returns.days is None else returns.days * DAY_SECONDS
    later = Later.of(book, returns.price_of_bet, returns.paid, held_seconds)
    everything = np.arange(record.decided_at.size)
    found = {
        name: Average(book, everything, values[name], held, later, beside=_beside(name, book, later))
        for name in names
        if (held := _shares_of(name, book)) is not None
    }
    if "drift" in names:
        found["drift"] = _drift_average(book, returns, later)
    return found


def edge_average(found: Edges, book: Book) -> Average:
    """Return the average of the edges with the shares the forecasts would have bought, in the record's own order."""
    record, bets, bots = book.record, book.order.size, len(book.record.bots)
    shares, later, paid = np.zeros(bets), np.full(bets, np.nan), np.zeros(bets, np.bool_)
    shares[found.bet], later[found.bet], paid[found.bet] = found.shares, found.later, found.paid
    shares = shares[book.order]
    # Markets that were asked and not answered move nothing, but have a price.
    of_decision = book.subject * bots + record.decision_bot
    labels, unit = np.unique(np.append(of_decision[found.decision], -1), return_index=True)
    place = np.searchsorted(labels, of_decision[record.bet_decision])
    unit = unit[np.where(labels[np.minimum(place, labels.size - 1)] == of_decision[record.bet_decision], place, 0)]
    between = np.where(shares == 0.0, 0.0, (record.bet_price_yes + record.bet_probability) / 2.0)
    # The last unit collects bets that do not count.
    none = np.zeros(min(record.decided_at.size, 1), dtype=np.int64)
    decision, value = np.append(found.decision, none), np.append(found.value, np.full(none.shape, np.nan))
    return Average(
        book,
        decision,
        value,
        Shares(unit, shares, -shares * between, shares * (1.0 - between)),
        Later.of(book, later, paid, None),
        limits=(-1.0, 1.0),
    )


def _of_decisions(record: TrackRecord, returns: HorizonReturns) -> Mapping[str, Floats]:
    known = ~np.isnan(returns.value)
    return {
        "mean_return": returns.value,
        "market_mean_return": np.where(known, returns.market_value, np.nan),
        "quote_mean_return": returns.quote_value,
        "friction": returns.value - returns.quote_value,
        "net_mean_return": returns.value - record.decision_cost_usd,
    }


def _mid_shares(record: TrackRecord, bets_usd: Floats) -> Floats:
    """Return the shares of YES that the dollars buy at the mid, negative for NO, (n_b,)."""
    price = record.bet_price_yes
    return bets_usd / np.where(bets_usd > 0.0, price, 1.0 - price)


def _shares_of(name: str, book: Book) -> Shares | None:
    """Return the shares behind an average of decisions, from the cache; None where they are unknown."""
    name = "mean_return" if name == "net_mean_return" else name
    if name not in book.held and (made := _make_shares(name, book)) is not None:
        book.held[name] = made
    return book.held.get(name)


def _make_shares(name: str, book: Book) -> Shares | None:
    record = book.record
    if name == "mean_return":
        return shares_at_mid(book)
    if name == "market_mean_return":
        bets_usd = market_bets_usd(record)
        return _paid_shares(record, bets_usd, _mid_shares(record, bets_usd))
    if name == "drift" or record.bet_bid_yes is None or record.bet_ask_yes is None:
        return None
    if name == "friction" and (mid := _shares_of("mean_return", book)) and (quote := _shares_of(_QUOTE, book)):
        return _between(mid, quote)
    bought = quote_shares(
        record.bet_usd, record.bet_bid_yes, record.bet_ask_yes, record.bet_fee_rate, record.bet_fee_exponent
    )
    # Without a book, the decision has no value.
    return _paid_shares(record, record.bet_usd, np.nan_to_num(bought))


def shares_at_mid(book: Book) -> Shares:
    """Return the shares of every decision, bought at the mid."""
    if "mean_return" not in book.held:
        bets_usd = book.record.bet_usd
        book.held["mean_return"] = _paid_shares(book.record, bets_usd, _mid_shares(book.record, bets_usd))
    return book.held["mean_return"]


def _paid_shares(record: TrackRecord, bets_usd: Floats, shares: Floats) -> Shares:
    paid_for = np.abs(bets_usd)
    if_no, if_yes = np.maximum(-shares, 0.0) - paid_for, np.maximum(shares, 0.0) - paid_for
    return Shares(record.bet_decision, shares, if_no, if_yes)


def _between(mid: Shares, quote: Shares) -> Shares:
    nothing = np.zeros(mid.shares.shape)
    return Shares(mid.unit, nothing, mid.if_no - quote.if_no, mid.if_yes - quote.if_yes)


def _beside(name: str, book: Book, later: Later) -> tuple[Floats, Floats] | None:
    """Return the least and the most of each decision's value besides its shares, (n_d,) each."""
    record = book.record
    if name == "net_mean_return":
        cost = -record.decision_cost_usd
        return cost, cost
    quote = _shares_of(_QUOTE, book) if name == "friction" else None
    if quote is None or record.bet_bid_yes is None or record.bet_ask_yes is None:
        return None
    # At most half the spread of each share is lost until its market pays.
    half_spread = np.maximum(np.nan_to_num(record.bet_ask_yes - record.bet_bid_yes), 0.0) / 2.0
    lost = np.where(later.paid, 0.0, np.abs(quote.shares) * half_spread)
    of_decision = np.bincount(record.bet_decision, lost, record.decided_at.size).astype(np.float64)
    return np.zeros(of_decision.shape), of_decision


def _drift_average(book: Book, returns: HorizonReturns, later: Later) -> Average:
    record = book.record
    bets, price = np.arange(record.bet_usd.size), record.bet_price_yes
    side = np.sign(np.nan_to_num(record.bet_probability - price))
    value = _drifts(record, replace(returns, price_of_bet=later.price_yes, paid=later.paid))
    held = Shares(bets, side, -side * price, side * (1.0 - price))
    return Average(book, record.bet_decision, value, held, later)


def _drifts(record: TrackRecord, returns: HorizonReturns) -> Floats:
    """Return how far each bet's market moved toward the forecast, (n_b,), NaN where that is unknown."""
    difference = record.bet_probability - record.bet_price_yes
    counted = returns.passed[record.bet_decision] & (difference != 0.0)
    moved = np.sign(difference) * (returns.price_of_bet - record.bet_price_yes)
    return np.where(counted, moved, np.nan)


def _drop_unknown(record: TrackRecord, values: Floats, decision: Ints) -> Series:
    rows = np.flatnonzero(~np.isnan(values))
    of = decision[rows]
    return Series(values[rows], record.decision_bot[of], record.decision_event[of], record.clusters()[of])


MOST_POINTS = 40
EDGE = "edge"
GAIN = "mean_return"
GAIN_AT_QUOTE = "quote_mean_return"
RUNNING = (EDGE, GAIN, GAIN_AT_QUOTE)
_DRAWS = 2_000
"""Enough draws for a line in a picture."""


@dataclass(frozen=True, slots=True)
class RunningPoint:
    """The sum after one slot."""

    slot_at: float
    total: float
    low: float | None
    high: float | None
    n: int
    clusters: int


@within_floats
def running_sums(
    record: TrackRecord, *, confidence: float = 0.95, most: int = MOST_POINTS, wanted: Sequence[str] = RUNNING
) -> Mapping[str, Mapping[str, tuple[RunningPoint, ...]]]:
    """Return running sums over slots, by their name in `RUNNING` and then by bot; bots without values are absent.

    `edge` sums the edges of event-slots. `mean_return` sums gains at the mid in dollars, a dollar a decision.
    `quote_mean_return` sums gains against the book with fees. A point counts everything decided by its slot, as known
    at the record's instant. Its interval is that of the mean over these decisions times their number, for one look at
    this point; the intervals together are no band for the whole curve.

    At most `most` points, 2 or more, are returned, evenly spread over the slots, with the last.
    """
    book = Book.of(record, record_marks(record))
    averages = {EDGE: edge_average(edges(record), book)} if EDGE in wanted else {}
    if gains := [name for name in (GAIN, GAIN_AT_QUOTE) if name in wanted]:
        averages |= horizon_averages(horizon_returns(record, ())[0], book, gains)
    slots = record.slots()
    points = _spread(np.unique(slots[record.scored_mask()]), most)
    found: dict[str, Mapping[str, tuple[RunningPoint, ...]]] = {name: {} for name in wanted}
    for name, average in averages.items():
        of_bots: list[list[RunningPoint]] = [[] for _ in record.bots]
        slot, value = slots[average.decision], average.value
        for slot_at, dependences in zip(points.tolist(), _dependences(average, slots, points), strict=True):
            # A decision has the same value in every sum.
            known, made = np.where(slot <= slot_at, value, np.nan), slots[book.record.bet_decision] <= slot_at
            until = replace(average, value=known, made=np.flatnonzero(made))
            for before, estimate in zip(of_bots, until.of_each(confidence, dependences), strict=True):
                if estimate is None or (before and before[-1].n == estimate.n):
                    continue
                low, high = (None if end is None else end * estimate.n for end in (estimate.low, estimate.high))
                total = estimate.estimate * estimate.n
                before.append(RunningPoint(slot_at, total, low, high, estimate.n, estimate.clusters))
        found[name] = {bot: tuple(of_bot) for bot, of_bot in zip(record.bots, of_bots, strict=True) if of_bot}
    return found


def running_value(
    at: Sequence[float],
    values: Floats,
    uncertainty: Uncertainty,
    *,
    implied: Callable[[int], float] = lambda _: 0.0,
) -> tuple[RunningPoint, ...]:
    """Return the value of an account over its slots, with intervals by the scatter of its returns: at most
    `MOST_POINTS` points, evenly spread, with the last.

    The interval of a point is that of the cumulative return up to it; the last one is that of the account's score.

    Args:
        at: Increasing instants in seconds since 1970, (n,).
        values: The account's values in dollars, (n,).
        implied: The standard deviation of log growth up to a row that prices imply.
    """
    found = []
    drawn = replace(uncertainty, resamples=min(uncertainty.resamples, _DRAWS))
    for row in _spread(np.arange(values.size), MOST_POINTS).tolist():
        low = high = None
        if row >= 2 and is_curve(values[: row + 1]):
            curve = draw_curves(returns_of(values[: row + 1])[:, np.newaxis], drawn, drawdowns=False)
            estimate = growth_estimate(curve, 0, implied(row))
            if estimate.low is not None and estimate.high is not None:
                low, high = (float(values[0] * (1.0 + end)) for end in (estimate.low, estimate.high))
        found.append(RunningPoint(float(at[row]), float(values[row]), low, high, row, row))
    return tuple(found)


def _dependences(average: Average, slots: Floats, points: Floats) -> list[list[float]]:
    """Return the dependence of each bot's gains up to each point, from what was bought since the point before."""
    book, shares = average.book, average.counted_shares()
    rows = np.flatnonzero(shares)
    point = np.full(shares.size, points.size)
    point[rows] = np.searchsorted(points, slots[book.record.bet_decision[rows]])
    found = np.ones((points.size, len(book.record.bots)))
    for bot, (start, end) in enumerate(pairwise(book.ends_of_bots.tolist())):
        gained, last = np.zeros(book.daily.day_of_cell.size), 1.0
        for number in range(points.size):
            bought = start + np.flatnonzero(point[start:end] == number)
            if bought.size:
                gained += average.later.daily_gains(bought, shares[bought])
                last = book.daily.dependence(gained)
            found[number, bot] = last
    return found.tolist()


def _spread(values: NDArray[Any], most: int) -> NDArray[Any]:
    if values.size <= most:
        return values
    return values[np.unique(np.linspace(0, values.size - 1, most).round().astype(np.int64))]
