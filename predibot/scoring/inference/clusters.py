"""Clusters: rows that belong together, such as all forecasts on one event."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, Ints, array_of, indices, not_empty, one_dimensional
from predibot.scoring.inference.student_t import t_quantile

ROUNDING = 1e-12
"""Numbers that differ by less, relative to the largest, differ by rounding only."""

_SPAN_A_ROW = 4
"""Labels in a range of so many numbers a row are looked up in a table of that size."""


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """The sums of each cluster in a ratio sum(numerators) / sum(denominators); the denominators of a mean are counts.

    They do not depend on the order of rows, not even in the last digit.
    """

    numerators: Floats
    """In the order of the labels, shape (clusters,)."""
    denominators: Floats

    @property
    def clusters(self) -> int:
        """Return the number of clusters."""
        return int(self.numerators.size)

    @property
    def ratio(self) -> float:
        """Return the ratio; NaN where the denominators are zero, or so small that no float holds it."""
        total = float(self.denominators.sum())
        ratio = float(self.numerators.sum()) / total if total > 0.0 else math.nan
        return ratio if math.isfinite(ratio) else math.nan

    def t_quantile(self, confidence: float) -> float:
        """Return the quantile of Student's t for an interval, with one degree of freedom less than clusters."""
        return t_quantile((1.0 + confidence) / 2.0, self.clusters - 1)

    @property
    def residuals(self) -> Floats:
        """Return each cluster's sum beyond its share, (clusters,), scaled to about 1 so that no square overflows."""
        beyond = self._beyond()
        return np.ldexp(beyond, -_exponent(beyond))

    @property
    def standard_error(self) -> float:
        """Return the linearised standard error sqrt(K / (K - 1) * sum(beyond^2)) / sum(denominators).

        NaN for fewer than two clusters, clusters all alike, a ratio without a value, or an error too large for a float.
        """
        if self.clusters < 2 or math.isnan(self.ratio):
            return math.nan
        beyond = self._beyond()
        if np.abs(beyond).max() <= ROUNDING * np.abs(self.numerators).max():
            return math.nan
        total, power = math.frexp(float(self.denominators.sum()))
        # Scaling by powers of two is exact.
        residuals = self.residuals / total
        error = float(np.sqrt(self.clusters / (self.clusters - 1) * np.sum(residuals**2)))
        try:
            return math.ldexp(error, _exponent(beyond) - power) or math.nan
        except OverflowError:
            return math.nan

    def _beyond(self) -> Floats:
        return self.numerators - self.ratio * self.denominators


def _exponent(values: Floats) -> int:
    return math.frexp(float(np.abs(values).max()))[1]


def cluster_codes(clusters: ArrayLike, name: str = "clusters") -> Ints:
    """Return the cluster of each row as a number from zero, in the order of the labels, shape (n,).

    Raises `ValueError` if there is none, or the labels are not words or whole numbers.

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
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _codes_of_span(labels: Ints) -> Ints:
    """Return the codes of whole numbers from zero by a table, ten times faster than by sorting."""
    present = np.zeros(int(labels.max()) + 1, dtype=np.int64)
    present[labels] = 1
    return (np.cumsum(present) - 1)[labels]


def cluster_sums(numerators: Floats, denominators: Floats, codes: Ints) -> ClusterSums:
    """Return the sums over the rows of each cluster."""
    return ClusterSums(_sums(numerators, codes), _sums(denominators, codes))


def _sums(values: Floats, codes: Ints) -> Floats:
    # Adding values in their own order makes the result independent of the order of rows.
    order = np.argsort(values) if np.ptp(values) > 0.0 else slice(None)
    return np.bincount(codes[order], values[order]).astype(np.float64)


def difference(a: Floats, b: Floats) -> Floats:
    """Return a - b, (n,), with 0 for differences no larger than the rounding of the largest of both."""
    return without_rounding(a - b, max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0)))


def without_rounding(values: Floats, sizes: Floats | float) -> Floats:
    """Return the values, with 0 for those no larger than the rounding of numbers of these sizes."""
    return np.where(np.abs(values) <= ROUNDING * sizes, 0.0, values)


def cluster_starts(sorted_codes: Ints) -> Ints:
    """Return the start of each cluster in rows sorted by cluster, shape (clusters,)."""
    return np.flatnonzero(np.diff(sorted_codes, prepend=-1)).astype(np.int64)
