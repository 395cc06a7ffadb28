"""How long scoring takes: printed, never judged."""

import bisect
import importlib.util
import tracemalloc
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from predibot.scoring import as_of_prices, horizon_gains

pytestmark = pytest.mark.benchmark

DAY = 86_400.0
HORIZONS_DAYS = (1.0, 2.0, 7.0, 30.0)
BETS, MARKETS, OBSERVATIONS_EACH = 1_000_000, 20_000, 200
YARDSTICK_BETS = 20_000
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Bets:
    """Bets over a year, and what prices did: an observation a market every 44 hours."""

    market: Ints
    at: Floats
    usd: Floats
    price: Floats
    observed_market: Ints
    observed_at: Floats
    observed_price: Floats

    def first(self, n: int) -> "Bets":
        """Return the first of the bets, all prices staying."""
        observed = (self.observed_market, self.observed_at, self.observed_price)
        return Bets(self.market[:n], self.at[:n], self.usd[:n], self.price[:n], *observed)


def _bets() -> Bets:
    rng, n = np.random.default_rng(0), MARKETS * OBSERVATIONS_EACH
    at = rng.uniform(0.0, 1.0, (MARKETS, 1)) * DAY + np.arange(OBSERVATIONS_EACH) * (365.0 / OBSERVATIONS_EACH) * DAY
    return Bets(
        market=rng.integers(0, MARKETS, BETS),
        at=rng.uniform(0.0, 330.0, BETS) * DAY,
        usd=rng.uniform(-0.2, 0.2, BETS),
        price=rng.uniform(0.05, 0.95, BETS),
        observed_market=np.repeat(np.arange(MARKETS), OBSERVATIONS_EACH),
        observed_at=at.ravel(),
        observed_price=rng.random(n),
    )


def _by_functions(bets: Bets) -> Floats:
    """Return the gain of each bet at each horizon, (4, n)."""
    at = np.concatenate([bets.at + days * DAY for days in HORIZONS_DAYS])
    many = len(HORIZONS_DAYS)
    prices = as_of_prices(
        bets.observed_market,
        bets.observed_at,
        bets.observed_price,
        np.tile(bets.market, many),
        at,
        not_before=np.tile(bets.at, many),
    )
    return horizon_gains(bets.usd, bets.price, prices.reshape(many, -1))


def _by_pandas(bets: Bets, pandas: Any) -> Floats:
    """Return the same by the loop that one writes first: each market's prices as a series, asked bet by bet."""
    table = pandas.DataFrame({"market": bets.observed_market, "at": bets.observed_at, "price": bets.observed_price})
    series = {market: of.set_index("at")["price"] for market, of in table.groupby("market")}
    found = np.full((len(HORIZONS_DAYS), bets.at.size), np.nan)
    for row in range(bets.at.size):
        prices = series[bets.market[row]]
        for number, days in enumerate(HORIZONS_DAYS):
            end = bets.at[row] + days * DAY
            last = prices[(prices.index > bets.at[row]) & (prices.index <= end)].tail(1)
            if len(last) and end - last.index[0] <= 3 * DAY:
                found[number, row] = _gain(bets.usd[row], bets.price[row], last.iloc[0])
    return found


def _by_python(bets: Bets) -> Floats:
    """Return the same without pandas: each market's prices as lists, searched bet by bet."""
    ends = np.searchsorted(bets.observed_market, np.arange(MARKETS + 1))
    times, prices = bets.observed_at.tolist(), bets.observed_price.tolist()
    found = np.full((len(HORIZONS_DAYS), bets.at.size), np.nan)
    for row in range(bets.at.size):
        begin, stop = int(ends[bets.market[row]]), int(ends[bets.market[row] + 1])
        for number, days in enumerate(HORIZONS_DAYS):
            end = bets.at[row] + days * DAY
            place = bisect.bisect_right(times, end, begin, stop) - 1
            if place >= begin and times[place] > bets.at[row] and end - times[place] <= 3 * DAY:
                found[number, row] = _gain(bets.usd[row], bets.price[row], prices[place])
    return found


def _gain(usd: float, before: float, after: float) -> float:
    return usd * (after / before - 1.0) if usd > 0.0 else -usd * ((1.0 - after) / (1.0 - before) - 1.0)


def test_a_million_bets_at_four_horizons_beside_a_loop() -> None:
    bets = _bets()
    wall, cpu = perf_counter(), process_time()
    gains = _by_functions(bets)
    wall, cpu = perf_counter() - wall, process_time() - cpu
    tracemalloc.start()
    _by_functions(bets)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(
        f"\n{BETS:,} bets x {len(HORIZONS_DAYS)} horizons, {MARKETS:,} markets, {bets.observed_at.size:,} observations:"
        f" {wall:.2f} s, CPU {cpu:.2f} s, at most {peak / 1e6:.0f} MB above the arrays; aim 1 s, 300 MB"
    )
    few, known = bets.first(YARDSTICK_BETS), gains[:, :YARDSTICK_BETS]
    loops = [("plain Python", lambda: _by_python(few))]
    if importlib.util.find_spec("pandas"):
        pandas = importlib.import_module("pandas")
        loops.append(("pandas", lambda: _by_pandas(few, pandas)))
    else:
        print("pandas is not here: its loop is left out")
    for name, loop in loops:
        cpu = process_time()
        same = np.allclose(loop(), known, equal_nan=True)
        print(f"a loop in {name} over {YARDSTICK_BETS:,} of them: CPU {process_time() - cpu:.2f} s, the same: {same}")
