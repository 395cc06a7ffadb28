"""Sizing afterwards: the stored forecasts, bet again under another rule."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from predibot.domain.price import MIN_SIDE_PRICE
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.records.track_record import TrackRecord

SIZINGS: Mapping[str, float | None] = MappingProxyType(
    {"flat": None, "kelly": 1.0, "half_kelly": 0.5, "fractional_kelly": 0.25}
)
"""What share of Kelly's bet each rule takes; None for `flat`, which bets everything on the side that has an edge."""


def resized(record: TrackRecord, rule: str) -> tuple[TrackRecord, Ints]:
    """Return the record as if every forecast had been bet by one rule, and the rows of its decisions.

    Each market is sized by itself with the whole dollar, then the bets of a
    decision are made smaller together where they add up to more. Forecasts,
    prices and everything else stay. Nothing is bet without an edge, on a side
    that is too cheap for a bet to be taken, or where nothing was forecast. A
    decision that bet without a forecast is left out: no rule can bet it again.

    Args:
        record: What was done.
        rule: One of `SIZINGS`.

    Returns:
        The changed record with k decisions, and which of the decisions they are, (k,).

    Raises:
        ValueError: If there is no such rule.

    Source:
        Kelly (1956): (p - c) / (1 - c) of the stake for a share that costs c
        and pays 1. The same rules as `predibot.domain.sizing` bets by.
    """
    if rule not in SIZINGS:
        raise ValueError(f"no sizing {rule!r}; there are {', '.join(SIZINGS)}")
    unsaid = (record.bet_usd != 0.0) & np.isnan(record.bet_probability)
    again = np.bincount(record.bet_decision, unsaid, record.decided_at.size) == 0
    kept = record.only(again)
    wanted = _each_alone(kept.bet_probability, kept.bet_price_yes, SIZINGS[rule])
    total = np.bincount(kept.bet_decision, np.abs(wanted), kept.decided_at.size)
    return replace(kept, bet_usd=wanted / np.maximum(total, 1.0)[kept.bet_decision]), np.flatnonzero(again)


def _each_alone(forecast: Floats, price: Floats, fraction: float | None) -> Floats:
    """Return the dollars of each market with one dollar to itself, (n_b,)."""
    yes = forecast > price
    chance, cost = np.where(yes, forecast, 1.0 - forecast), np.where(yes, price, 1.0 - price)
    worth_it = (chance > cost) & (cost >= MIN_SIDE_PRICE)
    share = np.ones(price.shape) if fraction is None else fraction * (chance - cost) / (1.0 - cost)
    return np.where(worth_it, share, 0.0) * np.where(yes, 1.0, -1.0)
