"""Overlapping cohorts: the interval of a mean whose parts share markets and weeks with their neighbours."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring.inference.overlap import longest_overlap, overlap_interval
from predibot.scoring.inference.student_t import t_quantile
from tests.scoring.overlapping_cohorts import COHORTS, WANTED, WORLDS, covered, t_covered

SUNDAY = datetime(2026, 3, 1, tzinfo=UTC)
returns_of = st.lists(st.floats(-1.0, 5.0), min_size=2, max_size=60)


def by_loops(x: list[float], overlap: int) -> tuple[float, float, float]:
    """Return mean, low and high, written as the formula is read."""
    n, mean = len(x), math.fsum(x) / len(x)
    b = max(1, math.floor(n / (2 * overlap)))
    w = [
        math.sqrt(2 / n) * math.fsum(x[c - 1] * math.cos(math.pi * j * (c - 0.5) / n) for c in range(1, n + 1))
        for j in range(1, b + 1)
    ]
    sd = math.sqrt(math.fsum((each - mean) ** 2 for each in x) / (n - 1))
    se = max(math.sqrt(math.fsum(each**2 for each in w) / b / n), sd / math.sqrt(n))
    reach = t_quantile(0.975, b) * se
    return mean, max(-1.0, mean - reach), mean + reach


@given(returns_of, st.integers(1, 30))
def test_the_interval_is_the_one_of_the_formula(x: list[float], overlap: int) -> None:
    found = overlap_interval(x, overlap)
    if found.low is None or found.high is None:
        assert np.ptp(x) <= 1e-12 * max(1.0, *map(abs, x))
        return
    assert (found.mean, found.low, found.high) == pytest.approx(by_loops(x, overlap), rel=1e-7, abs=1e-7)
    assert -1.0 <= found.low <= found.mean <= found.high


def test_of_four_cohorts_of_which_two_overlap_two_count() -> None:
    found = overlap_interval([0.1, -0.05, 0.02, 0.04], 2)
    assert (found.waves, found.effective, found.may_rank) == (1, 2.0, False)


def test_a_lower_end_is_cut_at_the_whole_stake() -> None:
    assert overlap_interval([-0.9, 0.5], 1).low == -1.0


@pytest.mark.parametrize("x", [[0.2], [0.1, 0.1, 0.1], [0.0, 0.0], [2e-16, 1e-16, 3e-16]])
def test_one_cohort_or_cohorts_that_are_all_alike_have_no_interval(x: list[float]) -> None:
    found = overlap_interval(x, 1)
    assert (found.mean, found.low, found.high) == (pytest.approx(x[0], abs=1e-12), None, None)


@pytest.mark.parametrize(
    ("cohorts", "overlap", "ranks"), [(30, 1, True), (29, 1, False), (59, 2, False), (60, 2, True)]
)
def test_nobody_is_ranked_below_thirty_effective_cohorts(cohorts: int, overlap: int, ranks: bool) -> None:
    assert overlap_interval(np.linspace(-0.1, 0.1, cohorts), overlap).may_rank is ranks


def test_the_longest_overlap_counts_both_ends() -> None:
    def spans(*weeks: int) -> list[tuple[datetime, datetime]]:
        return [
            (SUNDAY + timedelta(weeks=place), SUNDAY + timedelta(weeks=place + length))
            for place, length in enumerate(weeks)
        ]

    assert longest_overlap(spans(1)) == 1
    assert longest_overlap(spans(1, 1, 1)) == 1
    assert longest_overlap(spans(2, 2, 2)) == 2
    assert longest_overlap(spans(1, 9, 1, 1)) == 3


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("overlap", [2, 8, 30])
def test_intervals_over_cohorts_of_no_skill_hold_zero(world: str, overlap: int) -> None:
    returns = WORLDS[world](np.random.default_rng(13), overlap, 400)
    assert returns.shape == (400, COHORTS)
    # Three standard errors of a share in 400 worlds.
    assert covered(returns, overlap) >= WANTED - 3 * math.sqrt(WANTED * (1 - WANTED) / 400)


def test_an_interval_that_takes_cohorts_for_independent_is_far_too_narrow() -> None:
    returns = WORLDS["shared markets"](np.random.default_rng(13), 8, 400)
    assert t_covered(returns) < 0.8
