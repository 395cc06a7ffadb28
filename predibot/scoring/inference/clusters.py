"""Clusters: rows that belong together, such as all forecasts on one event."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, Ints, array_of, indices, not_empty, one_dimensional

ROUNDING = 1e-12
"""Numbers that differ by less, relative to the largest, differ by rounding only."""

_SPAN_A_ROW = 4
"""How wide a range of labels may be, in rows, to be looked up in a table as wide."""


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """What each cluster adds to a ratio sum(numerators) / sum(denominators); a mean has the counts below.

    The order of the rows leaves no trace, not even in the last digit.
    """

    numerators: Floats
    """Shape (clusters,), in the order of the labels."""
    denominators: Floats
    """Shape (clusters,), each zero or more."""

    @property
    def clusters(self) -> int:
        """Return how many clusters there are."""
        return int(self.numerators.size)

    @property
    def ratio(self) -> float:
        """Return the ratio; NaN where the denominators are all zero."""
        total = float(self.denominators.sum())
        return float(self.numerators.sum()) / total if total > 0.0 else float("nan")

    @property
    def residuals(self) -> Floats:
        """Return what each cluster adds beyond its share, as a part of the whole, shape (clusters,)."""
        beyond: Floats = (self.numerators - self.ratio * self.denominators) / self.denominators.sum()
        return beyond

    @property
    def standard_error(self) -> float:
        """Return the linearised standard error sqrt(K / (K - 1) * sum(residuals^2)).

        NaN where the clusters tell nothing of it: fewer than two of them, all
        alike, or a ratio without a value.
        """
        if self.clusters < 2 or np.isnan(self.ratio):
            return float("nan")
        residuals = self.residuals
        scale = np.abs(self.numerators).max() / self.denominators.sum()
        if np.abs(residuals).max() <= ROUNDING * scale:
            return float("nan")
        # Squares of numbers near the smallest there are vanish.
        return float(np.sqrt(self.clusters / (self.clusters - 1) * np.sum(residuals**2))) or float("nan")


def cluster_codes(clusters: ArrayLike, name: str = "clusters") -> Ints:
    """Return the cluster of each row as a number from zero, in the order of the labels, shape (n,).

    Raises:
        ValueError: If there is none, or the labels are not words or whole numbers.

    Examples:
        >>> cluster_codes(["rain", "snow", "rain"]).tolist()
        [0, 1, 0]
    """
    labels = array_of(name, clusters)
    if labels.dtype.kind not in "iufUS":
        raise ValueError(f"{name} are of type {labels.dtype}; give one word or one whole number a row")
    not_empty(name, labels)
    labels = indices(name, labels) if labels.dtype.kind == "f" else one_dimensional(name, labels)
    if labels.dtype.kind == "i" and int(labels.max()) - int(labels.min()) < _SPAN_A_ROW * labels.size:
        return _codes_of_span(labels.astype(np.int64) - int(labels.min()))
    codes: Ints = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return codes


def _codes_of_span(labels: Ints) -> Ints:
    """Return the codes of whole numbers from zero by looking each up: ten times faster than sorting them."""
    present = np.zeros(int(labels.max()) + 1, dtype=np.int64)
    present[labels] = 1
    codes: Ints = (np.cumsum(present) - 1)[labels]
    return codes


def cluster_sums(numerators: Floats, denominators: Floats, codes: Ints) -> ClusterSums:
    """Return the sums over the rows of each cluster."""
    return ClusterSums(_sums(numerators, codes), _sums(denominators, codes))


def _sums(values: Floats, codes: Ints) -> Floats:
    # Adding in the order of the values makes the order of the rows irrelevant to the last digit.
    order = np.argsort(values) if np.ptp(values) > 0.0 else slice(None)
    return np.bincount(codes[order], values[order]).astype(np.float64)


def cluster_starts(sorted_codes: Ints) -> Ints:
    """Return where each cluster begins among rows sorted by cluster, shape (clusters,)."""
    return np.flatnonzero(np.diff(sorted_codes, prepend=-1)).astype(np.int64)
