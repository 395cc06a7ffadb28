"""The definitions of scorecards once more, one decision at a time and without numpy."""

import math
import statistics

from predibot.domain.decision import STATUSES
from predibot.scoring import TrackRecord

DAY = 86_400.0
GAP = 3 * DAY


def price_at(record: TrackRecord, market: int, start: float, at: float) -> float | None:
    """Return what a market was worth at an instant, for a decision made at `start`."""
    settled_at = record.settled_at[market]
    if settled_at <= at and settled_at <= record.as_of:
        return float(record.payout_yes[market])
    seen = [
        (t, row)
        for row, (m, t) in enumerate(zip(record.observation_market, record.observation_at, strict=True))
        if m == market and start < t <= at and t <= record.as_of and at - t <= GAP
    ]
    return float(record.observation_price_yes[max(seen)[1]]) if seen else None


def gain(bet: float, before: float, later: float) -> float:
    side_before, side_later = (before, later) if bet > 0 else (1 - before, 1 - later)
    return abs(bet) * (side_later / side_before - 1)


def rows_of(record: TrackRecord, decision: int) -> list[int]:
    return [row for row, owner in enumerate(record.bet_decision) if owner == decision]


NOW = -1.0
"""Stands for the horizon `now`, which is no number of days."""


def value(record: TrackRecord, decision: int, days: float | None) -> float | None:
    """Return what a decision returned by a horizon, None for `settled`."""
    start = float(record.decided_at[decision])
    status = STATUSES[record.decision_status[decision]]
    end = start if days in (None, NOW) else start + (days or 0.0) * DAY
    if status in ("refused", "failed") or end > record.as_of:
        return None
    rows = rows_of(record, decision)
    prices = {row: _worth(record, row, start, days) for row in rows}
    staked = [row for row in rows if record.bet_usd[row] != 0]
    if days is None and not staked and any(price is None for price in prices.values()):
        return None
    total = 0.0
    for row in staked:
        later = prices[row]
        if later is None:
            return None
        total += gain(float(record.bet_usd[row]), float(record.bet_price_yes[row]), later)
    return total


def market_value(record: TrackRecord, decision: int, days: float | None) -> float | None:
    """Return what `market_price` would have returned on the same markets."""
    rows = rows_of(record, decision)
    start, total = float(record.decided_at[decision]), 0.0
    for row in rows:
        later, before = _worth(record, row, start, days), float(record.bet_price_yes[row])
        if later is None:
            return None
        total += gain((1 if before >= 0.5 else -1) / len(rows), before, later)
    return total if rows else None


def sharpe(record: TrackRecord, values: dict[int, float], days: float) -> float | None:
    dates: dict[int, list[float]] = {}
    for decision, one in values.items():
        dates.setdefault(int(record.decision_day[decision]), []).append(one)
    series = [statistics.fmean(one) for one in dates.values()]
    if len(series) < 2 or max(series) - min(series) < 1e-12:
        return None
    return statistics.fmean(series) / statistics.stdev(series) * math.sqrt(365 / days)


def _worth(record: TrackRecord, row: int, start: float, days: float | None) -> float | None:
    market = int(record.bet_market[row])
    if days == NOW:
        return price_at(record, market, start, record.as_of)
    if days is not None:
        return price_at(record, market, start, start + days * DAY)
    return float(record.payout_yes[market]) if record.settled_at[market] <= record.as_of else None
