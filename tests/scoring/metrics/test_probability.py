"""Probability scores: how close forecasts of YES were to what happened."""

import math

import pytest

from predibot.scoring import brier_score, brier_skill_score, log_score


def test_perfect_half_and_worst_forecasts_have_their_known_scores() -> None:
    assert brier_score([1, 0], [1, 0]) == 0.0
    assert brier_score([0.5, 0.5], [1, 0]) == 0.25
    assert brier_score([0, 1], [1, 0]) == 1.0
    assert log_score([0.5], [1]) == pytest.approx(math.log(2))


def test_certainty_about_what_did_not_happen_is_clipped() -> None:
    assert log_score([0.0], [1]) == pytest.approx(-math.log(0.01))
    assert log_score([0.0], [1], clip=0.1) == pytest.approx(-math.log(0.1))
    assert log_score([0.0], [1], clip=0.0) == math.inf
    with pytest.raises(ValueError, match=r"clip is 0.5; it must be in \[0, 0.5\)"):
        log_score([0.0], [1], clip=0.5)


def test_skill_is_zero_against_itself_and_has_no_value_against_the_perfect() -> None:
    assert brier_skill_score([0.3, 0.9], [0.3, 0.9], [1, 0]) == 0.0
    assert math.isnan(brier_skill_score([0.3, 0.9], [1, 0], [1, 0]))
    # 1 - .05 / 1e-320 is beyond all floats.
    assert math.isnan(brier_skill_score([0.3, 0.9], [1, 1e-160], [1, 0]))


@pytest.mark.parametrize(
    ("probabilities", "outcomes", "seen"),
    [
        ([], [], "probabilities is empty"),
        ([0.5, 0.5], [1], "lengths differ: probabilities 2, outcomes 1"),
        ([0.5, float("nan")], [1, 0], r"probabilities\[1\] is nan; each must be in \[0, 1\]"),
        ([25.0], [1], r"probabilities\[0\] is 25.0"),
        ([-0.001], [1], r"probabilities\[0\] is -0.001"),
        ([0.5], [0.5], r"outcomes\[0\] is 0.5; each must be 0 or 1"),
        ([0.5], [float("nan")], r"outcomes\[0\] is nan"),
        ([[0.5]], [1], r"probabilities has shape \(1, 1\)"),
        (["25%"], [1], "probabilities is not an array of numbers"),
    ],
)
def test_what_is_no_forecast_or_outcome_is_refused(probabilities: object, outcomes: object, seen: str) -> None:
    for score in (brier_score, log_score):
        with pytest.raises(ValueError, match=seen):
            score(probabilities, outcomes)  # type: ignore[arg-type]  # what a careless caller hands over


def test_a_reference_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="probabilities 2, reference_probabilities 1"):
        brier_skill_score([0.5, 0.5], [0.5], [1, 0])
