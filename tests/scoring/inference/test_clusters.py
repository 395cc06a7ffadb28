"""Clusters: rows that belong together, such as all forecasts on one event."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from predibot.scoring.inference.clusters import cluster_codes, cluster_starts, cluster_sums

ROWS = st.lists(
    st.tuples(st.floats(-10, 10), st.floats(0, 10), st.integers(0, 5)),
    min_size=1,
    max_size=30,
)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_leaves_no_trace_in_the_sums(rows: list[tuple[float, float, int]], random: object) -> None:
    shuffled = sorted(rows, key=lambda _: random.random())  # type: ignore[attr-defined]  # hypothesis' Random
    one, other = (
        cluster_sums(np.array(above), np.array(below), cluster_codes(of))
        for above, below, of in (zip(*rows, strict=True), zip(*shuffled, strict=True))
    )
    assert one.numerators.tobytes() == other.numerators.tobytes()
    assert one.denominators.tobytes() == other.denominators.tobytes()


@given(st.lists(st.sampled_from(["a", "b", "long", "Z", ""]), min_size=1))
def test_codes_number_the_sorted_labels_without_a_gap(labels: list[str]) -> None:
    kinds = sorted(set(labels))
    assert cluster_codes(labels).tolist() == [kinds.index(label) for label in labels]


def test_a_ratio_and_its_standard_error_by_hand() -> None:
    sums = cluster_sums(np.array([1.0, 1.0, 6.0]), np.array([1.0, 1.0, 2.0]), np.array([0, 0, 1]))
    # Clusters 2/2 and 6/2: ratio 8/4 = 2, beyond it 2 - 4 = -2 and 6 - 4 = 2, of 4 each: -1/2 and 1/2.
    assert sums.ratio == 2.0
    # sqrt(2 / (2 - 1) * (1/4 + 1/4)) = 1
    assert sums.standard_error == 1.0


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ([1.0], [1.0]),
        ([0.1, 0.3, 0.2], [0.1, 0.3, 0.2]),
        ([0.7] * 3, [1.0] * 3),
        ([1.0, 0.0], [0.0, 0.0]),
        ([1.0, 0.0], [1e-310, 1e-310]),
        ([1.0, -1.0], [1e-310, 1e-310]),
    ],
    ids=["one cluster", "all the same ratio", "all the same", "nothing below", "ratio too large", "error too large"],
)
def test_clusters_that_tell_nothing_have_no_standard_error(above: list[float], below: list[float]) -> None:
    sums = cluster_sums(np.array(above), np.array(below), np.arange(len(above)))
    assert math.isnan(sums.standard_error)


@pytest.mark.parametrize("power", [-1000, -600, 600, 1000])
def test_a_standard_error_is_as_exact_where_its_squares_would_vanish_or_overflow(power: int) -> None:
    above, below, codes = np.array([0.5, 0.25, 0.125]), np.array([1.0, 0.5, 0.75]), np.arange(3)
    plain = cluster_sums(above, below, codes).standard_error
    assert cluster_sums(np.ldexp(above, power), below, codes).standard_error == math.ldexp(plain, power)
    assert cluster_sums(above, np.ldexp(below, power), codes).standard_error == math.ldexp(plain, -power)


def test_a_ratio_over_nothing_has_no_value() -> None:
    assert math.isnan(cluster_sums(np.ones(2), np.zeros(2), np.arange(2)).ratio)


def test_clusters_begin_where_their_code_first_appears() -> None:
    assert cluster_starts(np.array([0, 0, 1, 2, 2])).tolist() == [0, 2, 3]


def test_whole_numbers_words_and_fractionless_floats_are_labels() -> None:
    for labels in ([7, -1, 7], ["b", "a", "b"], [7.0, -1.0, 7.0]):
        assert cluster_codes(labels).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("labels", "seen"),
    [
        ([], "clusters is empty"),
        ([1.5], "clusters.* is 1.5; each must be a whole number"),
        ([float("nan")], "clusters.* is nan"),
        ([[1, 2]], r"clusters has shape \(1, 2\)"),
        (np.array(["a", None], dtype=object), "clusters are of type object; give one word or one whole number a row"),
    ],
)
def test_labels_that_name_no_cluster_are_refused(labels: ArrayLike, seen: str) -> None:
    with pytest.raises(ValueError, match=seen):
        cluster_codes(labels)
