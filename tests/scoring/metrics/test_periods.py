"""Periods: how many of a series' steps a year has, and how that is known."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring.metrics.conventions import CONVENTIONS, Periods, choose_periods, infer_periods

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


SATURDAY = MONDAY + timedelta(days=5)


@pytest.mark.parametrize(
    ("instants", "per_year"),
    [
        pytest.param(weekdays(2), 252.0, id="weekdays only"),
        pytest.param([*weekdays(3)[:7], *weekdays(3)[8:]], 252.0, id="a holiday"),
        pytest.param(weekdays(1), 365.0, id="a week cannot show that weekends are skipped"),
        pytest.param(sorted([*weekdays(3), SATURDAY]), 365.0, id="one value of a weekend"),
        pytest.param([*every(1, 10), *every(1, 30)[13:]], 365.0, id="a few gaps"),
        # An hour earlier in UTC, as where the clocks go forward, or later.
        pytest.param([MONDAY, MONDAY + timedelta(hours=23)], 365.0, id="a clock change"),
        pytest.param([MONDAY, MONDAY + timedelta(days=7, hours=1)], 365.0 / 7.0, id="a clock change in a week"),
        pytest.param(every(0.25, 9), 1460.0, id="hours are not rounded to days"),
        pytest.param(every(1.25, 9), 292.0, id="nor are 30 hours"),
    ],
)
def test_periods_are_those_of_the_calendar_that_the_instants_show(instants: list[datetime], per_year: float) -> None:
    assert infer_periods(instants).per_year == pytest.approx(per_year)


def test_it_is_said_what_a_number_of_periods_rests_on() -> None:
    assert "252 trading days" in infer_periods(weekdays(2)).basis
    assert infer_periods(every(7, 10)) == Periods(365.0 / 7.0, "365 days a year, values 7 days apart")


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
