"""Pooling: one probability from many of the same thing."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from predibot.domain.terms import PoolingMethod as PoolingMethod
from predibot.scoring.arguments import Floats, Ints, floats, not_empty, refuse, scalar
from predibot.scoring.metrics.probability import log_odds_of, probabilities_of

TRIMMED_SHARE = 0.2
"""The part that `trimmed_mean` leaves out at each end, rounded down to whole forecasts."""
_Method = Callable[[Floats, Ints], Floats]
"""From forecasts in rising order, (q, f), of which the first n of each row are not NaN, to one a row, (q,)."""
_ROUNDING = 1e-12
"""Distances that differ by less differ by rounding only."""


def pool_probabilities(matrix: ArrayLike, *, method: PoolingMethod = "mean", extremize: float = 1.0) -> Floats:
    """Return one probability a question from those of many forecasters.

    `mean` and `median` are those of each row. `trimmed_mean` leaves out a fifth
    at each end, rounded down. `soft_trimmed_mean` gives each forecast weight 1,
    halves the weight of those furthest from the median, adds 0.5 / (n - 1) to
    each of the others, and divides by the sum; for one or two it is the mean.
    `log_odds` is the mean of ln(p / (1 - p)), turned back into a probability;
    there a one and a zero cancel each other, and the more frequent of them
    decides. With every method, the result lies between the lowest and the highest
    forecast before it is extremized.

    Args:
        matrix: Forecasts of YES, shape (questions, forecasters), each in [0, 1], NaN where a forecaster was silent.
        method: One of the five.
        extremize: The factor on the log-odds of the result, above 0. A factor above 1 moves it away from one half,
            because each forecaster knows only part of what all know together. Zero and one stay.

    Returns:
        Probabilities of YES, shape (questions,), NaN where all were silent.

    Raises:
        ValueError: If there is no question or no forecaster, a value is out of range, or there is no such method.

    Source:
        Halawi et al. (2024), arXiv:2402.18563, for `soft_trimmed_mean`; Satopää et al. (2014), International Journal of
        Forecasting 30(2), 344-356, for `log_odds`; Baron et al. (2014), Decision Analysis 11(2), 133-145, for
        extremizing.

    Examples:
        >>> nan = float("nan")
        >>> pool_probabilities([[0.1, 0.4, 0.9], [0.2, nan, 0.8], [nan, nan, nan]], method="median")
        array([0.4, 0.5, nan])
        >>> pool_probabilities([[0.6, 0.8]], method="log_odds", extremize=2.0).round(4)
        array([0.8571])
    """
    forecasts = _check_matrix(matrix)
    if isinstance(extremize, bool) or not 0.0 < scalar("extremize", extremize) < np.inf:
        raise ValueError(f"extremize is {extremize!r}; it must be a finite number above zero")
    if not isinstance(method, str) or method not in _POOLED:
        raise ValueError(f"no method {method!r}; there are {', '.join(_POOLED)}")
    # NaN is sorted to the end, so the first n of a row are forecasts.
    ordered = np.sort(forecasts, axis=1)
    n = np.sum(~np.isnan(ordered), axis=1)
    heard = n > 0
    pooled = np.full(n.shape, np.nan)
    ordered, n = ordered[heard], n[heard]
    # The mean of three times 0.1 is above 0.1 by the last bit.
    among = np.clip(_POOLED[method](ordered, n), ordered[:, 0], _highest(ordered, n))
    if extremize != 1.0:
        # Infinite log-odds, also those made by a large factor, turn back into 0 and 1.
        with np.errstate(over="ignore"):
            among = probabilities_of(float(extremize) * log_odds_of(among))
    pooled[heard] = among
    return pooled


def _check_matrix(matrix: ArrayLike) -> Floats:
    forecasts = floats("matrix", matrix)
    if forecasts.ndim != 2:
        raise ValueError(f"matrix has shape {forecasts.shape}; give two dimensions, (questions, forecasters)")
    not_empty("matrix", forecasts)
    refuse("matrix", forecasts, (forecasts < 0.0) | (forecasts > 1.0), "each must be in [0, 1], or NaN where silent")
    return forecasts


def _mean(ordered: Floats, n: Ints) -> Floats:
    return _weighted_mean(ordered, ~np.isnan(ordered))


def _median(ordered: Floats, n: Ints) -> Floats:
    row = np.arange(n.size)
    return (ordered[row, (n - 1) // 2] + ordered[row, n // 2]) / 2.0


def _trimmed_mean(ordered: Floats, n: Ints) -> Floats:
    place, cut = np.arange(ordered.shape[1]), (TRIMMED_SHARE * n).astype(np.int64)
    return _weighted_mean(ordered, (place >= cut[:, np.newaxis]) & (place < (n - cut)[:, np.newaxis]))


def _soft_trimmed_mean(ordered: Floats, n: Ints) -> Floats:
    median = _median(ordered, n)
    furthest = np.maximum(median - ordered[:, 0], _highest(ordered, n) - median)
    halved = np.abs(ordered - median[:, np.newaxis]) >= (furthest - _ROUNDING)[:, np.newaxis]
    weights = np.where(halved, 0.5, 1.0 + 0.5 / np.maximum(n - 1, 1)[:, np.newaxis])
    return _weighted_mean(ordered, np.where(np.isnan(ordered), 0.0, weights))


def _log_odds_mean(ordered: Floats, n: Ints) -> Floats:
    ones, zeros = np.sum(ordered == 1.0, axis=1), np.sum(ordered == 0.0, axis=1)
    # One half adds no log-odds.
    unsure = np.where((ordered > 0.0) & (ordered < 1.0), ordered, 0.5)
    middle = probabilities_of(np.sum(log_odds_of(unsure), axis=1) / n)
    return np.where(ones == zeros, middle, ones > zeros)


def _weighted_mean(ordered: Floats, weights: Floats | NDArray[np.bool_]) -> Floats:
    """Return the mean of each row; values without weight may be NaN."""
    weighted = np.where(weights > 0, ordered, 0.0) * weights
    mean: Floats = np.sum(weighted, axis=1) / np.sum(weights, axis=1)
    return mean


def _highest(ordered: Floats, n: Ints) -> Floats:
    return ordered[np.arange(n.size), n - 1]


_POOLED: Mapping[str, _Method] = MappingProxyType(
    {
        "mean": _mean,
        "median": _median,
        "trimmed_mean": _trimmed_mean,
        "soft_trimmed_mean": _soft_trimmed_mean,
        "log_odds": _log_odds_mean,
    }
)
