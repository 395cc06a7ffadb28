"""Prices as of an instant: the last observation of a market that a query may see."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import as_of_prices

# Few different instants, so that many are equal; eighths and tenths, so that some are not exact.
INSTANTS = st.integers(0, 12).map(lambda step: step / 10) | st.integers(0, 12).map(lambda step: step / 8)
OBSERVATIONS = st.lists(st.tuples(st.integers(-2, 3), INSTANTS, st.floats(0, 1)), max_size=30)
QUERIES = st.lists(st.tuples(st.integers(-2, 4), INSTANTS, INSTANTS), max_size=30)


def by_loops(observations: list[tuple[int, float, float]], market: int, at: float, after: float, gap: float) -> float:
    """Return the answer to one query, read off the definition."""
    seen = [(t, row) for row, (m, t, _) in enumerate(observations) if m == market and after < t <= at and at - t <= gap]
    return observations[max(seen)[1]][2] if seen else math.nan


@given(OBSERVATIONS, QUERIES, st.sampled_from([0.0, 0.25, 0.3, 5.0]))
def test_every_query_is_answered_by_the_definition(
    observations: list[tuple[int, float, float]], queries: list[tuple[int, float, float]], gap: float
) -> None:
    market, seen_at, price = ([row[index] for row in observations] for index in range(3))
    asked, at, after = ([row[index] for row in queries] for index in range(3))
    found = as_of_prices(market, seen_at, price, asked, at, not_before=after, max_gap_seconds=gap)
    expected = [by_loops(observations, m, t, a, gap) for m, t, a in queries]
    np.testing.assert_array_equal(found, expected)


def test_an_observation_at_the_very_instant_counts_and_one_a_hair_later_does_not() -> None:
    at = 1_770_000_000.123456
    later = math.nextafter(at, math.inf)
    assert as_of_prices([0, 0], [at, later], [0.2, 0.9], [0], [at]).tolist() == [0.2]


def test_an_observation_as_old_as_the_gap_counts_and_an_older_one_does_not() -> None:
    found = as_of_prices([0], [0.0], [0.2], [0, 0], [259_200.0, 259_200.5])
    np.testing.assert_array_equal(found, [0.2, math.nan])


def test_market_numbers_may_be_far_apart() -> None:
    found = as_of_prices([-(10**15), 10**15], [0.0, 0.0], [0.1, 0.3], [10**15, 10**15 - 1, -(10**15)], [1.0] * 3)
    np.testing.assert_array_equal(found, [0.3, math.nan, 0.1])


def test_without_observations_nothing_has_a_price() -> None:
    assert np.isnan(as_of_prices([], [], [], [0, 1], [5.0, 6.0])).all()
    assert as_of_prices([0], [1.0], [0.5], [], []).shape == (0,)
