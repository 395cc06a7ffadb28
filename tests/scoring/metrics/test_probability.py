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


def test_skill_is_zero_against_itself_and_has_no_value_against_the_perfect() -> None:
    assert brier_skill_score([0.3, 0.9], [0.3, 0.9], [1, 0]) == 0.0
    assert math.isnan(brier_skill_score([0.3, 0.9], [1, 0], [1, 0]))
    # 1 - .05 / 1e-320 is beyond all floats.
    assert math.isnan(brier_skill_score([0.3, 0.9], [1, 1e-160], [1, 0]))
