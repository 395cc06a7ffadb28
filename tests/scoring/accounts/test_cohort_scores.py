"""Cohort scores: returns over cohorts, win rate, both Brier scores under their names, and where prices come from."""

from datetime import UTC, datetime, timedelta

import pytest

from predibot.scoring.accounts.cohorts import (
    CohortResult,
    cohort_score,
    implied_confidence,
    implied_confidence_brier,
    stated_brier,
)
from predibot.scoring.accounts.record import SizedBet
from predibot.scoring.inference.overlap import overlap_interval

SUNDAY = datetime(2026, 3, 1, tzinfo=UTC)
NOW = SUNDAY


def result(week: int, value_usd: float, weeks: int = 3, **more: object) -> CohortResult:
    start = SUNDAY + timedelta(weeks=week)
    return CohortResult(start, start + timedelta(weeks=weeks), 10_000.0, value_usd, **more)  # type: ignore[arg-type]


def test_returns_are_on_ten_thousand_dollars_and_profit_on_all_stakes() -> None:
    found = cohort_score([
        result(1, 9_500.0, won=1, lost=3),
        result(0, 11_000.0, won=2, cancelled=1),
        result(2, 10_200.0),
    ])  # fmt: skip
    assert found is not None
    assert (found.profit_usd, found.return_on_stakes) == (pytest.approx(700.0), pytest.approx(700 / 30_000))
    assert (found.win_rate, found.cohorts, found.resolved) == (0.5, 3, 7)
    # In order of start, whatever the order of the rows; three weeks each, so three cohorts overlap.
    assert found.returns == overlap_interval([0.1, -0.05, 0.02], 3)
    assert not found.returns.may_rank


def test_nobody_who_resolved_nothing_has_a_win_rate() -> None:
    found = cohort_score([result(0, 10_000.0, cancelled=2)])
    assert found is not None
    assert (found.win_rate, found.resolved, found.returns.low) == (None, 2, None)


def test_a_stake_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="stake"):
        cohort_score([CohortResult(SUNDAY, SUNDAY, 0.0, 1.0)])


def test_an_account_that_owes_lost_the_whole_stake() -> None:
    found = cohort_score([result(0, -500.0), result(1, 10_000.0)])
    assert found is not None
    assert (found.returns.mean, found.profit_usd) == (-0.5, -10_500.0)


def test_a_stated_probability_is_scored_where_a_side_won() -> None:
    found = stated_brier([(0.95, 1.0), (0.3, 0.0), (0.5, 0.5), (0.9, None)])
    assert found is not None
    assert (found.score, found.n) == (pytest.approx((0.05**2 + 0.3**2) / 2), 2)
    assert stated_brier([(0.9, None)]) is None


def test_fifty_dollars_at_95_cents_count_as_a_two_per_cent_forecast() -> None:
    assert implied_confidence(50.0, 10_000.0) == 0.02
    found = implied_confidence_brier([SizedBet(50.0, 10_000.0, True)])
    assert found is not None
    assert found.score == pytest.approx(0.98**2)


def test_confidence_is_of_the_cash_before_each_leg_and_never_above_one() -> None:
    bets = [SizedBet(2_400.0, 10_000.0, True), SizedBet(1_900.0, 7_600.0, False), SizedBet(1.0, 2.0, None)]
    found = implied_confidence_brier(bets)
    assert found is not None
    # The confidences are .96 and one.
    assert (found.score, found.n) == (pytest.approx((0.04**2 + 1.0) / 2), 2)
    assert implied_confidence(5_000.0, 10_000.0) == 1.0
    assert implied_confidence_brier(bets[2:]) is None
    with pytest.raises(ValueError, match="above zero"):
        implied_confidence(50.0, 0.0)
