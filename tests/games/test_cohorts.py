"""Cohorts: their names and weeks, which of them decide, when one is complete, and what is due in which order."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.category import CryptoWords
from predibot.domain.event import Event
from predibot.domain.price import Quote
from predibot.errors import UsageError
from predibot.games.cohorts import (
    Cohort,
    cohort_name,
    cohort_start,
    decision_week,
    starts_cohort,
    week_of,
)
from predibot.games.weekly_cohort import WeeklyCohort
from predibot.selection import SelectionRules, select
from tests.games.weekly_cohort.world import NOW, SUNDAY, a_market

WEEK = timedelta(weeks=1)
V1, V2 = WeeklyCohort("v1").cohorts, WeeklyCohort("v2").cohorts


def states(count: int, *, positions: int = 1, markets: int = 1) -> list[Cohort]:
    """Return so many cohorts of consecutive weeks, oldest first."""
    return [Cohort(SUNDAY + number * WEEK, open_positions=positions, open_markets=markets) for number in range(count)]


def names(cohorts: tuple[Cohort, ...]) -> list[str]:
    return [cohort.name for cohort in cohorts]


@given(st.integers(-10_000_000, 40_000_000).map(lambda minutes: SUNDAY + timedelta(minutes=minutes, microseconds=7)))
def test_a_week_begins_on_a_sunday_at_midnight_utc(instant: datetime) -> None:
    start = week_of(instant)
    assert (start.strftime("%a %H:%M:%S"), start.microsecond) == ("Sun 00:00:00", 0)
    assert start <= instant < start + WEEK
    assert cohort_start(cohort_name(instant)) == start


def test_a_name_that_is_no_sunday_is_refused() -> None:
    with pytest.raises(UsageError, match="2026-03-02 is no Sunday; the cohort of that week is 2026-03-01"):
        cohort_start("2026-03-02")
    with pytest.raises(UsageError, match="write its Sunday"):
        cohort_start("last week")
    with pytest.raises(UsageError, match="starts on a Sunday"):
        Cohort(SUNDAY + timedelta(days=1))


def test_decision_weeks_are_counted_from_one() -> None:
    assert [decision_week(SUNDAY, SUNDAY + n * WEEK + timedelta(minutes=5)) for n in range(3)] == [1, 2, 3]
    with pytest.raises(UsageError, match="has not started"):
        decision_week(SUNDAY, SUNDAY - timedelta(seconds=1))


@pytest.mark.parametrize(("minutes", "starts"), [(0, True), (5, True), (59, True), (60, False), (24 * 60, False)])
def test_a_run_starts_a_cohort_in_the_first_hour_of_the_week_only(minutes: int, starts: bool) -> None:
    assert starts_cohort(SUNDAY + timedelta(minutes=minutes)) is starts


def test_the_latest_five_decide_with_v2_newest_first_and_all_active_ones_with_v1() -> None:
    at = SUNDAY + 6 * WEEK + timedelta(minutes=5)
    assert names(V2.deciding(states(7), at)) == [
        "2026-04-12",
        "2026-04-05",
        "2026-03-29",
        "2026-03-22",
        "2026-03-15",
    ]
    assert len(V1.deciding(states(7), at)) == 7


def test_nobody_decides_before_five_past_midnight() -> None:
    assert V2.deciding(states(1), SUNDAY + timedelta(minutes=4)) == ()
    assert len(V2.deciding(states(1), NOW)) == 1


def test_an_archived_cohort_decides_no_more_and_makes_no_room() -> None:
    found = states(6)
    found[5] = replace(found[5], archived=True)
    assert len(V2.deciding(found, SUNDAY + 5 * WEEK + timedelta(minutes=5))) == 4


def test_a_cohort_of_which_all_held_is_not_complete_before_its_window_is_over() -> None:
    found = states(6, positions=0)
    at = SUNDAY + 5 * WEEK
    assert [V2.is_complete(each, found, at) for each in found] == [True, False, False, False, False, False]
    assert not V2.is_complete(found[0], found, at - timedelta(seconds=1))
    held = replace(found[0], open_positions=1)
    assert not V2.is_complete(held, found, at)


def test_a_window_of_v1_ends_when_no_market_of_the_universe_is_open() -> None:
    (playing,) = states(1, positions=0)
    (over,) = states(1, positions=0, markets=0)
    (held,) = states(1, positions=2, markets=0)
    at = SUNDAY + 40 * WEEK
    assert [V1.is_complete(each, [each], at) for each in (playing, over, held)] == [False, True, False]
    assert not V1.is_complete(over, [over], SUNDAY)
    assert [V1.deciding([each], at) != () for each in (playing, over, held)] == [True, False, True]


def test_the_universe_is_the_open_markets_of_the_highest_total_volume_unknown_last_and_ties_by_id() -> None:
    markets = (
        a_market("small", volume_usd=1.0),
        a_market("b", volume_usd=5.0),
        a_market("a", volume_usd=5.0),
        a_market("unknown"),
        a_market("closed", volume_usd=9.0, closed=True),
        a_market("bare", None, volume_usd=9.0),
        a_market("one", volume_usd=9.0, outcomes=("Yes",)),
    )
    events = [Event("e", "E", markets), Event("f", "F", (a_market("c", volume_usd=3.0),))]
    rules = WeeklyCohort().select(SelectionRules(crypto=CryptoWords({})))
    assert rules.events == 500

    def universe(most: int, *listed: Event) -> list[str]:
        chosen = select(listed, replace(rules, events=most), NOW).selected
        return [market.id for event in chosen for market in event.markets]

    assert universe(500, *events) == ["a", "b", "small", "unknown", "c"]
    assert universe(3, *events) == ["a", "b", "c"]
    assert universe(2, *events) == ["a", "b"]
    assert universe(500, replace(events[0], closed=True)) == []
    assert Quote(NOW).price is None
