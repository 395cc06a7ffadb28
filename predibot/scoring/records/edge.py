"""Edge: how much closer to what happened each forecast was than the price it was made at."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, Ints, instance_of, within_floats
from predibot.scoring.inference.clusters import without_rounding
from predibot.scoring.price_lookup import MAX_GAP_SECONDS
from predibot.scoring.records.horizon_returns import observed_prices
from predibot.scoring.records.track_record import TrackRecord


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """The edge of every bot on every event and slot it was asked about, and the forecasts behind it.

    There are n_s event-slots with at least one market that has a price or has paid, n_f forecasts, and b bots.
    """

    decision: Ints
    bot: Ints
    event: Ints
    cluster: Ints
    """(n_s,): the event, or all related events."""
    slot: Floats
    """The instant of the run's slot, (n_s,)."""
    value: Floats
    """The mean over the markets asked, (n_s,), in [-1, 1]; NaN where its bot has none of the n_f forecasts."""
    settled_value: Floats
    """The part of it on settled markets, (n_s,)."""
    bet: Ints
    """The bets with a forecast, on markets with a price or payout, (n_f,)."""
    cell: Ints
    shares: Floats
    """How fast the value moves with the market's payout, (n_f,): 2 (p - p0) over the markets asked."""
    later: Floats
    paid: NDArray[np.bool_]
    """Whether that is the payout, (n_f,)."""
    asked: Ints
    """Markets that each bot was asked about, (b,), priced or not."""
    answered: Ints
    """Asked markets with a stated probability, (b,)."""
    counted: Ints
    """Asked markets that have a price or have paid, (b,): the edge is over these."""
    settled: Ints
    distance: Floats
    """The mean distance of its probabilities from the prices, (b,), over all answers; NaN without any."""

    def event_slots(self) -> int:
        """Return the number of events and slots in n_s of all bots together."""
        slot = np.unique(self.slot, return_inverse=True)[1]
        return int(np.unique(self.event * (slot.max(initial=0) + 1) + slot).size)


@dataclass(frozen=True, slots=True)
class EdgeCurve:
    """How the edge of a bot added up, slot after slot."""

    bot: str
    slot_at: tuple[float, ...]
    """The instants of its slots with a value, in seconds since 1970, ascending."""
    cumulative: tuple[float, ...]
    """The running sum of the edges of its event-slots; the last is their number times the mean."""


@within_floats
def edges(record: TrackRecord, *, max_gap_seconds: float = MAX_GAP_SECONDS) -> Edges:
    """Return the edge over the price, event-slot by event-slot, of every bot of a record.

    For each market asked it is (p0 - y)^2 - (p - y)^2, where y is the payout or,
    while the market is open, its last price after the decision, at most a gap old.
    It is zero if the bot abstained, was refused, failed or left the market out;
    it is missing throughout if the bot has no forecast on any such market.
    Markets without a price do not count as asked. Only scored decisions
    count.

    Args:
        max_gap_seconds: The greatest age of a last price.

    Raises:
        ValueError: If it is no record, or a bet is on a market that was not asked.
    """
    instance_of("record", record, TrackRecord)
    decision, market, bet = _scored_questions(record)
    later, paid = _latest(record, decision, market, max_gap_seconds)
    forecasts = np.full(bet.shape, np.nan)
    forecasts[bet >= 0] = record.bet_probability[bet[bet >= 0]]
    of_asked, bots = record.decision_bot[decision], len(record.bots)
    answered, priced = ~np.isnan(forecasts), ~np.isnan(later)
    counts = [np.bincount(of_asked[rows], minlength=bots) for rows in (slice(None), answered, priced, priced & paid)]
    apart = np.abs(forecasts[answered] - record.bet_price_yes[bet[answered]])
    away = np.bincount(of_asked[answered], apart, bots)
    first, cell = _cells(record, decision[priced])
    per_cell = np.bincount(cell, minlength=first.size)
    rows = np.flatnonzero(answered & priced)
    place = (np.cumsum(priced) - 1)[rows]
    entry = record.bet_price_yes[bet[rows]]
    # A forecast of 0.15 equals a price of 0.15000000000000002.
    share = 2.0 * without_rounding(forecasts[rows] - entry, entry) / per_cell[cell[place]]
    # The same as (p0 - y)^2 - (p - y)^2, but linear in y.
    gained = share * (later[rows] - (forecasts[rows] + entry) / 2.0)
    has_edge = np.isin(record.decision_bot[first], of_asked[rows])
    value, settled_value = (
        np.where(has_edge, np.bincount(cell[place], each, first.size), np.nan) for each in (gained, gained * paid[rows])
    )
    return Edges(
        decision=first,
        bot=record.decision_bot[first],
        event=record.decision_event[first],
        cluster=record.clusters()[first],
        slot=record.slots()[first],
        value=value,
        settled_value=settled_value,
        bet=bet[rows],
        cell=cell[place],
        shares=share,
        later=later[rows],
        paid=paid[rows],
        asked=counts[0],
        answered=counts[1],
        counted=counts[2],
        settled=counts[3],
        distance=np.divide(away, counts[1], out=np.full(bots, np.nan), where=counts[1] > 0),
    )


def edge_curves(bots: Sequence[str], found: Edges) -> tuple[EdgeCurve, ...]:
    """Return how the edge of each bot added up over its slots, in the order of the bots; empty without an edge."""
    curves = []
    for row, bot in enumerate(bots):
        own = (found.bot == row) & ~np.isnan(found.value)
        slots, slot = np.unique(found.slot[own], return_inverse=True)
        sums = np.cumsum(np.bincount(slot, found.value[own], slots.size))
        curves.append(EdgeCurve(bot, tuple(slots.tolist()), tuple(sums.tolist())))
    return tuple(curves)


def _scored_questions(record: TrackRecord) -> tuple[Ints, Ints, Ints]:
    """Return decision, market and bet row (-1 for none) of all questions of scored decisions."""
    decision, market = record.questions()
    bet = _find_bets(record, decision, market)
    rows = np.flatnonzero(record.scored_mask()[decision])
    return decision[rows], market[rows], bet[rows]


def _find_bets(record: TrackRecord, decision: Ints, market: Ints) -> Ints:
    if record.asked_decision is None:
        return np.arange(decision.size)
    markets = max(record.payout_yes.size, 1)
    asked, bet = decision * markets + market, record.bet_decision * markets + record.bet_market
    order = np.argsort(bet, kind="stable")
    place = np.searchsorted(bet[order], asked)
    place[place == bet.size] = 0
    found = np.full(asked.shape, -1) if bet.size == 0 else np.where(bet[order][place] == asked, order[place], -1)
    if np.count_nonzero(found >= 0) != bet.size:
        raise ValueError("asked_market lacks a market that a bet is on, or has one twice; give each market asked once")
    return found


def _latest(record: TrackRecord, decision: Ints, market: Ints, gap: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the payout of each market asked, else its last price, and whether it is the payout."""
    later = record.payouts()[market]
    paid = ~np.isnan(later)
    rows = np.flatnonzero(~paid)
    at = np.full(rows.size, record.as_of)
    later[rows] = observed_prices(record, market[rows], at, record.decided_at[decision[rows]], gap)
    return later, paid


def _cells(record: TrackRecord, decision: Ints) -> tuple[Ints, Ints]:
    _, first, cell = np.unique(record.cells()[decision], return_index=True, return_inverse=True)
    return decision[first], cell.astype(np.int64)
