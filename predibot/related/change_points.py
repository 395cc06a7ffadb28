"""Change points: the days on which a market's price moved unusually far."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from predibot.related.beliefs import MarketPrices
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.clusters import ROUNDING

MIN_DELTAS = 6
RARE = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Deltas:
    """Changes from one day to the next, (d,) each, sorted by market and day; none across a gap."""

    market: Ints
    day: Ints
    """The later of the two days."""
    change: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ChangePoints:
    """The change points of n markets, (c,) each, sorted by market and day."""

    market: Ints
    day: Ints
    markets: int

    @property
    def counts(self) -> Ints:
        """Return the number of each market's change points, (n,)."""
        return np.bincount(self.market, minlength=self.markets).astype(np.int64)

    def by_day(self, first: int, days: int) -> sparse.csr_array:
        """Return a matrix (n, days) with a 1 for each change point."""
        cells = (np.ones(self.day.size), (self.market, self.day - first))
        return sparse.csr_array(cells, shape=(self.markets, days))


def daily_changes(prices: MarketPrices, *, logits: bool = False) -> Deltas:
    """Return the change of each price, or of its logit, between neighbouring days."""
    values = special.logit(prices.price_yes) if logits else prices.price_yes
    next_day = (np.diff(prices.market) == 0) & (np.diff(prices.day) == 1)
    return Deltas(prices.market[1:][next_day], prices.day[1:][next_day], np.diff(values)[next_day])


def change_points(changes: Deltas, markets: int) -> ChangePoints:
    """Return the days whose change is more than `RARE` standard deviations (ddof 1) off the market's mean change.

    A market with fewer than `MIN_DELTAS` changes, or with equal changes, has none. BeliefBench, section 5.2, names the
    z-score but no threshold.
    """
    n = np.bincount(changes.market, minlength=markets)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(changes.market, changes.change, minlength=markets) / n
        off = changes.change - mean[changes.market]
        deviation = np.sqrt(np.bincount(changes.market, off**2, minlength=markets) / (n - 1))
    largest = np.zeros(markets)
    np.maximum.at(largest, changes.market, np.abs(changes.change))
    has_enough: NDArray[np.bool_] = (n >= MIN_DELTAS) & (deviation > ROUNDING * largest)
    # Rounding must not turn exactly two deviations into more.
    rare = has_enough[changes.market] & (np.abs(off) > RARE * (1.0 + ROUNDING) * deviation[changes.market])
    return ChangePoints(changes.market[rare], changes.day[rare], markets)


def volatile_share(changes: Deltas, markets: int, *, window_days: int, least_deviation: float) -> Floats:
    """Return the share of windows whose daily logit returns vary enough, (n,): equation 2 of BeliefBench.

    A window is a run of returns on consecutive days; NaN for a market without one.

    Args:
        changes: Of logits, in n markets.
        window_days: w, 2 or more.
        least_deviation: gamma, the least standard deviation (ddof 1), 0 or more.
    """
    if changes.change.size < window_days:
        return np.full(markets, np.nan)
    spread = np.lib.stride_tricks.sliding_window_view(changes.change, window_days).std(axis=1, ddof=1)
    last = window_days - 1
    whole = changes.market[last:] == changes.market[: changes.market.size - last]
    whole &= changes.day[last:] - changes.day[: changes.day.size - last] == last
    market, volatile = changes.market[last:][whole], spread[whole] >= least_deviation * (1.0 - ROUNDING)
    with np.errstate(invalid="ignore"):
        share: Floats = np.bincount(market, volatile, minlength=markets) / np.bincount(market, minlength=markets)
    return share
