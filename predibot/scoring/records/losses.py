"""Losses and gains: the bets of a record that cost or brought most, as of its instant."""

import math
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from predibot.scoring.arguments import Floats
from predibot.scoring.metrics.returns import horizon_gains
from predibot.scoring.records.horizon_returns import HorizonReturns, horizon_returns
from predibot.scoring.records.track_record import TrackRecord

_NOTHING = 1e-9
"""Prices that did not move leave no more of a dollar than this."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A bet's loss or gain at the mid, by the payout or the last price of its market."""

    bot: str
    market: int
    decided_at: float
    gain_usd: float
    """Negative for a loss."""
    bet_usd: float
    price_yes: float
    probability: float | None
    later_price_yes: float
    """The payout of YES, or its last price."""
    paid: bool
    """Whether it is the payout."""


def largest_losses(record: TrackRecord, most: int) -> tuple[Loss, ...]:
    """Return the `most` bets with the largest losses, the largest first; of equals the earlier in the record.

    Decisions that are ranked apart count too: a model's possible knowledge is no excuse for a loss.
    """
    return _largest(record, most, -1.0)


def largest_gains(record: TrackRecord, most: int) -> tuple[Loss, ...]:
    """Return the bets with the largest gains, the largest first; else like `largest_losses`."""
    return _largest(record, most, 1.0)


@dataclass(frozen=True, slots=True)
class DayGain:
    """The gain of the bets of a UTC date, at the mid, by the payout or the last price."""

    day: date
    """The date of their runs' slot."""
    gain_usd: float
    """Only of bets with a known price."""
    bets: int
    unknown: int


def daily_gains(record: TrackRecord, bot: str) -> tuple[DayGain, ...]:
    """Return a bot's gains by date, without dates without bets; decisions that are ranked apart count too."""
    found = dict[int, list[float]]()
    for ranking in (record.without_apart(), record.apart()):
        if ranking is None or bot not in ranking.bots:
            continue
        decision, gains = ranking.bet_decision, _gains(ranking)[0]
        own = (ranking.decision_bot == ranking.bots.index(bot)) & ranking.scored_mask()
        rows = np.flatnonzero(own[decision] & (ranking.bet_usd != 0.0))
        for day, gain in zip(ranking.decision_day[decision[rows]].tolist(), gains[rows].tolist(), strict=True):
            found.setdefault(day, []).append(gain)
    return tuple(
        DayGain(date(1970, 1, 1) + timedelta(days=day), math.fsum(known), len(known), len(gains) - len(known))
        for day, gains in sorted(found.items())
        for known in [[gain for gain in gains if not math.isnan(gain)]]
    )


def _gains(record: TrackRecord) -> tuple[Floats, HorizonReturns]:
    """Return the gain of each bet by now, (n_b,), NaN if unknown or not scored, and the prices."""
    now, _ = horizon_returns(record, ())
    gains = horizon_gains(record.bet_usd, record.bet_price_yes, now.price_of_bet)
    gains[~record.scored_mask()[record.bet_decision]] = np.nan
    return gains, now


def _largest(record: TrackRecord, most: int, sign: float) -> tuple[Loss, ...]:
    rankings = (record.without_apart(), record.apart())
    found = [each for ranking in rankings if ranking for each in _largest_of(ranking, most, sign)]
    return tuple(sorted(found, key=lambda each: -sign * each.gain_usd)[:most])


def _largest_of(record: TrackRecord, most: int, sign: float) -> list[Loss]:
    gains, now = _gains(record)
    order = np.argsort(-sign * gains, kind="stable")[:most]
    return [
        Loss(
            bot=record.bots[record.decision_bot[decision]],
            market=int(record.bet_market[row]),
            decided_at=float(record.decided_at[decision]),
            gain_usd=float(gains[row]),
            bet_usd=float(record.bet_usd[row]),
            price_yes=float(record.bet_price_yes[row]),
            probability=None if np.isnan(forecast := record.bet_probability[row]) else float(forecast),
            later_price_yes=float(now.price_of_bet[row]),
            paid=bool(now.paid[row]),
        )
        for row in order.tolist()
        if sign * gains[row] > _NOTHING
        for decision in (int(record.bet_decision[row]),)
    ]
