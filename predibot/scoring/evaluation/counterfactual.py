"""Counterfactuals: what the same forecasts would have earned, bet some days later or by another sizing rule."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from predibot.domain.price import MIN_SIDE_PRICE
from predibot.domain.sizing import SIZINGS, kelly_share
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.uncertainty import Uncertainty, estimates, mean_of
from predibot.scoring.price_lookup import MAX_GAP_SECONDS
from predibot.scoring.records.horizon_returns import HorizonReturns, horizon_returns, observed_prices
from predibot.scoring.records.track_record import DAY_SECONDS, TrackRecord


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A bot's return by one horizon if something had differed, and its actual one, on decisions with both."""

    bot: str
    change: str
    """The difference, such as `4` days late, or `kelly`."""
    horizon: str
    mean_return: float | None
    actual_mean_return: float | None
    difference: Estimate | None
    """The changed less the actual mean; None where no decision has both."""


def delay_scores(
    record: TrackRecord, returns: Sequence[HorizonReturns], delays_days: Sequence[float], uncertainty: Uncertainty
) -> tuple[Counterfactual, ...]:
    """Return what each bot would have earned some days late; a negative difference says that stale decisions hurt."""
    late = ((f"{days:g}", delay_record(record, days)) for days in delays_days)
    return tuple(found for change, other in late for found in _beside(record, change, returns, other, uncertainty))


def sizing_scores(
    record: TrackRecord, returns: Sequence[HorizonReturns], rules: Sequence[str], uncertainty: Uncertainty
) -> tuple[Counterfactual, ...]:
    """Return what each bot would have earned with other sizing rules, some of `SIZINGS`."""
    bet_again = ((rule, resize_bets(record, rule)) for rule in rules)
    return tuple(found for rule, other in bet_again for found in _beside(record, rule, returns, other, uncertainty))


def _beside(
    record: TrackRecord,
    change: str,
    returns: Sequence[HorizonReturns],
    otherwise: tuple[TrackRecord, Ints],
    uncertainty: Uncertainty,
) -> list[Counterfactual]:
    other, decisions = otherwise
    days = tuple(each.days for each in returns if each.days is not None)
    found = horizon_returns(other, days)
    changed = np.full((len(found), record.decided_at.size), np.nan)
    changed[:, decisions] = [each.value for each in found]
    cells = [
        (bot, actual, values, np.flatnonzero((record.decision_bot == bot) & ~np.isnan(actual.value + values)))
        for bot in range(len(record.bots))
        for actual, values in zip(returns, changed, strict=True)
    ]
    differences = [
        mean_of(values[rows] - actual.value[rows], record.clusters()[rows]) for _, actual, values, rows in cells
    ]
    return [
        Counterfactual(
            bot=record.bots[bot],
            change=change,
            horizon=actual.label,
            mean_return=float(np.mean(values[rows])) if rows.size else None,
            actual_mean_return=float(np.mean(actual.value[rows])) if rows.size else None,
            difference=difference,
        )
        for (bot, actual, values, rows), difference in zip(cells, estimates(differences, uncertainty), strict=True)
    ]


def delay_record(record: TrackRecord, days: float) -> tuple[TrackRecord, Ints]:
    """Return the record of what could have been carried out some days later, (k decisions), and their rows, (k,).

    The same dollars are bet on the same sides, at the price of that later instant, and held for as long as before. A
    decision is left out where that instant lies after the evaluation, or where a market with money on it had settled,
    had no price, or was too cheap for a bet by then. The days are units of 24 hours, above zero.

    Source:
        The rolling-k analysis of LiveTradeBench (2025), which carries out the allocation of k days ago; ours delays
        single decisions, so that each can be compared with itself.
    """
    late = record.decided_at + days * DAY_SECONDS
    price = _prices_then(record, late[record.bet_decision])
    staked = record.bet_usd != 0.0
    cost = np.where(record.bet_usd > 0.0, price, 1.0 - price)
    hindered = staked & ~((cost >= MIN_SIDE_PRICE) & (cost < 1.0))
    done = (late <= record.as_of) & (np.bincount(record.bet_decision, hindered, late.size) == 0)
    # A row without a bet needs no price, and keeps the old one.
    entry = np.where(staked, price, record.bet_price_yes)
    kept = replace(record, decided_at=late).only(done)
    # The record does not have the book of that later instant.
    return replace(kept, bet_price_yes=entry[done[record.bet_decision]], bet_bid_yes=None, bet_ask_yes=None), (
        np.flatnonzero(done)
    )


def _prices_then(record: TrackRecord, at: Floats) -> Floats:
    """Return the price of each bet's market at a later instant, (n_b,); NaN once it is settled."""
    rows = np.flatnonzero((at <= record.as_of) & ~(record.settled_at[record.bet_market] <= at))
    price = np.full(at.shape, np.nan)
    after = record.decided_at[record.bet_decision[rows]]
    price[rows] = observed_prices(record, record.bet_market[rows], at[rows], after, MAX_GAP_SECONDS)
    return price


def resize_bets(record: TrackRecord, rule: str) -> tuple[TrackRecord, Ints]:
    """Return the record of k decisions as if every forecast had been bet by one of `SIZINGS`, and their rows, (k,).

    Each market is sized by itself with the whole dollar, as `bet_usd` does for strategies, then the bets of a decision
    are made smaller together where they add up to more. Forecasts, prices and everything else stay. Without a forecast
    nothing is bet. A decision that bet without a forecast is left out: no rule can bet it again.
    """
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
