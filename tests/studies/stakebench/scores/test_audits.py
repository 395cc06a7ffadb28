"""Audits and tests against chance: by hand, and against other libraries."""

import math

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import stats

from predibot.studies.stakebench.scores.significance import (
    PLATFORM_COLUMNS,
    binomial_p_values,
    coverage_bias,
    discoveries,
    dose_response,
    independence_p_value,
    mann_whitney,
    outcome_audit,
    platform_comparison,
    within_user_drift,
    wrong_bettors,
)
from tests.studies.stakebench.scores.answers import made


@pytest.mark.parametrize("chance", [0.25, 0.5])
def test_binomial_tests_are_those_of_another_library(chance: float) -> None:
    hits, trials = [0, 3, 17, 200, 1100], [5, 7, 40, 611, 2000]
    expected = [stats.binomtest(k, n, chance, alternative="greater").pvalue for k, n in zip(hits, trials, strict=True)]
    assert binomial_p_values(hits, trials, chance=chance).tolist() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_rank_sums_are_those_of_another_library(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 6, 30), rng.integers(1, 7, 45)
    found = mann_whitney(one, other)
    greater = stats.mannwhitneyu(one, other, alternative="greater", method="asymptotic")
    both = stats.mannwhitneyu(one, other, alternative="two-sided", method="asymptotic")
    assert found == pytest.approx((greater.pvalue, both.pvalue))


def test_samples_that_are_all_the_same_tell_nothing() -> None:
    for one, other in (([1, 1], [1, 1]), ([], [1])):
        assert all(map(math.isnan, mann_whitney(one, other)))


def test_many_tests_of_nothing_are_not_retained() -> None:
    uniform = (np.arange(200) + 0.5) / 200
    assert discoveries(uniform) == (200, 10, 0)
    assert discoveries([math.nan]) == (0, 0, 0)


def test_only_those_who_lost_and_were_given_a_side_are_asked_about() -> None:
    answers = made(3)
    lost = [
        said == side
        for said, side, came in zip(answers.said, answers.side, answers.resolved, strict=True)
        if came == -side and said in (-1, 1)
    ]
    following, p_value = wrong_bettors(answers.said, answers.side, answers.resolved)
    assert following == pytest.approx(sum(lost) / len(lost))
    assert p_value == pytest.approx(stats.binomtest(sum(lost), len(lost), 0.5, alternative="greater").pvalue)


def test_below_twenty_losers_and_forty_doses_no_test_is_made() -> None:
    assert math.isnan(wrong_bettors([1] * 19, [1] * 19, [-1] * 19)[1])
    assert math.isnan(dose_response([1] * 39, [1] * 20 + [-1] * 19, range(39)).p_value)


def test_constant_stakes_have_no_dose() -> None:
    found = dose_response([1] * 60, [1, -1] * 30, [5.0] * 60)
    assert math.isnan(found.signal)
    assert math.isnan(found.p_value)


def test_the_drift_of_two_users_is_that_of_arithmetic() -> None:
    # User a: right before (1 of 1), wrong after (0 of 2). User b: 1 of 2 before, 1 of 1 after. User c: never before.
    users = ["a", "a", "a", "b", "b", "b", "c"]
    said = [1, -1, -1, 1, -1, 1, 1]
    found = within_user_drift(said, [0, -1, -1, 0, 0, 1, 1], [1] * 7, users, ["m"] * 7, [0, 1, 1, 0, 0, 1, 1])
    assert found.users == 2
    assert (found.before, found.after) == pytest.approx((2 / 3, 1 / 3))
    assert found.after_by_side == 1.0
    assert found.within_user == pytest.approx((-1.0 + 0.5) / 2)


def test_the_drift_is_of_the_same_market() -> None:
    found = within_user_drift([1, -1], [0, 1], [1, 1], ["a", "a"], ["m", "n"], [0, 1])
    assert found.users == 0
    assert math.isnan(found.within_user)


def test_flips_of_few_users_come_to_what_all_flips_come_to() -> None:
    n = 8
    said = [1, -1] * n
    found = within_user_drift(said, [0, -1] * n, [1] * 2 * n, np.repeat(range(n), 2), [0] * 2 * n, [0, 1] * n)
    # Of all 2^8 signs only one is as low: every difference is minus one.
    assert found.p_value == pytest.approx(1 / 2**n, abs=0.002)


def test_guessing_outcomes_and_reading_writers_are_told_apart() -> None:
    found = outcome_audit([1, 1, 1, 0], [1, -1, -1, 1], [1, 1, 1, 0])
    assert found == (pytest.approx(1 / 3), 1.0)


def test_coverage_bias_is_cohens_d() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(1.0, 2.0, 50), rng.normal(0.0, 2.0, 80)
    found = coverage_bias(np.concatenate((one, other, [math.nan])), [1] * 50 + [0] * 80 + [1])
    pooled = math.sqrt((one.var(ddof=1) * 49 + other.var(ddof=1) * 79) / 128)
    assert found[2] == pytest.approx((one.mean() - other.mean()) / pooled)
    assert math.isnan(coverage_bias([1.0], [1])[2])


def test_independence_is_that_of_another_library() -> None:
    rng = np.random.default_rng(0)
    topic, holds = rng.integers(0, 5, 300), rng.integers(0, 2, 300)
    table = np.zeros((5, 2))
    np.add.at(table, (topic, holds), 1)
    assert independence_p_value(topic, holds) == pytest.approx(stats.chi2_contingency(table).pvalue)
    assert math.isnan(independence_p_value([1, 1], [0, 1]))


def compared(first: ArrayLike, second: ArrayLike) -> dict[str, float]:
    return dict(zip(PLATFORM_COLUMNS, platform_comparison(first, second), strict=True))


def test_platforms_are_compared_topic_by_topic() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.random((6, 5)), rng.random((6, 5))
    found = compared(one, other)
    paired = stats.ttest_rel(one.mean(axis=0), other.mean(axis=0))
    assert (found["t"], found["p"]) == pytest.approx((paired.statistic, paired.pvalue))
    ranks = stats.spearmanr(one.mean(axis=1), other.mean(axis=1))
    assert (found["rank correlation"], found["rank p"]) == pytest.approx((ranks.statistic, ranks.pvalue))


@pytest.mark.parametrize("bots", [3, 4, 8])
def test_equal_orders_of_few_bots_are_as_likely_as_they_are(bots: int) -> None:
    one = np.arange(bots)[:, np.newaxis] + np.array([0.0, 0.3])
    chance = 1.0
    for taken in range(2, bots + 1):
        chance /= taken
    for other in (one * 2.0, -one):
        assert compared(one, other)["rank p"] == pytest.approx(2.0 * chance)


def test_a_topic_that_one_platform_lacks_is_not_compared() -> None:
    found = compared([[0.5, 0.9]], [[0.4, math.nan]])
    assert (found["topics"], found["difference"]) == (1, pytest.approx(0.1))
    assert math.isnan(found["p"])
