"""Raters: the published example, the ends, and an analysis of variance by hand."""

import math

import numpy as np
import pytest

from predibot.studies.beliefbench.scores.tables import most_say, rater_agreement

SHROUT_AND_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def test_the_published_example_comes_out() -> None:
    # Shrout and Fleiss (1979), Table 4: ICC(2,1) .29, ICC(2,4) .62.
    found = rater_agreement(SHROUT_AND_FLEISS)
    assert (round(found.icc, 2), round(found.icc_of_mean, 2), found.n) == (0.29, 0.62, 6)
    one, other, value, n = found.pearson[0]
    assert (one, other, n) == (0, 1, 6)
    assert value == pytest.approx(np.corrcoef(np.array(SHROUT_AND_FLEISS).T)[0, 1])
    assert len(found.pearson) == 6


def test_raters_who_say_the_same_agree_fully_and_one_who_adds_does_not() -> None:
    same = rater_agreement([[1, 1, 1], [2, 2, 2], [5, 5, 5]])
    assert (same.icc, same.icc_of_mean) == (1.0, 1.0)
    more = rater_agreement([[1, 3], [2, 4], [5, 7]])
    assert more.pearson[0][2] == pytest.approx(1.0)
    assert more.icc < 1.0


def test_what_one_did_not_rate_is_in_the_pairs_of_the_others_alone() -> None:
    found = rater_agreement(np.array([[1, 2, np.nan], [2, 3, 1], [4, 3, 5], [5, 5, 4]]))
    assert [n for *_, n in found.pearson] == [4, 3, 3]
    assert found.n == 3


def test_where_nothing_varies_nothing_is_said() -> None:
    assert math.isnan(rater_agreement([[1, 1], [1, 2]]).pearson[0][2])
    assert math.isnan(rater_agreement([[1, 2]]).pearson[0][2])
    assert math.isnan(rater_agreement([[1, math.nan]]).pearson[0][2])
    assert math.isnan(rater_agreement([[1, 2]]).icc)
    assert math.isnan(rater_agreement([[3, 3], [3, 3]]).icc)


def test_what_more_than_half_say_counts_and_else_the_mean() -> None:
    assert most_say([0.1, 0.1, 0.9]) == pytest.approx(0.1)
    # Two are in the class from .4 to .6, on both sides of the middle.
    assert most_say([0.42, 0.58, 0.9, np.nan]) == pytest.approx(0.5)
    # Half is not more than half, and three classes have one each.
    assert most_say([0.1, 0.9]) == pytest.approx(0.5)
    assert most_say([0.1, 0.3, 0.8]) == pytest.approx(0.4)
