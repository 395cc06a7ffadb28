"""Calibration: whether what was said to happen at some rate happened at that rate."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, Ints, forecasts_and_outcomes, instance_of
from predibot.scoring.draws import at_most, is_whole

BinScheme = Literal["width", "quantile"]
BINS = 10
MAX_BINS = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationBins:
    """Forecasts in k groups, what they said on average beside what happened; a reliability diagram."""

    lower: Floats
    """Where each bin starts, (k,), itself in it."""
    upper: Floats
    """Where each bin ends, (k,)."""
    count: Ints
    """How many forecasts are in it, (k,)."""
    mean_probability: Floats
    """What they said on average, (k,); NaN of an empty bin."""
    mean_outcome: Floats
    """How often it happened, (k,), in [0, 1]; NaN of an empty bin."""


@dataclass(frozen=True, slots=True)
class MurphyDecomposition:
    """A Brier score in parts: reliability - resolution + uncertainty + within_bin."""

    reliability: float
    """How far bins are from what happened in them; lower is better, zero is calibrated."""
    resolution: float
    """How far what happened in bins is from the overall rate; higher is better, zero tells nothing apart."""
    uncertainty: float
    """What always saying the overall rate earns, at most 0.25; no forecast changes it."""
    within_bin: float
    """What bins hide, of either sign; zero where all forecasts of a bin are the same."""


def calibration_bins(
    probabilities: ArrayLike, outcomes: ArrayLike, *, bins: int = BINS, scheme: BinScheme = "width"
) -> CalibrationBins:
    """Return forecasts in bins, with what they said and what happened on average.

    `width` makes bins of equal width, [lower, upper), one itself in the last;
    a bin may be empty. `quantile` makes bins of about equal count, which start
    at their lowest and end at their highest forecast, both in them. Forecasts
    that are the same are never split: all go where their middle one belongs.
    Where that leaves a bin empty it is left out, so there may be fewer.

    Args:
        probabilities: Forecasts of YES, shape (n,), each in [0, 1].
        outcomes: What happened, shape (n,): 1 for YES, 0 for NO.
        bins: How many, from 1 to 100,000.
        scheme: `width` or `quantile`.

    Raises:
        ValueError: If there is none, the lengths differ, a value is NaN or out
            of range, or there is no such scheme.

    Source:
        Equal counts as in Naeini et al. (2015), AAAI 29, who do split forecasts
        that are the same.

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
    count, said, seen = _means(row, forecasts, happened, lower.size)
    return CalibrationBins(lower, upper, count, said, seen)


def expected_calibration_error(
    probabilities: ArrayLike, outcomes: ArrayLike, *, bins: int = BINS, scheme: BinScheme = "width"
) -> float:
    """Return how far forecasts in bins are from what happened in them, on average.

    sum(count / n * |mean_probability - mean_outcome|), in [0, 1]. Zero is
    calibrated, which always saying the overall rate is too: low is no skill. Few
    forecasts a bin make it higher than it is.

    Args:
        probabilities: Forecasts of YES, shape (n,), each in [0, 1].
        outcomes: What happened, shape (n,): 1 for YES, 0 for NO.
        bins: How many, from 1 to 100,000.
        scheme: `width` or `quantile`, as in `calibration_bins`.

    Raises:
        ValueError: If there is none, the lengths differ, a value is NaN or out
            of range, or there is no such scheme.

    Source:
        Naeini et al. (2015), AAAI 29, on the probability of YES and not on that
        of the side that was called.

    Examples:
        >>> round(expected_calibration_error([0.1, 0.1, 0.8, 0.8], [0, 0, 0, 1]), 4)
        0.2
    """
    found = calibration_bins(probabilities, outcomes, bins=bins, scheme=scheme)
    gaps = np.abs(found.mean_probability - found.mean_outcome)
    return float(np.nansum(found.count * gaps) / found.count.sum())


def murphy_decomposition(probabilities: ArrayLike, outcomes: ArrayLike, *, bins: int = BINS) -> MurphyDecomposition:
    """Return the parts of the Brier score that forecasts in bins of equal width have.

    reliability = mean((p_k - y_k)^2), resolution = mean((y_k - y)^2) and
    uncertainty = y (1 - y), p_k and y_k being the means of a forecast's bin and
    y that of all outcomes. Murphy's three parts add up to Brier only where all
    forecasts of a bin are the same; the fourth is what is left of it.

    Args:
        probabilities: Forecasts of YES, shape (n,), each in [0, 1].
        outcomes: What happened, shape (n,): 1 for YES, 0 for NO.
        bins: How many, from 1 to 100,000.

    Returns:
        Four parts; reliability - resolution + uncertainty + within_bin is Brier.

    Raises:
        ValueError: If there is none, the lengths differ, or a value is NaN or
            out of range.

    Source:
        Murphy (1973), Journal of Applied Meteorology 12(4), 595-600; the rest as
        in Stephenson et al. (2008), Weather and Forecasting 23(4), 752-757, in
        one number instead of two.

    Examples:
        >>> parts = murphy_decomposition([0.2, 0.2, 0.8, 0.8], [0, 0, 0, 1])
        >>> round(parts.reliability, 4), parts.resolution, parts.uncertainty, round(parts.within_bin, 4)
        (0.065, 0.0625, 0.1875, 0.0)
    """
    forecasts, happened = forecasts_and_outcomes(probabilities, outcomes)
    _check_bins(bins)
    row = _rows_by_width(forecasts, bins)
    _, mean_probability, mean_outcome = _means(row, forecasts, happened, bins)
    said, seen, rate = mean_probability[row], mean_outcome[row], float(np.mean(happened))
    inside = forecasts - said
    return MurphyDecomposition(
        reliability=float(np.mean((said - seen) ** 2)),
        resolution=float(np.mean((seen - rate) ** 2)),
        uncertainty=rate * (1.0 - rate),
        within_bin=float(np.mean(inside * (inside - 2.0 * (happened - seen)))),
    )


def _check_bins(bins: int) -> None:
    if not is_whole(bins) or bins < 1:
        raise ValueError(f"bins is {bins!r}; it must be a whole number, 1 or more")
    at_most("bins", bins, MAX_BINS)


def _edges(bins: int) -> Floats:
    # `linspace` multiplies by a rounded step, and so puts .3, .6 and .7 one bin low.
    edges: Floats = np.arange(bins + 1) / bins
    return edges


def _rows_by_width(forecasts: Floats, bins: int) -> Ints:
    """Return the bin of each forecast, (n,)."""
    rows: Ints = np.searchsorted(_edges(bins), forecasts, "right") - 1
    return np.minimum(rows, bins - 1)


def _rows_by_count(forecasts: Floats, bins: int) -> Ints:
    """Return the bin of each forecast, (n,), by the middle rank of those that are the same; none is empty."""
    _, which, ties = np.unique(forecasts, return_inverse=True, return_counts=True)
    twice_the_middle = 2 * np.cumsum(ties) - ties
    rows: Ints = np.unique(twice_the_middle * bins // (2 * forecasts.size), return_inverse=True)[1][which]
    return rows


def _means(row: Ints, forecasts: Floats, happened: Floats, bins: int) -> tuple[Ints, Floats, Floats]:
    """Return how many are in each bin and the means of both, (bins,) each, NaN where there are none."""
    count = np.bincount(row, minlength=bins)
    nonempty = np.where(count > 0, count, np.nan)
    said = np.bincount(row, forecasts, bins) / nonempty
    seen = np.bincount(row, happened, bins) / nonempty
    return count, said, seen
