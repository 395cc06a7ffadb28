"""Calibration: whether events forecast at some rate happened at that rate."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import (
    Floats,
    Ints,
    forecasts_and_outcomes,
    instance_of,
    not_empty,
    numbers,
    refuse,
    same_length,
    shares,
    within_floats,
)
from predibot.scoring.inference.bootstrap import MAX_RESAMPLES, at_least, at_most, between_0_and_1, generator, is_whole
from predibot.scoring.inference.clusters import cluster_codes

BinScheme = Literal["width", "quantile"]
BINS = 10
MAX_BINS = 100_000
_TOLD_APART = 500
"""Up to this many different forecasts, each is drawn by itself."""
_CELLS_A_BIN = 20
"""With more, neighbours within a twentieth of a bin are drawn as if all stated their mean."""
_DRAWN_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationBins:
    """Forecasts in k groups, their means beside what happened: a reliability diagram."""

    lower: Floats
    """The start of each bin, (k,), which belongs to it."""
    upper: Floats
    count: Ints
    mean_probability: Floats
    """(k,); NaN for an empty bin."""
    mean_outcome: Floats
    """(k,), in [0, 1]; NaN for an empty bin."""
    effective_count: Floats
    """The number of independent outcomes it counts as, (k,), at most `count`: over the bin's clusters, each with n
    forecasts in it, (sum of n)^2 / sum of n^2."""
    outcome_low: Floats
    """The lower end of the Wilson interval of how often it happens, over the effective count, (k,)."""
    outcome_high: Floats
    """(k,); both NaN for an empty bin."""

    def chance_range(self, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return the lower and upper ends, (k,) each, of the shares that chance allows if every forecast is right.

        The normal approximation over the effective count, cut at 0 and 1; NaN for an empty bin.
        """
        mean = self.mean_probability
        with np.errstate(invalid="ignore", divide="ignore"):
            off = NormalDist().inv_cdf(0.5 + confidence / 2.0) * np.sqrt(mean * (1.0 - mean) / self.effective_count)
        return np.clip(mean - off, 0.0, 1.0), np.clip(mean + off, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class ChanceError:
    """The calibration error that a perfectly calibrated forecaster would have by chance."""

    mean: float
    high: float
    """It is exceeded one time in twenty."""


@dataclass(frozen=True, slots=True)
class MurphyDecomposition:
    """A Brier score in parts: reliability - resolution + uncertainty + within_bin."""

    reliability: float
    """How far bins are from their outcomes; lower is better, zero is calibrated."""
    resolution: float
    """How far outcomes of bins are from the overall rate; higher is better, zero tells nothing apart."""
    uncertainty: float
    """The score of always stating the overall rate, at most 0.25; no forecast changes it."""
    within_bin: float
    """The scatter inside bins, of either sign; zero where all forecasts of a bin are the same."""


def calibration_bins(
    probabilities: ArrayLike,
    outcomes: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    bins: int = BINS,
    scheme: BinScheme = "width",
    confidence: float = 0.95,
) -> CalibrationBins:
    """Return forecasts in bins, with the mean forecast and the mean outcome of each.

    `width` makes bins of equal width, [lower, upper), one itself in the last; a bin may be empty. `quantile` makes bins
    of about equal count, from their lowest to their highest forecast, both included. Equal forecasts are never split:
    all go where their middle one belongs. Bins that this leaves empty are left out, so there may be fewer.

    Args:
        probabilities: Forecasts of YES, shape (n,), each in [0, 1].
        outcomes: What happened, shape (n,): 1 for YES, 0 for NO.
        clusters: Which forecasts belong together by chance, such as those on one event, words or whole numbers, shape
            (n,); by default each stands alone.
        bins: How many, from 1 to 100,000.
        scheme: `width` or `quantile`.
        confidence: The share of the intervals that should hold how often it happens.

    Raises:
        ValueError: If there is none, the lengths differ, a value is NaN or out of range, or there is no such scheme.

    Source:
        Equal counts as in Naeini et al. (2015), AAAI 29, who do split equal forecasts.

    Examples:
        >>> found = calibration_bins([0.1, 0.3, 0.4, 1.0], [0, 0, 1, 1], bins=4)
        >>> found.count
        array([1, 2, 0, 1])
        >>> found.mean_outcome
        array([0. , 0.5, nan, 1. ])
        >>> found = calibration_bins([0.1, 0.3, 0.4, 1.0], [0, 0, 1, 1], bins=2, scheme="quantile")
        >>> found.lower, found.upper
        (array([0.1, 0.4]), array([0.3, 1. ]))
    """
    forecasts, happened = forecasts_and_outcomes(probabilities, outcomes)
    _check_bins(bins)
    instance_of("scheme", scheme, str)
    if scheme == "width":
        row, edges = _rows_by_width(forecasts, bins), _edges(bins)
        lower, upper = edges[:-1], edges[1:]
    elif scheme == "quantile":
        row = _rows_by_count(forecasts, bins)
        lower, upper = np.full(row.max() + 1, np.inf), np.full(row.max() + 1, -np.inf)
        np.minimum.at(lower, row, forecasts)
        np.maximum.at(upper, row, forecasts)
    else:
        raise ValueError(f"no scheme {scheme!r}; there are {', '.join(get_args(BinScheme))}")
    count, mean, share = _means(row, forecasts, happened, lower.size)
    effective = count.astype(np.float64) if clusters is None else _effective(row, clusters, count)
    ends = np.full((2, lower.size), np.nan)
    full = count > 0
    ends[:, full] = wilson_interval(share[full], effective[full], confidence=confidence)
    return CalibrationBins(lower, upper, count, mean, share, effective, *ends)


@within_floats
def wilson_interval(rates: ArrayLike, counts: ArrayLike, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Return the Wilson intervals of chances, from how often they came true: never empty, always within [0, 1].

    Args:
        rates: The share of times it happened, shape (n,), each in [0, 1].
        counts: Of how many times, shape (n,), each above zero, whole or not.
        confidence: The share of such intervals that should hold the chance.

    Returns:
        The lower and the upper ends, shape (n,) each.

    Raises:
        ValueError: If there is none, the lengths differ, or a value is NaN or out of range.

    Source:
        Wilson (1927), JASA 22(158), 209-212.

    Examples:
        >>> low, high = wilson_interval([0.0, 0.5], [10, 10])
        >>> low.round(4).tolist(), high.round(4).tolist()
        ([0.0, 0.2366], [0.2775, 0.7634])
    """
    rate, n = shares("rates", rates), numbers("counts", counts)
    same_length(rates=rate, counts=n)
    not_empty("rates", rate)
    refuse("counts", n, n <= 0.0, "each must be above zero")
    z = NormalDist().inv_cdf((1.0 + between_0_and_1("confidence", confidence)) / 2.0)
    # Divided by n + z^2, not by n, which may be tiny.
    centre = (rate * n + z * z / 2.0) / (n + z * z)
    reach = z * np.sqrt(rate * (1.0 - rate) * n + z * z / 4.0) / (n + z * z)
    return np.clip(centre - reach, 0.0, rate), np.clip(centre + reach, rate, 1.0)


def expected_calibration_error(
    probabilities: ArrayLike, outcomes: ArrayLike, *, bins: int = BINS, scheme: BinScheme = "width"
) -> float:
    """Return how far forecasts in bins are from the outcomes in them, on average.

    sum(count / n * |mean_probability - mean_outcome|), in [0, 1]. Zero is calibrated. Always stating the overall rate
    is calibrated too, so a low value is no skill. Few forecasts a bin raise it by chance.

    Args:
        probabilities: Forecasts of YES, shape (n,), each in [0, 1].
        outcomes: What happened, shape (n,): 1 for YES, 0 for NO.
        bins: How many, from 1 to 100,000.
        scheme: `width` or `quantile`, as in `calibration_bins`.

    Raises:
        ValueError: If there is none, the lengths differ, a value is NaN or out of range, or there is no such scheme.

    Source:
        Naeini et al. (2015), AAAI 29, but for the probability of YES instead of that of the called side.

    Examples:
        >>> round(expected_calibration_error([0.1, 0.1, 0.8, 0.8], [0, 0, 0, 1]), 4)
        0.2
    """
    found = calibration_bins(probabilities, outcomes, bins=bins, scheme=scheme)
    gaps = np.abs(found.mean_probability - found.mean_outcome)
    return float(np.nansum(found.count * gaps) / found.count.sum())


def calibration_error_by_chance(
    probabilities: ArrayLike, *, bins: int = BINS, seed: int, draws: int = 1_000
) -> ChanceError:
    """Return the calibration error that the forecasts would have by chance if all were right.

    Outcomes are drawn from the forecasts independently, and the error of bins of equal width is computed each time.
    With few forecasts a bin even perfectly calibrated ones are far from the outcomes, so read an error beside this one.
    If outcomes depend on each other, it is larger still.

    Args:
        probabilities: Forecasts of YES, shape (n,), each in [0, 1]. Of more than 500 different ones, neighbours in a
            twentieth of a bin are drawn as if all stated their mean.
        bins: How many, from 1 to 100,000.
        seed: Of the draws, zero or more. The order of the forecasts does not matter.
        draws: How many, from 20 to 1,000,000.

    Raises:
        ValueError: If there is no forecast, one is NaN or out of range, or an argument is.

    Source:
        Consistency resampling: Broecker and Smith (2007), Weather and Forecasting 22(3), 651-661.

    Examples:
        >>> chance = calibration_error_by_chance([0.5] * 100, seed=1)
        >>> round(chance.mean, 2), round(chance.high, 2)
        (0.04, 0.09)
    """
    forecasts = np.sort(shares("probabilities", probabilities))
    not_empty("probabilities", forecasts)
    _check_bins(bins)
    at_least("draws", draws, 20)
    at_most("draws", draws, MAX_RESAMPLES)
    rng = generator(seed)
    _, first, count = np.unique(forecasts, return_index=True, return_counts=True)
    if first.size > _TOLD_APART:
        cells = _rows_by_width(forecasts, bins * _CELLS_A_BIN)
        _, first, count = np.unique(cells, return_index=True, return_counts=True)
    expected = np.add.reduceat(forecasts, first)
    chance = np.minimum(expected / count, 1.0)
    starts = np.flatnonzero(np.diff(_rows_by_width(forecasts, bins)[first], prepend=-1))
    errors = []
    block = max(1, _DRAWN_AT_ONCE // first.size)
    for done in range(0, draws, block):
        size = (min(block, draws - done), first.size)
        happened = rng.binomial(count, chance, size) if count.max() > 1 else rng.random(size) < chance
        errors.append(np.abs(np.add.reduceat(happened - expected, starts, axis=1)).sum(axis=1) / forecasts.size)
    every = np.concatenate(errors)
    return ChanceError(float(every.mean()), float(np.quantile(every, 0.95)))


def murphy_decomposition(probabilities: ArrayLike, outcomes: ArrayLike, *, bins: int = BINS) -> MurphyDecomposition:
    """Return the parts of the Brier score of forecasts in bins of equal width.

    reliability = mean((p_k - y_k)^2), resolution = mean((y_k - y)^2) and
    uncertainty = y (1 - y), where p_k and y_k are the means of a forecast's bin
    and y is the mean of all outcomes. Murphy's three parts add up to Brier only
    if all forecasts of a bin are equal; the fourth part is the rest.

    Args:
        probabilities: Forecasts of YES, shape (n,), each in [0, 1].
        outcomes: What happened, shape (n,): 1 for YES, 0 for NO.
        bins: How many, from 1 to 100,000.

    Returns:
        Four parts; reliability - resolution + uncertainty + within_bin is Brier.

    Raises:
        ValueError: If there is none, the lengths differ, or a value is NaN or out of range.

    Source:
        Murphy (1973), Journal of Applied Meteorology 12(4), 595-600; the rest as in Stephenson et al. (2008), Weather
        and Forecasting 23(4), 752-757, in one number instead of two.

    Examples:
        >>> parts = murphy_decomposition([0.2, 0.2, 0.8, 0.8], [0, 0, 0, 1])
        >>> round(parts.reliability, 4), parts.resolution, parts.uncertainty, round(parts.within_bin, 4)
        (0.065, 0.0625, 0.1875, 0.0)
    """
    forecasts, happened = forecasts_and_outcomes(probabilities, outcomes)
    _check_bins(bins)
    row = _rows_by_width(forecasts, bins)
    _, mean_probability, mean_outcome = _means(row, forecasts, happened, bins)
    mean, share, rate = mean_probability[row], mean_outcome[row], float(np.mean(happened))
    inside = forecasts - mean
    return MurphyDecomposition(
        reliability=float(np.mean((mean - share) ** 2)),
        resolution=float(np.mean((share - rate) ** 2)),
        uncertainty=rate * (1.0 - rate),
        within_bin=float(np.mean(inside * (inside - 2.0 * (happened - share)))),
    )


def _check_bins(bins: int) -> None:
    if not is_whole(bins) or bins < 1:
        raise ValueError(f"bins is {bins!r}; it must be a whole number, 1 or more")
    at_most("bins", bins, MAX_BINS)


def _edges(bins: int) -> Floats:
    # `linspace` multiplies by a rounded step, and so puts .3, .6 and .7 one bin low.
    return np.arange(bins + 1) / bins


def _rows_by_width(forecasts: Floats, bins: int) -> Ints:
    rows: Ints = np.searchsorted(_edges(bins), forecasts, "right") - 1
    return np.minimum(rows, bins - 1)


def _rows_by_count(forecasts: Floats, bins: int) -> Ints:
    """Return the bin of each forecast, (n,), by the middle rank of equal forecasts; none is empty."""
    _, which, ties = np.unique(forecasts, return_inverse=True, return_counts=True)
    twice_the_middle = 2 * np.cumsum(ties) - ties
    rows: Ints = np.unique(twice_the_middle * bins // (2 * forecasts.size), return_inverse=True)[1][which]
    return rows


def _effective(row: Ints, clusters: ArrayLike, count: Ints) -> Floats:
    """Return how many independent outcomes each bin counts as, (bins,), 0 for an empty one."""
    codes = cluster_codes(clusters)
    same_length(probabilities=row, clusters=codes)
    cells, n = np.unique(row * (int(codes.max()) + 1) + codes, return_counts=True)
    squares = np.bincount(cells // (int(codes.max()) + 1), 1.0 * n * n, count.size)
    return np.where(count > 0, 1.0 * count * count / np.where(count > 0, squares, 1.0), 0.0)


def _means(row: Ints, forecasts: Floats, happened: Floats, bins: int) -> tuple[Ints, Floats, Floats]:
    """Return the count of each bin and the means of both, (bins,) each, NaN where it is empty."""
    count = np.bincount(row, minlength=bins)
    nonempty = np.where(count > 0, count, np.nan)
    mean = np.bincount(row, forecasts, bins) / nonempty
    return count, mean, np.bincount(row, happened, bins) / nonempty
