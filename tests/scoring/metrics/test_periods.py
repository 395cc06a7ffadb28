"""Periods: how many of a series' steps a year has, and how that is known."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring.metrics.conventions import CONVENTIONS
from predibot.scoring.metrics.periods import Periods, choose_periods, infer_periods

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
PREDIBENCH = CONVENTIONS["predibench"]


def every(days: float, n: int, start: datetime = MONDAY) -> list[datetime]:
    return [start + timedelta(days=days * step) for step in range(n)]


def weekdays(n_weeks: int) -> list[datetime]:
    return [MONDAY + timedelta(days=7 * week + day) for week in range(n_weeks) for day in range(5)]


@given(st.integers(1, 400), st.integers(2, 30))
def test_a_year_has_as_many_periods_as_fit_in_365_days(days: int, n: int) -> None:
    if days == 1:
        n += 6  # long enough to show a weekend
    assert infer_periods(every(days, n)).per_year == pytest.approx(365.0 / days)


def test_values_of_weekdays_only_are_of_trading_days() -> None:
    found = infer_periods(weekdays(2))
    assert found.per_year == 252.0
    assert "252 trading days" in found.basis


def test_a_holiday_leaves_trading_days_what_they_are() -> None:
    instants = weekdays(3)
    del instants[7]
    assert infer_periods(instants).per_year == 252.0


def test_a_week_without_its_weekend_cannot_show_that_weekends_are_skipped() -> None:
    assert infer_periods(weekdays(1)).per_year == 365.0


def test_one_value_of_a_weekend_makes_a_calendar() -> None:
    instants = weekdays(3)
    saturday = MONDAY + timedelta(days=5)
    assert infer_periods(sorted([*instants, saturday])).per_year == 365.0


def test_values_of_every_monday_are_weekly_and_not_of_trading_days() -> None:
    assert infer_periods(every(7, 10)) == Periods(365.0 / 7.0, "365 days a year, values 7 days apart")


def test_a_few_gaps_do_not_change_the_spacing() -> None:
    instants = every(1, 30)
    del instants[10:13]
    assert infer_periods(instants).per_year == 365.0


def test_a_clock_change_leaves_days_whole() -> None:
    # From the middle on an hour earlier in UTC, as where the clocks go forward.
    assert infer_periods([MONDAY, MONDAY + timedelta(hours=23)]).per_year == 365.0
    weekly = infer_periods([MONDAY, MONDAY + timedelta(days=7, hours=1)])
    assert weekly.per_year == pytest.approx(365.0 / 7.0)


def test_hours_are_not_rounded_to_days() -> None:
    assert infer_periods(every(0.25, 9)).per_year == pytest.approx(1460.0)
    assert infer_periods(every(1.25, 9)).per_year == pytest.approx(292.0)


def test_a_number_that_is_given_wins_over_convention_and_dates() -> None:
    given_one = choose_periods(weekdays(2), convention=PREDIBENCH, periods_per_year=12)
    assert given_one == Periods(12, "given")
    assert choose_periods([], periods_per_year=12).per_year == 12


def test_a_convention_wins_over_what_the_dates_say() -> None:
    assert choose_periods(weekdays(2), convention=CONVENTIONS["predibot"]).per_year == 365.0
    assert choose_periods(every(7, 3), convention=PREDIBENCH) == Periods(52.0, "predibench, values 7 days apart")
    assert choose_periods(every(7, 3)).per_year == pytest.approx(365.0 / 7.0)


def test_a_spacing_the_convention_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="predibench has no number of periods a year for values 3 days apart"):
        choose_periods(every(3, 4), convention=PREDIBENCH)


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_instants_have_no_spacing(n: int) -> None:
    with pytest.raises(ValueError, match=f"there are {n}"):
        infer_periods(every(1, n))


@pytest.mark.parametrize("second", [MONDAY, MONDAY - timedelta(days=1)])
def test_instants_out_of_order_or_twice_are_refused(second: datetime) -> None:
    with pytest.raises(ValueError, match=r"instants\[1\] is 2026-03-0"):
        infer_periods([MONDAY, second, MONDAY + timedelta(days=2)])


@pytest.mark.parametrize("number", [0.0, -1.0, math.nan, math.inf])
def test_a_year_without_periods_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="periods_per_year is"):
        choose_periods([], periods_per_year=number)
