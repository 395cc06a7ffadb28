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
    CohortRules,
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
V1, V2, OLD_V1 = WeeklyCohort("v1").cohorts, WeeklyCohort("v2").cohorts, WeeklyCohort("v1", weeks=0).cohorts


def states(count: int, *, positions: int = 1, markets: int = 1) -> list[Cohort]:
    """Return so many cohorts of consecutive weeks, oldest first."""
    return [Cohort(SUNDAY + number * WEEK, open_positions=positions, open_markets=markets) for number in range(count)]


def deciding(rules: CohortRules, cohorts: list[Cohort], at: datetime) -> list[str]:
    return [each.name for each in cohorts if rules.decides(each, cohorts, at)]


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


def test_the_latest_five_decide_with_v2_and_those_of_the_last_twelve_weeks_with_v1() -> None:
    at = SUNDAY + 13 * WEEK + timedelta(minutes=5)
    latest = ["2026-05-03", "2026-05-10", "2026-05-17", "2026-05-24", "2026-05-31"]
    assert deciding(V2, states(14), at) == latest
    assert deciding(V1, states(14), at) == [each.name for each in states(14)[2:]]
    # Cohorts of another recipe's weeks make no difference to it.
    assert deciding(V1, states(1), SUNDAY + 12 * WEEK - timedelta(minutes=1)) == ["2026-03-01"]
    assert deciding(V1, states(1), SUNDAY + 12 * WEEK) == []


def test_nobody_decides_before_five_past_midnight() -> None:
    for rules in (V1, V2, OLD_V1):
        assert deciding(rules, states(1), SUNDAY + timedelta(minutes=4)) == []
        assert deciding(rules, states(1), NOW) == ["2026-03-01"]


def test_an_archived_cohort_decides_no_more_and_makes_no_room() -> None:
    found = states(6)
    found[5] = replace(found[5], archived=True)
    assert len(deciding(V2, found, SUNDAY + 5 * WEEK + timedelta(minutes=5))) == 4


def test_a_cohort_of_which_all_held_is_not_complete_before_its_window_is_over() -> None:
    found = states(6, positions=0)
    at = SUNDAY + 5 * WEEK
    assert [V2.is_complete(each, found, at) for each in found] == [True, False, False, False, False, False]
    assert not V2.is_complete(found[0], found, at - timedelta(seconds=1))
    held = replace(found[0], open_positions=1)
    assert not V2.is_complete(held, found, at)


def test_a_cohort_of_v1_is_complete_when_its_weeks_are_over_and_nothing_is_held() -> None:
    (none_held,), (held,) = states(1, positions=0, markets=0), states(1, positions=2, markets=0)
    before, after = SUNDAY + 12 * WEEK - timedelta(seconds=1), SUNDAY + 12 * WEEK
    assert [V1.is_complete(none_held, [none_held], at) for at in (NOW, before, after)] == [False, False, True]
    assert not V1.is_complete(held, [held], after)
    assert not V1.decides(held, [held], after)


def test_a_cohort_of_an_old_v1_decides_until_no_market_of_its_universe_is_open() -> None:
    (playing,) = states(1, positions=0)
    (over,) = states(1, positions=0, markets=0)
    (held,) = states(1, positions=2, markets=0)
    at = SUNDAY + 40 * WEEK
    assert [OLD_V1.is_complete(each, [each], at) for each in (playing, over, held)] == [False, True, False]
    assert not OLD_V1.is_complete(over, [over], SUNDAY)
    assert [OLD_V1.decides(each, [each], at) for each in (playing, over, held)] == [True, False, True]


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
