"""Weights of the features, fitted to people's labels of pairs of markets."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from predibot.related.features import FeatureWeights
from predibot.scoring.arguments import Floats, Ints

_COARSE, _FINE = 20, 100
"""Parts of one: first on a grid of all weights, then around the best."""
_AROUND = 5


@dataclass(frozen=True, slots=True)
class FittedWeights:
    """Fitted weights, and how well S agrees with the labels."""

    weights: FeatureWeights
    mean_squared_error: float
    pearson: float | None
    """None where S or the labels do not vary."""
    pairs: int
    """Pairs with a label and a feature."""


def fit_weights(features: ArrayLike, labels: ArrayLike) -> FittedWeights:
    """Return the weights, hundredths that add up to 1, by which S has the least mean squared error.

    A missing feature drops out of its pair, as in S; a feature that every pair lacks has weight 0. Ties go to the
    lowest weights in the order of `FEATURES`. Fit the weights on a development set, and judge them on another.

    Args:
        features: In the order of `FEATURES`, (n, 4), each in [0, 1] or NaN.
        labels: How related each pair is, (n,), each in [0, 1]. Raises `ValueError` if no pair is left.

    Examples:
        >>> found = fit_weights([[0, 0, 0, 1], [1, 0, 0, 1], [1, 1, 0, 0]], [0.5, 1.0, 0.5])
        >>> found.weights, found.mean_squared_error
        (FeatureWeights(synchrony=0.5, tags=0.0, nearness=0.0, text=0.5), 0.0)
    """
    values, wanted = np.asarray(features, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    there = ~np.isnan(values)
    usable = there.any(axis=1)
    if not usable.any():
        raise ValueError("no pair has a feature and a label; give one that has")
    values, there, wanted = np.where(there, values, 0.0)[usable], there[usable], wanted[usable]
    never = ~there.any(axis=0)
    grid = _grid(_COARSE, np.zeros(4, dtype=np.int64), _COARSE) * (_FINE // _COARSE)
    best = _best(grid[~grid[:, never].any(axis=1)], values, there, wanted)
    grid = _grid(_FINE, best, _AROUND)
    best = _best(grid[~grid[:, never].any(axis=1)], values, there, wanted)
    scores = _scores(best[np.newaxis], values, there)[0]
    varied = np.ptp(scores) > 0.0 and np.ptp(wanted) > 0.0
    return FittedWeights(
        weights=FeatureWeights(*(best / _FINE).tolist()),
        mean_squared_error=float(np.mean((scores - wanted) ** 2)),
        pearson=float(np.corrcoef(scores, wanted)[0, 1]) if varied else None,
        pairs=wanted.size,
    )


def _grid(parts: int, middle: Ints, reach: int) -> Ints:
    ranges = [range(max(0, each - reach), min(parts, each + reach) + 1) for each in middle[:3].tolist()]
    rows = [(*some, parts - sum(some)) for some in product(*ranges) if parts - sum(some) >= 0]
    return np.array(rows, dtype=np.int64)


def _best(weights: Ints, values: Floats, there: NDArray[np.bool_], labels: Floats) -> Ints:
    errors = np.mean((_scores(weights, values, there) - labels) ** 2, axis=1)
    # Weights under which some pair has no S are not judged.
    best: Ints = weights[int(np.argmin(np.where(np.isnan(errors), np.inf, np.round(errors, 12))))]
    return best


def _scores(weights: Ints, values: Floats, there: NDArray[np.bool_]) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        scores: Floats = (weights @ values.T) / (weights @ there.T)
    return scores
