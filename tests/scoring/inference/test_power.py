"""Power: how many events it takes to see a difference, and how large a one so many events would show."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from predibot.scoring import events_needed, smallest_detectable

ERRORS = st.floats(1e-6, 1e3)
CLUSTERS = st.integers(2, 5_000)


@given(ERRORS, CLUSTERS)
def test_the_smallest_detectable_is_its_formula(error: float, clusters: int) -> None:
    expected = (stats.t.ppf(0.975, clusters - 1) + 0.842) * error
    assert smallest_detectable(error, clusters) == pytest.approx(expected, rel=1e-9)


@given(st.floats(-10, 10), ERRORS, CLUSTERS)
def test_what_is_detectable_already_needs_none_and_anything_smaller_some(
    mean: float, error: float, clusters: int
) -> None:
    found, detectable = events_needed(mean, error, clusters), smallest_detectable(error, clusters)
    assert found is not None
    assert detectable is not None
    assert (found.events == 0) == (abs(mean) >= detectable) or abs(mean) == pytest.approx(detectable)
    assert found.more_than == (abs(mean) <= error)


@given(st.floats(0.001, 1.0), ERRORS, CLUSTERS)
def test_with_so_many_events_more_the_mean_would_be_detectable(mean: float, error: float, clusters: int) -> None:
    found = events_needed(mean, error, clusters)
    assert found is not None
    if found.events and not found.more_than:
        then = smallest_detectable(error * math.sqrt(clusters / (clusters + found.events)), clusters + found.events)
        assert then is not None
        assert then <= mean * (1 + 1e-9)


@pytest.mark.parametrize(("error", "clusters"), [(0.1, 1), (0.1, 0), (0.0, 30), (math.nan, 30)])
def test_what_tells_nothing_of_its_spread_has_neither(error: float, clusters: int) -> None:
    assert smallest_detectable(error, clusters) is None
    assert events_needed(0.1, error, clusters) is None
