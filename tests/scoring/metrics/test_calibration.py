"""Calibration: whether what was said to happen at some rate happened at that rate."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.calibration import calibration_curve

from predibot.scoring.metrics.calibration import (
    BinScheme,
    calibration_bins,
    calibration_error_by_chance,
    expected_calibration_error,
    murphy_decomposition,
    wilson_interval,
)
from predibot.scoring.metrics.probability import brier_score

# Rounded ones are often the same, and often on an edge.
CHANCES = st.floats(0, 1) | st.integers(0, 20).map(lambda twentieths: twentieths / 20)
PAIRS = st.lists(st.tuples(CHANCES, st.sampled_from([0, 1])), min_size=1, max_size=30)
SCHEMES = st.sampled_from(["width", "quantile"])
BIN_COUNTS = st.integers(1, 12)
Pairs = list[tuple[float, int]]


def columns(pairs: Pairs) -> tuple[list[float], list[int]]:
    return [p for p, _ in pairs], [y for _, y in pairs]


def error_by_loops(pairs: Pairs, bins: int) -> float:
    groups: dict[int, Pairs] = {}
    for p, y in pairs:
        groups.setdefault(max(k for k in range(bins) if k / bins <= p), []).append((p, y))
    return sum(abs(sum(p - y for p, y in group)) for group in groups.values()) / len(pairs)


@given(PAIRS, BIN_COUNTS, SCHEMES)
def test_every_forecast_is_in_one_bin_and_within_its_bounds(pairs: Pairs, bins: int, scheme: BinScheme) -> None:
    found = calibration_bins(*columns(pairs), bins=bins, scheme=scheme)
    full = found.count > 0
    assert found.count.sum() == len(pairs)
    assert (found.lower[full] - 1e-12 <= found.mean_probability[full]).all()
    assert (found.mean_probability[full] <= found.upper[full] + 1e-12).all()
    assert np.average(found.mean_outcome[full], weights=found.count[full]) == pytest.approx(np.mean(columns(pairs)[1]))


@pytest.mark.parametrize("bins", [1, 3, 7, 10, 100])
def test_a_forecast_on_an_edge_is_in_the_bin_that_starts_there(bins: int) -> None:
    edges = np.arange(bins) / bins
    found = calibration_bins(edges, np.zeros(bins), bins=bins)
    assert found.count.tolist() == [1] * bins
    assert found.lower.tolist() == edges.tolist()


def test_certainty_is_in_the_last_bin_and_an_empty_bin_has_no_mean() -> None:
    found = calibration_bins([1.0, 0.95], [1, 0])
    assert found.count.tolist() == [0] * 9 + [2]
    assert found.upper[-1] == 1.0
    assert np.isnan(found.mean_probability[:9]).all()
    assert np.isnan(found.mean_outcome[:9]).all()
    assert found.mean_outcome[9] == 0.5


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40, unique=True), BIN_COUNTS)
def test_quantile_bins_of_different_forecasts_are_of_equal_count(chances: list[float], bins: int) -> None:
    found = calibration_bins(chances, [0] * len(chances), bins=bins, scheme="quantile")
    assert found.count.size == min(bins, len(chances))
    assert found.count.max() - found.count.min() <= 1


@given(PAIRS, BIN_COUNTS)
def test_quantile_bins_never_split_forecasts_that_are_the_same(pairs: Pairs, bins: int) -> None:
    found = calibration_bins(*columns(pairs), bins=bins, scheme="quantile")
    assert found.count.min() > 0
    assert (found.lower[1:] > found.upper[:-1]).all()
    counted = Counter(columns(pairs)[0])
    for lower, upper, count in zip(found.lower, found.upper, found.count, strict=True):
        assert count == sum(times for chance, times in counted.items() if lower <= chance <= upper)


@pytest.mark.parametrize("bins", [2, 5, 10])
def test_bins_agree_with_scikit_learn(bins: int) -> None:
    rng = np.random.default_rng(5)
    p = rng.random(400)
    y = (rng.random(400) < p).astype(int)
    for scheme, theirs in (("width", "uniform"), ("quantile", "quantile")):
        happened, said = calibration_curve(y, p, n_bins=bins, strategy=theirs)
        found = calibration_bins(p, y, bins=bins, scheme=scheme)  # type: ignore[arg-type]  # both are schemes
        assert found.mean_outcome == pytest.approx(happened)
        assert found.mean_probability == pytest.approx(said)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=1, max_size=20), st.floats(0.5, 0.99))
def test_wilson_intervals_agree_with_scipy(tries: list[tuple[int, int]], confidence: float) -> None:
    seen = [(min(k, n), n) for k, n in tries]
    low, high = wilson_interval([k / n for k, n in seen], [n for _, n in seen], confidence=confidence)
    for (k, n), *ends in zip(seen, low, high, strict=True):
        theirs = stats.binomtest(k, n).proportion_ci(confidence, method="wilson")
        assert ends == pytest.approx([theirs.low, theirs.high], abs=1e-12)
        assert 0.0 <= ends[0] <= k / n <= ends[1] <= 1.0


def test_forecasts_on_one_event_count_as_one_answer_by_hand() -> None:
    # In the lower bin three of event 1 and one of event 2: (3 + 1)^2 / (9 + 1) = 1.6; in the upper, one of each: 2.
    found = calibration_bins([0.1] * 4 + [0.9] * 2, [0, 0, 0, 1, 1, 1], clusters=[1, 1, 1, 2, 1, 2], bins=3)
    assert found.effective_count.tolist() == [1.6, 0.0, 2.0]
    low, high = wilson_interval([0.25, 1.0], [1.6, 2.0])
    assert found.outcome_low[[0, 2]].tolist() == low.tolist()
    assert found.outcome_high[[0, 2]].tolist() == high.tolist()
    assert np.isnan([found.outcome_low[1], found.outcome_high[1]]).all()


def test_what_chance_does_to_a_perfect_forecaster_by_hand() -> None:
    # Of 100 forecasts of one half, 1.96 sqrt(.25 / 100) either side; what must happen happens; none, none.
    low, high = calibration_bins([0.5] * 100 + [1.0] * 4, [1, 0] * 52, bins=3).chance_range()
    assert low[1:].tolist() == pytest.approx([0.5 - 0.098, 1.0], abs=1e-4)
    assert high[1:].tolist() == pytest.approx([0.5 + 0.098, 1.0], abs=1e-4)
    assert np.isnan([low[0], high[0]]).all()


@given(PAIRS, SCHEMES)
def test_alone_each_forecast_is_an_answer_and_all_on_one_event_are_one(pairs: Pairs, scheme: BinScheme) -> None:
    alone = calibration_bins(*columns(pairs), scheme=scheme)
    assert alone.effective_count.tolist() == alone.count.tolist()
    together = calibration_bins(*columns(pairs), scheme=scheme, clusters=[7] * len(pairs))
    assert together.effective_count.tolist() == (alone.count > 0).tolist()


def test_the_error_by_chance_by_hand() -> None:
    # Two forecasts of .5: both come out alike half the time, an error of .5, else it is 0.
    found = calibration_error_by_chance([0.5, 0.5], seed=1, draws=10_000)
    assert (found.mean, found.high) == (pytest.approx(0.25, abs=0.015), 0.5)
    # Who only says 0 and 1, and is right, errs by nothing.
    found = calibration_error_by_chance([0.0, 1.0, 1.0], seed=1)
    assert (found.mean, found.high) == (0.0, 0.0)


@pytest.mark.parametrize("n", [61, 5_000])
def test_the_error_by_chance_is_that_of_outcomes_drawn_from_the_forecasts(n: int) -> None:
    rng = np.random.default_rng(n)
    p = rng.beta(0.5, 1.5, n)
    errors = [expected_calibration_error(p, (rng.random(n) < p).astype(int)) for _ in range(600)]
    found = calibration_error_by_chance(p, seed=3)
    assert found.mean == pytest.approx(np.mean(errors), rel=0.05)
    assert found.high == pytest.approx(np.quantile(errors, 0.95), rel=0.08)


def test_the_error_by_chance_depends_on_the_seed_and_not_on_the_order() -> None:
    p = np.random.default_rng(2).random(80)
    found = calibration_error_by_chance(p, seed=1)
    assert calibration_error_by_chance(p[::-1], seed=1) == found
    assert calibration_error_by_chance(p, seed=2) != found


@given(PAIRS, BIN_COUNTS)
def test_the_calibration_error_agrees_with_one_of_loops(pairs: Pairs, bins: int) -> None:
    assert expected_calibration_error(*columns(pairs), bins=bins) == pytest.approx(error_by_loops(pairs, bins))


@given(PAIRS, BIN_COUNTS)
def test_murphys_parts_and_the_rest_add_up_to_brier(pairs: Pairs, bins: int) -> None:
    parts = murphy_decomposition(*columns(pairs), bins=bins)
    total = parts.reliability - parts.resolution + parts.uncertainty + parts.within_bin
    assert total == pytest.approx(brier_score(*columns(pairs)), abs=1e-12)
    assert parts.reliability >= 0.0
    assert 0.0 <= parts.resolution <= parts.uncertainty + 1e-12
    assert parts.uncertainty <= 0.25


def test_murphys_parts_by_hand() -> None:
    # Two bins; the low one says (0.1 + 0.3) / 2 = 0.2 and sees 1/2, the high one says 0.9 and sees 1; the rate is 3/4.
    parts = murphy_decomposition([0.1, 0.3, 0.9, 0.9], [0, 1, 1, 1], bins=2)
    assert parts.reliability == pytest.approx((2 * 0.3**2 + 2 * 0.1**2) / 4)
    assert parts.resolution == pytest.approx((2 * 0.25**2 + 2 * 0.25**2) / 4)
    assert parts.uncertainty == pytest.approx(3 / 4 * 1 / 4)
    # In the low one forecasts are 0.1 from their mean and outcomes 0.5 from theirs, on the same side.
    assert parts.within_bin == pytest.approx((2 * 0.1**2 - 2 * 2 * 0.1 * 0.5) / 4)


def test_outcomes_may_be_truth_values_and_bins_a_number_of_numpy() -> None:
    assert expected_calibration_error([0.5, 0.5], [True, False], bins=np.int64(4)) == 0.0  # type: ignore[arg-type]
