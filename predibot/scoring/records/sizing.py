"""Sizing afterwards: the stored forecasts, bet again under another rule."""

from dataclasses import replace

import numpy as np

from predibot.domain.sizing import SIZINGS, bet_usd
from predibot.scoring.arguments import Ints
from predibot.scoring.records.track_record import TrackRecord


def resized(record: TrackRecord, rule: str) -> tuple[TrackRecord, Ints]:
    """Return the record as if every forecast had been bet by one rule, and the rows of its decisions.

    Each market is sized by itself with the whole dollar, as strategies size
    theirs, then the bets of a decision are made smaller together where they add
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
    said = zip(kept.bet_probability.tolist(), kept.bet_price_yes.tolist(), strict=True)
    wanted = np.array([0.0 if chance != chance else bet_usd(rule, chance, price, 1.0) for chance, price in said])
    total = np.bincount(kept.bet_decision, np.abs(wanted), kept.decided_at.size)
    return replace(kept, bet_usd=wanted / np.maximum(total, 1.0)[kept.bet_decision]), np.flatnonzero(again)
