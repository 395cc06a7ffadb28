"""Delays: what a bot would have earned had each decision been carried out some days late."""

from dataclasses import replace

import numpy as np

from predibot.domain.price import MIN_SIDE_PRICE
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.price_lookup import MAX_GAP_SECONDS
from predibot.scoring.records.horizon_returns import observed_prices
from predibot.scoring.records.track_record import TrackRecord

_DAY_SECONDS = 86_400.0


def delayed(record: TrackRecord, days: float, *, max_gap_seconds: float = MAX_GAP_SECONDS) -> tuple[TrackRecord, Ints]:
    """Return the record of what could have been carried out some days later, and the rows of its decisions.

    The same dollars are bet on the same sides, at the price of that later
    instant, and held for as long as before. A decision is left out where that
    instant lies after the evaluation, or where a market with money on it had
    settled, had no price, or cost less than a bet may by then.

    Args:
        record: What was done.
        days: How late in units of 24 hours, above zero.
        max_gap_seconds: How old the price of the later instant may be.

    Returns:
        The later record with k decisions, and which of the decisions they are, (k,).

    Raises:
        ValueError: If the days are not above zero.

    Source:
        The rolling-k analysis of LiveTradeBench (2025), which carries out the
        allocation of k days ago; ours moves single decisions, so that each can
        be compared with itself.
    """
    if not 0.0 < days < np.inf:
        raise ValueError(f"a delay is {days!r} days; it must be above zero")
    late = record.decided_at + days * _DAY_SECONDS
    price = _prices_then(record, late[record.bet_decision], max_gap_seconds)
    staked = record.bet_usd != 0.0
    cost = np.where(record.bet_usd > 0.0, price, 1.0 - price)
    hindered = staked & ~((cost >= MIN_SIDE_PRICE) & (cost < 1.0))
    done = (late <= record.as_of) & (np.bincount(record.bet_decision, hindered, late.size) == 0)
    # Where nothing is bet no price is needed, and the old one does no harm.
    entry = np.where(staked, price, record.bet_price_yes)
    kept = replace(record, decided_at=late).only(done)
    # The book of that later instant is on no record.
    return replace(kept, bet_price_yes=entry[done[record.bet_decision]], bet_bid_yes=None, bet_ask_yes=None), (
        np.flatnonzero(done)
    )


def _prices_then(record: TrackRecord, at: Floats, gap: float) -> Floats:
    """Return the price of each bet's market at an instant after its decision, (n_b,); NaN once it is settled."""
    rows = np.flatnonzero((at <= record.as_of) & ~(record.settled_at[record.bet_market] <= at))
    price = np.full(at.shape, np.nan)
    after = record.decided_at[record.bet_decision[rows]]
    price[rows] = observed_prices(record, record.bet_market[rows], at[rows], after, gap)
    return price
