"""Dependence: how many events moved as one, by their gains on the same days."""

import numpy as np

from predibot.scoring.arguments import Floats, Ints, within_floats
from predibot.scoring.inference.clusters import cluster_codes

NO_MOVE = 1e-9
"""Smaller moves of an event in a day are the rounding of sums and count as none."""


@within_floats
def dependence(contributions: Floats, events: Ints, days: Ints) -> float:
    """Return D, which multiplies the variance of a sum where events moved together.

    D = max(1, sum over days of C^2 / sum over days of Q). C is the sum of all events'
    contributions on a day, Q the sum of their squares. If events move alike on a day,
    C^2 is their number times Q; if they move independently, C^2 is about Q. Numerator and
    denominator are summed before the division, so that quiet days do not dilute the one
    that counts.

    Args:
        contributions: Finite terms of the sum, shape (n,); rows of one event and day are added up first.
        events: The event of each, shape (n,).
        days: The UTC day of each, shape (n,).

    Returns:
        D, 1 or more; 1 where nothing moved, or there are no rows.

    Source:
        A design effect as in Kish (1965), over days instead of within samples.

    Examples:
        Two events that cancel out on the first day, and move as one on the second:

        >>> gained, events, days = np.array([0.1, -0.1, 0.5, 0.5]), np.array([0, 1, 0, 1]), np.array([1, 1, 2, 2])
        >>> round(dependence(gained, events, days), 3)
        1.923
    """
    if not contributions.size:
        return 1.0
    event, day = cluster_codes(events, "events"), cluster_codes(days, "days")
    n = int(day.max()) + 1
    cell, of_row = np.unique(event * n + day, return_inverse=True)
    sums = np.bincount(of_row, contributions, cell.size).astype(np.float64)
    return max(1.0, float(dependence_by_day(sums, cell % n, n)[0][-1]))


def dependence_by_day(gained: Floats, day: Ints, days: int) -> tuple[Floats, Ints]:
    """Return sum of C^2 / sum of Q up to each day, (days,), and the number of days with a move up to it, (days,).

    Not bounded by 1: it is 0 for events that cancelled out, and before the first move. `gained` is the contribution of
    each event on a day, (cells,), and `day` that day, from zero.
    """
    moved = np.abs(gained) > NO_MOVE
    gained, day = gained[moved], day[moved]
    total, squares = np.bincount(day, gained, days), np.bincount(day, gained**2, days)
    above, below = np.cumsum(total**2), np.cumsum(squares)
    ratio = np.divide(above, below, out=np.zeros(days), where=below > 0.0)
    return ratio, np.cumsum(squares > 0.0)
