"""Blocks: resampled dates in runs that stay together, for figures of an account's curve.

Neighbouring returns are not independent, so whole stretches of dates are drawn: the stationary bootstrap.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.bootstrap import Estimate, generator
from predibot.scoring.inference.student_t import t_quantile
from predibot.scoring.inference.uncertainty import Uncertainty

FEWEST_FOR_DRAWDOWN = 60
"""With fewer dates the deepest fall has no interval: they are too few to hold a deeper one."""
BY_BLOCKS = "stationary block bootstrap over dates, or what prices imply, by t, on log growth"
BY_BLOCKS_AS_DRAWN = "stationary block bootstrap over dates, widened by t"
BY_BLOCKS_ALONE = "stationary block bootstrap over dates"

_CELLS = 1 << 18
_LEAST = 1e-300
"""Stands for the value of an account that was wiped out, because zero has no logarithm."""
_LOST = -600.0
_MOST_GROWTH = 700.0
_ROUNDING = 1e-10
MOST_WIDER = 3.0
"""A Sharpe ratio has no interval if prices imply more than so many times what happened."""


@dataclass(frozen=True, slots=True)
class DrawnCurves:
    """Curves over the same dates, and their figures in each resample of the dates.

    All curves share the dates of a resample, so they can be compared within it.
    """

    returns: Floats
    """One row a date, one column a curve, (n, m)."""
    growth: Floats
    """Sum of log(1 + return) of each, (m,)."""
    drawn_growth: Floats
    """The same in each resample, (resamples, m)."""
    drawn_mean: Floats
    drawn_square: Floats
    drawn_drawdown: Floats | None
    """The deepest fall in each resample, (resamples, m); None on too few dates."""
    confidence: float

    @property
    def dates(self) -> int:
        """Return the number of returns of each curve."""
        return int(self.returns.shape[0])

    @property
    def resamples(self) -> int:
        """Return the number of resamples."""
        return int(self.drawn_growth.shape[0])

    @property
    def widening(self) -> float:
        """Return the factor on deviations that allows for few blocks.

        t / z with one degree of freedom less than mean blocks, times sqrt(n / (n - 1)).
        """
        probability, n = 0.5 + self.confidence / 2.0, self.dates
        blocks = n / mean_block(n)
        t = t_quantile(probability, max(blocks - 1.0, 1.0))
        return t / NormalDist().inv_cdf(probability) * math.sqrt(n / (n - 1))


def mean_block(dates: int) -> float:
    """Return the mean number of dates in a block, the cube root of their number."""
    return float(max(1.0, dates ** (1.0 / 3.0)))


def draw_curves(returns: Floats, uncertainty: Uncertainty, *, drawdowns: bool = True) -> DrawnCurves:
    """Return curves with their resamples by the stationary bootstrap.

    A resample walks from date to date, the first following the last, and before each step jumps to any date with the
    chance 1 / mean block. The same returns and seed give the same resamples, also with other curves beside them.

    Args:
        returns: The return of each curve on each date, (n dates, m curves), each at least -1; n at least 2.
        uncertainty: Seed, number of resamples, confidence.
        drawdowns: Whether drawdowns are drawn too, which takes a third of the time.

    Source:
        Politis and Romano (1994), Journal of the American Statistical Association 89(428), 1303-1313.
    """
    n, m = returns.shape
    logs = np.log(np.maximum(1.0 + returns, _LEAST))
    table = np.concatenate([logs, returns, returns**2], axis=1)
    sums, falls = [], []
    for dates in _draw_dates(n, uncertainty.resamples, generator(uncertainty.seed)):
        sums.append(_counts(dates) @ table)
        if drawdowns and n >= FEWEST_FOR_DRAWDOWN:
            falls.append(_drawdowns(dates, logs))
    summed = np.concatenate(sums)
    return DrawnCurves(
        returns=returns,
        growth=logs.sum(axis=0),
        drawn_growth=summed[:, :m],
        drawn_mean=summed[:, m : 2 * m] / n,
        drawn_square=summed[:, 2 * m :] / n,
        drawn_drawdown=np.concatenate(falls) if falls else None,
        confidence=uncertainty.confidence,
    )


def growth_estimate(drawn: DrawnCurves, curve: int, implied: float = 0.0) -> Estimate:
    """Return the cumulative return of a curve with its interval.

    The interval is symmetric in log growth. Its half-width is the larger of two: the deviation of the resamples, times
    t with one degree of freedom less than blocks; and `implied`, the deviation of log growth that prices imply, times t
    with one degree of freedom less than dates, because no resample knows of a favourite that did not lose. There is
    none if all returns are alike and prices imply nothing, or if the account lost everything.
    """
    return _growth(drawn, float(drawn.growth[curve]), drawn.drawn_growth[:, curve], implied)


def growth_difference(drawn: DrawnCurves, curve: int, other: int, implied: float = 0.0) -> Estimate:
    """Return by what share one curve came to more than another, with its interval as in `growth_estimate`."""
    growth, less = float(drawn.growth[curve]), float(drawn.growth[other])
    moved = drawn.drawn_growth[:, curve] - drawn.drawn_growth[:, other]
    return _growth(drawn, growth - less, moved, implied, lost=min(growth, less) <= _LOST)


def sharpe_estimate(
    drawn: DrawnCurves, curve: int, sharpe: float, per_period: float, rate: float, ddof: int, implied: float = 0.0
) -> Estimate:
    """Return an annual Sharpe ratio with its interval: from resamples with widened deviations, and from prices.

    If prices imply more than three times as much, there is no interval: they imply swings
    that have not happened, so the deviation is unknown.

    Args:
        per_period: Periods a year.
        rate: The annual return without risk.
        ddof: The deviation divides by n - ddof.
        implied: The standard deviation of its log growth that prices imply.
    """
    n = drawn.dates
    mean, square = drawn.drawn_mean[:, curve], drawn.drawn_square[:, curve]
    variance = (square - mean**2) * (n / (n - ddof))
    # The difference of two nearly equal squares is rounding.
    known = variance > _ROUNDING * np.maximum(square, _ROUNDING)
    ratio = (mean[known] * per_period - rate) / np.sqrt(variance[known] * per_period)
    moved = sharpe + drawn.widening * (ratio - sharpe)
    found = _estimate(drawn, sharpe, moved, BY_BLOCKS_AS_DRAWN)
    deviation = float(np.std(drawn.returns[:, curve], ddof=ddof))
    if found.low is None or found.high is None or deviation <= 0.0:
        return found
    half = t_quantile(0.5 + drawn.confidence / 2.0, n - 1.0) * implied / (n * deviation) * math.sqrt(per_period)
    if half > MOST_WIDER * (found.high - found.low) / 2.0:
        return replace(found, low=None, high=None)
    return replace(found, low=min(found.low, sharpe - half), high=max(found.high, sharpe + half))


def drawdown_estimate(drawn: DrawnCurves, curve: int, drawdown: float) -> Estimate:
    """Return the deepest fall of a curve with its interval from resamples; none on fewer than 60 dates."""
    falls = drawn.drawn_drawdown
    moved = np.zeros(0) if falls is None else falls[:, curve]
    return _estimate(drawn, drawdown, moved, BY_BLOCKS_ALONE)


def _growth(drawn: DrawnCurves, growth: float, moved: Floats, implied: float, *, lost: bool = False) -> Estimate:
    n, probability = drawn.dates, 0.5 + drawn.confidence / 2.0
    error = float(moved.std()) * math.sqrt(n / (n - 1))
    by_blocks = t_quantile(probability, max(n / mean_block(n) - 1.0, 1.0)) * error
    half = max(by_blocks, t_quantile(probability, n - 1.0) * implied)
    none = lost or growth <= _LOST or half <= _ROUNDING * max(1.0, abs(growth))
    return Estimate(
        estimate=math.expm1(min(growth, _MOST_GROWTH)),
        low=None if none else math.expm1(growth - half),
        high=None if none else math.expm1(min(growth + half, _MOST_GROWTH)),
        confidence=drawn.confidence,
        n=n,
        clusters=n,
        method=BY_BLOCKS,
        resamples=drawn.resamples,
        cluster_standard_error=error,
        price_standard_error=implied,
    )


def _estimate(drawn: DrawnCurves, found: float, moved: Floats, method: str) -> Estimate:
    low = high = None
    # If nearly all returns are alike, too few resamples have a value.
    if moved.size >= drawn.resamples / 2:
        beyond = (1.0 - drawn.confidence) / 2.0
        ends = np.quantile(moved, [beyond, 1.0 - beyond])
        low, high = min(float(ends[0]), found), max(float(ends[1]), found)
    return Estimate(
        estimate=found,
        low=low,
        high=high,
        confidence=drawn.confidence,
        n=drawn.dates,
        clusters=drawn.dates,
        method=method,
        resamples=drawn.resamples,
        resamples_without_value=drawn.resamples - moved.size,
    )


def _draw_dates(n: int, resamples: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Yield the date of each step of some resamples, (n, some)."""
    chance, at_once = 1.0 / mean_block(n), max(1, _CELLS // n)
    for done in range(0, resamples, at_once):
        some = min(at_once, resamples - done)
        elsewhere = rng.random((n, some)) < chance
        dates = rng.integers(0, n, (n, some))
        for step in range(1, n):
            following = dates[step - 1] + 1
            following[following == n] = 0
            np.copyto(dates[step], following, where=~elsewhere[step])
        yield dates


def _counts(dates: Ints) -> Floats:
    """Return how often each date is in each resample, (resamples, n)."""
    n, some = dates.shape
    cells = dates + n * np.arange(some)
    return np.bincount(cells.ravel(), minlength=n * some).reshape(some, n).astype(np.float64)


def _drawdowns(dates: Ints, logs: Floats) -> Floats:
    """Return the deepest fall of each curve in each resample, (resamples, m), with the value at the start."""
    # Six digits are plenty for draws, and half the memory is half the time.
    gained = logs.astype(np.float32)
    worth = np.zeros((dates.shape[1], logs.shape[1]), dtype=np.float32)
    peak, deepest, moved = worth.copy(), worth.copy(), worth.copy()
    for step in dates:
        np.take(gained, step, axis=0, out=moved, mode="clip")
        np.add(worth, moved, out=worth)
        np.maximum(peak, worth, out=peak)
        np.subtract(peak, worth, out=moved)
        np.maximum(deepest, moved, out=deepest)
    return -np.expm1(-deepest.astype(np.float64))
