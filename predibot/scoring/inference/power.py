"""Power: how many events it takes to see a difference, and how large a difference so many events show."""

import math
from dataclasses import dataclass

from predibot.scoring.arguments import MOST_EXACT, scalar
from predibot.scoring.inference.bootstrap import at_least, at_most
from predibot.scoring.inference.student_t import t_quantile

_CERTAINTY = 0.975
"""Two-sided at 5 %."""
_POWER = 0.842
"""The normal quantile of .8: seen four times in five."""
_LARGEST = 1e300
"""A larger standard error could overflow."""


@dataclass(frozen=True, slots=True)
class RequiredEvents:
    """The number of further events it would take to see a difference."""

    events: int
    """Beyond the present ones, 0 or more."""
    more_than: bool
    """Whether even the sign is open: then it takes more than these, and nobody knows how many."""


def smallest_detectable(standard_error: float, clusters: int) -> float | None:
    """Return the smallest true mean, or difference, that such data would find four times in five.

    (t(.975, K - 1) + .842) standard errors. If a smaller one was not found, that
    is no sign of equality. It says what so much data can find, not what it
    found: the observed mean does not enter.

    Args:
        standard_error: Of the mean over clusters, zero or more; NaN for none.
        clusters: K, how many there are.

    Returns:
        In the unit of the standard error; None with fewer than two clusters, or without a standard error above zero.

    Raises:
        ValueError: If an argument is out of range.

    Source:
        Bloom (1995), "Minimum detectable effects", Evaluation Review 19(5).

    Examples:
        >>> round(smallest_detectable(0.01, 30), 6)
        0.028872
    """
    reach, error = _reach(clusters), _standard_error(standard_error)
    return None if reach is None or not error > 0.0 else reach * error


def events_needed(mean: float, standard_error: float, clusters: int) -> RequiredEvents | None:
    """Return how many more events it would take to tell such a mean, or difference, from zero four times in five.

    K (((t(.975, K - 1) + .842) s / |m|)^2 - 1), rounded up and not below zero, if
    the mean stays m and each new event is like those so far. If m lies within one
    standard error of zero, that would be a guess; the result is then "more than"
    the number for |m| = s.

    Args:
        mean: m, the mean or the difference of two.
        standard_error: s, of it over clusters, zero or more; NaN for none.
        clusters: K, how many there are.

    Returns:
        None with fewer than two clusters, or without a standard error above zero.

    Raises:
        ValueError: If an argument is out of range.

    Examples:
        >>> events_needed(0.02, 0.01, 30), events_needed(0.002, 0.01, 30)
        (RequiredEvents(events=33, more_than=False), RequiredEvents(events=221, more_than=True))
    """
    size = abs(scalar("mean", mean))
    if not math.isfinite(size):
        raise ValueError(f"mean is {mean!r}; it must be a finite number")
    reach, error = _reach(clusters), _standard_error(standard_error)
    if reach is None or not error > 0.0:
        return None
    ratio = reach * (error / max(size, error))
    return RequiredEvents(max(0, math.ceil(clusters * (ratio**2 - 1.0))), size <= error)


def _reach(clusters: int) -> float | None:
    """Return how many standard errors are detectable, None for fewer than two clusters."""
    at_least("clusters", clusters, 0)
    at_most("clusters", clusters, MOST_EXACT)
    return t_quantile(_CERTAINTY, int(clusters) - 1) + _POWER if clusters >= 2 else None


def _standard_error(standard_error: float) -> float:
    error = scalar("standard_error", standard_error)
    if error < 0.0 or error > _LARGEST:
        raise ValueError(f"standard_error is {standard_error!r}; it must be NaN or in [0, {_LARGEST:g}]")
    return error
