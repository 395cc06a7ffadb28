"""Overlapping cohorts: the interval of a mean over cohorts that share markets and weeks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, within_floats
from predibot.scoring.inference.student_t import t_quantile

CONFIDENCE = 0.95
LOWEST_RETURN = -1.0
"""Nobody loses more than the stake, so no interval goes lower."""
ENOUGH_TO_RANK = 30.0
"""With fewer effective cohorts nobody is called better than another."""
_ROUNDING = 1e-12
"""Results that differ by less, relative to 1 or to the largest, differ by rounding only."""


@dataclass(frozen=True, slots=True)
class OverlapInterval:
    """The mean return over cohorts in order of their start, with its interval."""

    mean: float
    low: float | None
    """At least -1; None for one cohort, or if all are alike and prices imply nothing."""
    high: float | None
    cohorts: int
    overlap: int
    """L: the most cohorts from one to another that overlaps it, both included; 1 without overlaps."""
    waves: int
    """B: the number of cosine waves for the variance; the degrees of freedom of Student's t."""

    @property
    def effective(self) -> float:
        """Return the effective number of cohorts, n / L."""
        return self.cohorts / self.overlap

    @property
    def may_rank(self) -> bool:
        """Return whether there are enough cohorts to say who is better."""
        return self.effective >= ENOUGH_TO_RANK


def longest_overlap(spans: Sequence[tuple[datetime, datetime]]) -> int:
    """Return the longest overlap in cohorts: j - i + 1 of the two farthest cohorts i < j that overlap, else 1.

    `spans` are starts and ends, one or more in order of starts; cohorts that only touch do not overlap.
    """
    starts = [start for start, _ in spans]
    return max(1 + sum(start < end for start in starts[place + 1 :]) for place, (_, end) in enumerate(spans))


@within_floats
def overlap_interval(returns: ArrayLike, overlap: int, *, implied: float = 0.0) -> OverlapInterval:
    """Return the 95 % interval of a mean return over cohorts that overlap.

    With n cohorts, B = max(1, floor(n / (2 L))) and
    w_j = sqrt(2 / n) * sum over c = 1..n of x_c cos(pi j (c - .5) / n), the standard
    error is se = max(sqrt(mean over j = 1..B of w_j^2 / n), sd / sqrt(n)). The
    interval is m +- t(B) se, or m +- t(n - 1) times the deviation that prices imply if
    that is wider; its lower end is at least -1. Slow waves contain what neighbours
    share; the scatter of single cohorts would count it as new information.

    Args:
        returns: One bot's returns on its stakes, in order of the cohorts' starts, shape (n,), each at least -1.
        overlap: L, from `longest_overlap`; at least 1.
        implied: The standard deviation of the mean that prices imply, zero or more.

    Source:
        Mueller (2004), the cosine-weighted long-run variance with B degrees of freedom. The lower bound by the
        independent error is ours: a few waves may be flat by chance.
    """
    x = np.asarray(returns, dtype=np.float64)
    n, mean = x.size, float(x.mean())
    waves = max(1, n // (2 * overlap))
    is_alike = float(np.ptp(x)) <= _ROUNDING * max(1.0, float(np.abs(x).max()))
    if n < 2 or (is_alike and implied <= _ROUNDING):
        return OverlapInterval(mean, None, None, n, overlap, waves)
    error = max(math.sqrt(float(np.mean(_waves(x, waves) ** 2)) / n), float(x.std(ddof=1)) / math.sqrt(n))
    probability = (1.0 + CONFIDENCE) / 2.0
    reach = max(t_quantile(probability, waves) * error, t_quantile(probability, n - 1) * implied)
    return OverlapInterval(mean, max(LOWEST_RETURN, mean - reach), mean + reach, n, overlap, waves)


def _waves(x: Floats, waves: int) -> Floats:
    n = x.size
    places = (np.arange(1, n + 1) - 0.5) / n
    # Every wave adds up to zero, so the mean does not matter; subtracted first, it costs no digits.
    found: Floats = math.sqrt(2.0 / n) * np.cos(np.pi * np.outer(np.arange(1, waves + 1), places)) @ (x - x.mean())
    return found
