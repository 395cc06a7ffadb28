"""Sizing afterwards: the stored forecasts, bet again under another rule."""

from dataclasses import replace

import numpy as np

from predibot.domain.price import MIN_SIDE_PRICE
from predibot.domain.sizing import SIZINGS, kelly_share
from predibot.scoring.arguments import Ints
from predibot.scoring.records.track_record import TrackRecord


def resized(record: TrackRecord, rule: str) -> tuple[TrackRecord, Ints]:
    """Return the record as if every forecast had been bet by one rule, and the rows of its decisions.

    Each market is sized by itself with the whole dollar, as `bet_usd` does for
    strategies, then the bets of a decision are made smaller together where they add
    up to more. Forecasts, prices and everything else stay. Nothing is bet where
    nothing was forecast. A decision that bet without a forecast is left out: no
    rule can bet it again.

    Args:
        record: What was done.
        rule: One of `SIZINGS`.

    Returns:
        The changed record with k decisions, and which of the decisions they are, (k,).

    Raises:
        ValueError: If there is no such rule.
    """
    if rule not in SIZINGS:
        raise ValueError(f"no sizing {rule!r}; there are {', '.join(SIZINGS)}")
    unsaid = (record.bet_usd != 0.0) & np.isnan(record.bet_probability)
    again = np.bincount(record.bet_decision, unsaid, record.decided_at.size) == 0
    kept = record.only(again)
    yes = kept.bet_probability > kept.bet_price_yes
    chance, cost = (np.where(yes, each, 1.0 - each) for each in (kept.bet_probability, kept.bet_price_yes))
    # Where nothing was forecast, the chance is NaN, and nothing is worth it.
    worth_it = (chance > cost) & (cost >= MIN_SIDE_PRICE) & (cost < 1.0)
    fraction = SIZINGS[rule]
    share = 1.0 if fraction is None else fraction * kelly_share(chance - cost, np.where(worth_it, 1.0 - cost, 1.0))
    wanted = np.where(worth_it, share, 0.0) * np.where(yes, 1.0, -1.0)
    total = np.bincount(kept.bet_decision, np.abs(wanted), kept.decided_at.size)
    return replace(kept, bet_usd=wanted / np.maximum(total, 1.0)[kept.bet_decision]), np.flatnonzero(again)
