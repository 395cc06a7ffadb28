"""The interval of a Sharpe ratio: how annual figures would have come out, had other events been played."""

import math

import numpy as np

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.bootstrap import MAX_WITHOUT_VALUE, PERCENTILE, Estimate
from predibot.scoring.clusters import cluster_codes
from predibot.scoring.draws import generator, resampled_sums
from predibot.scoring.uncertainty import Uncertainty

_WORK = 200_000_000
"""Multiplications that one interval may cost: where there are many events and dates there are fewer draws."""
_FEWEST_DRAWS = 400


def sharpe_interval(
    values: Floats,
    dates: Ints,
    clusters: Ints,
    *,
    sharpe: float,
    periods_per_year: float,
    ddof: int,
    risk_free_rate: float,
    uncertainty: Uncertainty,
) -> Estimate:
    """Return a Sharpe ratio of one return a date with its percentile interval under resampling of clusters.

    Whole events are drawn with replacement; a date's return is the mean of what
    was drawn of it, a date of which nothing was drawn has none, and the ratio
    is made of the dates that are left.

    Args:
        values: Returns of decisions, (n,).
        dates: The date of each, (n,); a number of its own for each decision
            makes it the ratio of decisions.
        clusters: The event of each, (n,).
        sharpe: The ratio itself.
        periods_per_year: How many dates a year has.
        ddof: What the deviation divides by: dates - ddof.
        risk_free_rate: A year's.
        uncertainty: How intervals are made; there may be fewer draws, as the
            result says.

    Source:
        Efron (1979), with clusters as in Field and Welsh (2007).
    """
    codes = cluster_codes(clusters)
    days, day = np.unique(dates, return_inverse=True)
    k, d = int(codes.max()) + 1, days.size
    cell = codes * d + day
    # Adding in the order of the values makes the order of the rows irrelevant to the last digit.
    order = np.lexsort((values, cell))
    sums = np.bincount(cell[order], values[order], k * d).reshape(k, d)
    counts = np.bincount(cell, minlength=k * d).reshape(k, d).astype(np.float64)
    table: Floats = np.hstack([sums, counts])
    draws = min(uncertainty.resamples, max(_FEWEST_DRAWS, _WORK // table.size))
    (drawn,) = resampled_sums([table], draws, generator(uncertainty.seed))
    ratios = _ratios(drawn[:, :d], drawn[:, d:], periods_per_year, ddof, risk_free_rate)
    known = np.isfinite(ratios)
    low = high = None
    if k > 1 and np.mean(~known) <= MAX_WITHOUT_VALUE:
        half = (1.0 - uncertainty.confidence) / 2.0
        low, high = (float(end) for end in np.quantile(ratios[known], [half, 1.0 - half]))
    without = int(np.count_nonzero(~known))
    return Estimate(sharpe, low, high, uncertainty.confidence, values.size, k, PERCENTILE, draws, without)


def _ratios(sums: Floats, counts: Floats, periods: float, ddof: int, risk_free_rate: float) -> Floats:
    """Return the ratio of each resample, (resamples,), NaN where it has none."""
    spoken = counts > 0.0
    series = np.where(spoken, sums / np.where(spoken, counts, 1.0), 0.0)
    n = spoken.sum(axis=1)
    mean = series.sum(axis=1) / np.maximum(n, 1)
    squares = np.where(spoken, (series - mean[:, np.newaxis]) ** 2, 0.0).sum(axis=1)
    has_value = (n >= 2) & (n > ddof) & (squares > 1e-24)
    deviation = np.sqrt(np.where(has_value, squares, 1.0) / np.where(has_value, n - ddof, 1))
    ratios = (mean * periods - risk_free_rate) / (deviation * math.sqrt(periods))
    return np.where(has_value, ratios, np.nan)
