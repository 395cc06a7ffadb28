"""Recalibration: what forecasts should have said, learned from how earlier ones ended."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from predibot.scoring.arguments import Floats
from predibot.scoring.metrics.recalibration import RecalibrationMethod, fit_recalibration

CHANCES = st.integers(0, 40).map(lambda fortieths: fortieths / 40)
PAIRS = st.lists(st.tuples(CHANCES, st.sampled_from([0, 1])), min_size=1, max_size=40)
GRID = np.linspace(0, 1, 203)
Pairs = list[tuple[float, int]]


def columns(pairs: Pairs) -> tuple[Floats, Floats]:
    p, y = np.array(pairs, dtype=float).T
    return p, y


def overlapping(pairs: Pairs) -> bool:
    yes, no = [p for p, y in pairs if y], [p for p, y in pairs if not y]
    return bool(yes and no) and min(yes) < max(no) and max(yes) > min(no)


@given(PAIRS)
def test_isotonic_agrees_with_scikit_learn(pairs: Pairs) -> None:
    p, y = columns(pairs)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(p, y).predict(GRID)
    assert fit_recalibration(p, y)(GRID) == pytest.approx(theirs, abs=1e-9)


@given(PAIRS)
def test_logistic_is_the_likeliest(pairs: Pairs) -> None:
    assume(overlapping(pairs))
    p, y = columns(pairs)
    off = fit_recalibration(p, y, method="logistic")(p) - y
    within = np.clip(p, 0.001, 0.999)
    # Where the likelihood is highest, neither moving nor stretching makes it higher.
    assert np.sum(off) == pytest.approx(0.0, abs=1e-6)
    assert np.sum(off * np.log(within / (1 - within))) == pytest.approx(0.0, abs=1e-6)


@given(PAIRS, st.sampled_from(["isotonic", "logistic"]), st.lists(st.floats(0, 1), max_size=20))
def test_a_probability_comes_out_for_every_one_that_goes_in(
    pairs: Pairs, method: RecalibrationMethod, later: list[float]
) -> None:
    assume(method == "isotonic" or overlapping(pairs))
    said = fit_recalibration(*columns(pairs), method=method)(later)
    assert said.shape == (len(later),)
    assert ((said >= 0.0) & (said <= 1.0)).all()


def test_certain_forecasts_count_as_a_thousandth_from_certainty() -> None:
    outcomes = [0, 0, 1, 1, 1, 0]
    sure = fit_recalibration([0, 0, 0, 1, 1, 1], outcomes, method="logistic")
    assert sure == fit_recalibration([0.001] * 3 + [0.999] * 3, outcomes, method="logistic")
    assert sure([0.0, 1.0]) == pytest.approx([1 / 3, 2 / 3])


def test_nearly_parted_outcomes_and_nearly_equal_forecasts_are_fitted() -> None:
    p = np.linspace(0.001, 0.999, 1000)
    y = (p > 0.5).astype(float)
    y[499:501] = 1, 0
    assert np.sum(fit_recalibration(p, y, method="logistic")(p) - y) == pytest.approx(0.0, abs=1e-6)
    close = fit_recalibration([0.5, 0.5000001, 0.5000002, 0.5000003], [0, 1, 0, 1], method="logistic")
    assert close([0.5, 0.5000003]).sum() == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    ("probabilities", "outcomes", "seen"),
    [
        ([0.2, 0.4], [1, 1], "all 2 outcomes are 1"),
        ([0.2, 0.4, 0.3], [0, 0, 0], "all 3 outcomes are 0"),
        ([0.5, 0.5], [0, 1], "all 2 forecasts are the same"),
        ([0.0, 0.0005], [0, 1], "all 2 forecasts are the same"),
        ([0.1, 0.2, 0.7], [0, 0, 1], "of what was YES were 0.7 to 0.7, of what was NO 0.1 to 0.2"),
        ([0.1, 0.2, 0.7], [1, 1, 0], "of what was YES were 0.1 to 0.2, of what was NO 0.7 to 0.7"),
        ([0.1, 0.5, 0.5, 0.7], [0, 0, 1, 1], "of what was YES were 0.5 to 0.7, of what was NO 0.1 to 0.5"),
    ],
)
def test_where_no_logistic_is_the_likeliest_it_says_what_was_seen(
    probabilities: list[float], outcomes: list[int], seen: str
) -> None:
    with pytest.raises(ValueError, match=f"{seen}, so no logistic is the likeliest; .* take 'isotonic'"):
        fit_recalibration(probabilities, outcomes, method="logistic")


@pytest.mark.parametrize("method", ["isotonic", "logistic"])
def test_what_was_fitted_refuses_what_is_no_forecast_and_cannot_be_changed(method: RecalibrationMethod) -> None:
    fitted = fit_recalibration([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1], method=method)
    with pytest.raises(ValueError, match=r"probabilities\[1\] is 1.5; each must be in \[0, 1\]"):
        fitted([0.5, 1.5])
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(fitted, dataclasses.fields(fitted)[0].name, 1.0)
