"""Correlations of figures over bots, beside scipy's."""

import numpy as np
import pytest
from scipy import stats

from predibot.scoring.metrics.correlation import correlations


def named(values: "np.ndarray") -> dict[str, float]:
    return {f"bot {row}": float(value) for row, value in enumerate(values)}


@pytest.mark.parametrize("n", [4, 9, 40])
def test_coefficients_and_pearsons_interval_are_those_of_scipy(n: int) -> None:
    rng = np.random.default_rng(n)
    one = rng.normal(size=n)
    other = one + rng.normal(size=n)
    found, there = correlations(named(one), named(other)), stats.pearsonr(one, other)
    ends = there.confidence_interval(0.95)
    assert found.n == n
    assert (found.pearson.value, found.pearson.low, found.pearson.high) == pytest.approx((there.statistic, *ends))
    assert found.spearman.value == pytest.approx(stats.spearmanr(one, other).statistic)


@pytest.mark.parametrize("figure", ["pearson", "spearman"])
def test_an_interval_holds_the_truth_about_as_often_as_it_says(figure: str) -> None:
    rng = np.random.default_rng(5)
    slope = 0.75
    truth = {"pearson": slope, "spearman": 6 / np.pi * np.arcsin(slope / 2)}[figure]
    held = 0
    for _ in range(400):
        one, noise = rng.normal(size=(2, 12))
        found = getattr(correlations(named(one), named(slope * one + (1 - slope**2) ** 0.5 * noise)), figure)
        held += found.low <= truth <= found.high
    assert 0.90 <= held / 400 <= 0.985


def test_what_rests_on_too_little_has_no_figure() -> None:
    three = {"a": 1.0, "b": 2.0, "c": 4.0}
    assert correlations(three, three).pearson.value is None
    four = {**three, "d": 3.0}
    in_order = correlations(four, four).spearman
    assert (in_order.value, in_order.low, in_order.high) == (1, None, None)
    assert correlations(four, dict.fromkeys(four, 1.0)).pearson.value is None
