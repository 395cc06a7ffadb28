"""Audits of crowds: a planted effect is found, and none where there is none; a tenth of the benchmark's crowds."""

from tests.studies.stakebench.scores.crowds import shares_found


def test_a_planted_effect_is_found() -> None:
    assert min(shares_found(10, planted=True).values()) >= 0.9


def test_without_an_effect_one_is_seldom_reported() -> None:
    # Of 50 crowds a rate of .05 gives more than 7 in one of 200.
    assert max(shares_found(50, planted=False).values()) <= 0.14
