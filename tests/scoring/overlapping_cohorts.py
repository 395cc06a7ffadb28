"""Overlapping cohorts of no skill: every cohort's expected return is zero, and neighbours share their luck."""

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.inference.overlap import overlap_interval

Floats = NDArray[np.float64]
OVERLAPS = (2, 3, 5, 8, 12, 20, 30)
COHORTS = 40
WANTED = 0.93
_BETS_A_WEEK = 4


def weekly_luck(rng: np.random.Generator, overlap: int, worlds: int, cohorts: int = COHORTS) -> Floats:
    """Return returns, (worlds, cohorts): each the luck of the weeks a cohort lives, which its neighbours live too."""
    weeks = rng.normal(0.0, 0.03, (worlds, cohorts + overlap - 1))
    own = rng.normal(0.0, 0.02, (worlds, cohorts))
    shared = np.lib.stride_tricks.sliding_window_view(weeks, overlap, axis=1).sum(axis=2)
    return np.maximum(shared / np.sqrt(overlap) + own, -1.0)


def shared_markets(rng: np.random.Generator, overlap: int, worlds: int, cohorts: int = COHORTS) -> Floats:
    """Return returns, (worlds, cohorts), of fair bets on markets that settle while a cohort lives.

    A bot takes the same side of a market in every cohort that sees it: the
    worst case, where neighbours differ by no more than one week of markets.
    """
    weeks = cohorts + overlap - 1
    price = rng.uniform(0.1, 0.9, (worlds, weeks, _BETS_A_WEEK))
    gain = np.where(rng.random(price.shape) < price, 1.0 / price - 1.0, -1.0).sum(axis=2)
    shared = np.lib.stride_tricks.sliding_window_view(gain, overlap, axis=1).sum(axis=2)
    return shared / (_BETS_A_WEEK * overlap)


WORLDS = {"weekly luck": weekly_luck, "shared markets": shared_markets}


def covered(returns: Floats, overlap: int) -> float:
    """Return the share of worlds, (worlds, cohorts), whose interval holds zero."""
    found = [overlap_interval(row, overlap) for row in returns]
    return float(
        np.mean([each.low is not None and each.high is not None and each.low <= 0 <= each.high for each in found])
    )


def t_covered(returns: Floats) -> float:
    """Return the same of the plain t interval, which takes cohorts for independent."""
    found = [overlap_interval(row, 1) for row in returns]
    n = returns.shape[1]
    reach = [2.0227 * row.std(ddof=1) / np.sqrt(n) for row in returns]
    return float(np.mean([abs(each.mean) <= width for each, width in zip(found, reach, strict=True)]))
