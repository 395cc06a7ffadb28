"""Measures how often the interval over overlapping cohorts of no skill holds zero, by how far they overlap."""

import numpy as np
import pytest

from tests.scoring.overlapping_cohorts import COHORTS, OVERLAPS, WANTED, WORLDS, covered, t_covered

pytestmark = pytest.mark.benchmark
SIMULATED = 10_000


@pytest.mark.parametrize("world", WORLDS)
def test_coverage_at_forty_cohorts(world: str) -> None:
    print(f"\n{world}, {COHORTS} cohorts, {SIMULATED:,} worlds:\n  L  covered  by a plain t")
    found = {}
    for overlap in OVERLAPS:
        returns = WORLDS[world](np.random.default_rng([13, overlap]), overlap, SIMULATED)
        found[overlap] = covered(returns, overlap)
        print(f" {overlap:2d}     {found[overlap]:.3f}        {t_covered(returns):.3f}")
    assert min(found.values()) >= WANTED
