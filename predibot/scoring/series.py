"""Series: the values each average over a horizon is made of, by bot and by cluster."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.horizon import HorizonReturns
from predibot.scoring.record import TrackRecord


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """m values that are known, whose they are, and which belong together by chance."""

    values: Floats
    bot: Ints
    cluster: Ints

    def of_each(self, bots: int) -> Iterator[tuple[Floats, Ints]]:
        """Yield the values and clusters of each bot, in order."""
        order = np.argsort(self.bot, kind="stable")
        ends = np.searchsorted(self.bot[order], np.arange(bots + 1))
        for start, end in pairwise(ends):
            rows = order[start:end]
            yield self.values[rows], self.cluster[rows]


def horizon_series(record: TrackRecord, returns: HorizonReturns) -> Mapping[str, Series]:
    """Return what is averaged over one horizon, by the name of the average.

    `mean_return` is of decisions at the mid, `market_mean_return` of the market
    on the same decisions, `quote_mean_return` of those against the book with
    fees, `friction` of what that takes from the return at the mid, and
    `net_mean_return` less what they cost, where that is known. `drift`
    is of forecasts: how far the price moved toward what was said, in [-1, 1];
    one that said the price itself says nothing of a direction.
    """
    known = ~np.isnan(returns.value)
    of_decisions = {
        "mean_return": returns.value,
        "market_mean_return": np.where(known, returns.market_value, np.nan),
        "quote_mean_return": returns.quote_value,
        "friction": returns.value - returns.quote_value,
        "net_mean_return": returns.value - record.decision_cost_usd,
    }
    found = {name: _known(values, record.decision_bot, record.decision_event) for name, values in of_decisions.items()}
    decision = record.bet_decision
    found["drift"] = _known(_drifts(record, returns), record.decision_bot[decision], record.decision_event[decision])
    return found


def _drifts(record: TrackRecord, returns: HorizonReturns) -> Floats:
    """Return how far the price of each bet's market moved toward the forecast, (n_b,), NaN where nothing is known."""
    said = record.bet_probability - record.bet_price_yes
    counted = returns.passed[record.bet_decision] & (said != 0.0)
    moved = np.sign(said) * (returns.price_of_bet - record.bet_price_yes)
    return np.where(counted, moved, np.nan)


def _known(values: Floats, bot: Ints, cluster: Ints) -> Series:
    rows = np.flatnonzero(~np.isnan(values))
    return Series(values[rows], bot[rows], cluster[rows])
