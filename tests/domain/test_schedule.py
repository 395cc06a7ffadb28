"""Schedules: slots beside a walk over every minute, and what is due whatever the clock did."""

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from predibot.domain.clock import format_instant, parse_instant
from predibot.domain.schedule import MOST_INSTANTS, Cron, Schedule, Timetable, due_slots

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
NEW_YORK = ZoneInfo("America/New_York")


def slots(cron: str, zone: str, after: str, until: str) -> list[str]:
    """Return the slots between two instants as text."""
    schedule = Schedule((Cron.of(cron),), ZoneInfo(zone))
    return [format_instant(slot) for slot in schedule.slots(parse_instant(after), parse_instant(until))]


def walked(cron: Cron, zone: ZoneInfo, after: datetime, until: datetime) -> list[datetime]:
    """Return the slots by looking at the clock of the wall in every minute."""
    found, instant, seen = [], after - 2 * DAY, set()
    on = cache(lambda day: {*cron.on(day)})
    before = instant.astimezone(zone).replace(tzinfo=None) - MINUTE
    while instant <= until:
        shown = instant.astimezone(zone).replace(tzinfo=None)
        skipped = [before + number * MINUTE for number in range(1, max(1, (shown - before) // MINUTE))]
        is_asked = any(minute in on(minute.date()) for minute in (*skipped, shown) if minute not in seen)
        if is_asked and instant > after:
            found.append(instant)
        seen.update((*skipped, shown))
        before, instant = shown, instant + MINUTE
    return found


# Set forward and back: by an hour, by half an hour, at midnight, by a whole day.
TURNS = [
    ("America/New_York", "2026-03-08T07:00Z"),
    ("America/New_York", "2026-11-01T06:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30Z"),
    ("America/Havana", "2026-03-08T05:00Z"),
    ("America/Havana", "2026-11-01T05:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00Z"),
    ("America/St_Johns", "2010-11-07T02:31Z"),
    ("Europe/London", "2028-02-29T00:00Z"),
    ("UTC", "2026-12-31T23:59Z"),
]
FIELDS = (
    st.sampled_from(["0", "30", "*/20", "5,35", "59", "1-3"]),
    st.sampled_from(["*", "0", "1", "2", "1-2", "23", "*/3", "12"]),
    st.sampled_from(["*", "*", "1", "30", "29", "*/2"]),
    st.sampled_from(["*", "*", "2,3,10-12", "apr-nov"]),
    st.sampled_from(["*", "*", "0", "7", "sat-sun", "mon,wed,fri"]),
)


@settings(max_examples=25)
@given(st.sampled_from(TURNS), st.tuples(*FIELDS))
@example(TURNS[0], ("30", "2", "*", "*", "*"))
@example(TURNS[6], ("*/20", "*/3", "30", "*", "*"))
def test_slots_are_those_of_a_walk_over_every_minute(turn: tuple[str, str], fields: tuple[str, ...]) -> None:
    zone, middle = ZoneInfo(turn[0]), parse_instant(turn[1])
    cron = Cron.of(" ".join(fields))
    after, until = middle - DAY, middle + DAY
    assert list(Schedule((cron,), zone).slots(after, until)) == walked(cron, zone, after, until)


def test_a_time_shown_twice_counts_once_and_one_left_out_moves_to_the_next_minute() -> None:
    autumn = ("America/New_York", "2026-10-31T12:00Z", "2026-11-02T12:00Z")
    assert slots("30 1 * * *", *autumn) == ["2026-11-01T05:30Z", "2026-11-02T06:30Z"]
    spring = ("America/New_York", "2026-03-07T12:00Z", "2026-03-09T12:00Z")
    assert slots("30 2 * * *", *spring) == ["2026-03-08T07:00Z", "2026-03-09T06:30Z"]
    assert slots("*/20 2 * * *", *spring)[0] == "2026-03-08T07:00Z"


def test_days_0_and_7_are_sunday_and_leap_days_are_found() -> None:
    week = ("UTC", "2026-11-22T00:00Z", "2026-11-29T23:59Z")
    assert slots("0 9 * * 0", *week) == slots("0 9 * * 7", *week) == slots("0 9 * * sun", *week)
    assert slots("0 9 * * 7", *week) == slots("0 9 * * sun-sun", *week) == ["2026-11-22T09:00Z", "2026-11-29T09:00Z"]
    leap = Schedule((Cron.of("0 0 29 2 *"),), ZoneInfo("UTC"))
    assert format_instant(leap.next_slot(parse_instant("2096-03-01"))) == "2104-02-29T00:00Z"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("5 12 * *", "'5 12 \\* \\*' has 4 fields; write five"),
        ("60 12 * * *", "'60' is no minute; write \\* or numbers from 0 to 59"),
        ("5 12 * * fry", "'fry' is no day of the week; .* 0 to 7 or sun, mon"),
        ("*/0 * * * *", "'\\*/0' is no minute"),
        ("1,,2 * * * *", "'' is no minute"),
        ("5-1 * * * *", "'5-1' is no minute"),
        ("0 0 31 2,4 *", "names a day that no year has"),
    ],
)
def test_what_is_no_cron_line_is_refused_in_words(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Cron.of(text)


DAILY = Schedule((Cron.of("5 12 * * *"),), ZoneInfo("UTC"))
NOON = parse_instant("2026-11-22T12:05Z")


def test_a_slot_is_played_within_its_window_and_missed_after_it() -> None:
    since = NOON - HOUR
    assert due_slots(DAILY, since, (), NOON - MINUTE).next_at == NOON
    assert due_slots(DAILY, since, (), NOON).play == (NOON,)
    assert due_slots(DAILY, since, (), NOON + 6 * HOUR).play == (NOON,)
    late = due_slots(DAILY, since, (), NOON + 2 * DAY + 7 * HOUR)
    assert (late.play, late.missed) == ((), (NOON, NOON + DAY, NOON + 2 * DAY))
    assert due_slots(DAILY, since, (NOON,), NOON + HOUR).play == ()


@given(st.lists(st.integers(-3 * 24 * 60, 3 * 24 * 60), max_size=30), st.integers(0, 11 * 60))
def test_whatever_the_clock_does_each_slot_ends_once(steps: list[int], jitter: int) -> None:
    schedule = Schedule((Cron.of("0 */5 * * *"),), NEW_YORK, jitter=jitter * MINUTE / 2)
    since = now = parse_instant("2026-10-30T00:00Z")
    ended: dict[datetime, str] = {}
    for step in [*steps, 0]:
        now += step * MINUTE
        due = due_slots(schedule, since, ended, now, seed="7|hourly")
        assert not ended.keys() & {*due.play, *due.missed}
        ended |= dict.fromkeys(due.missed, "missed") | dict.fromkeys(due.play, "played")
        assert due.next_at > now or due.play
        # All that are past ended, but those whose draw is still to come.
        open_slots = [slot for slot in schedule.slots(since, now) if slot not in ended]
        assert not open_slots or schedule.begins_at(open_slots[0], "7|hourly") > now


BEGIN = datetime(2025, 9, 1, 12, tzinfo=UTC)


@given(st.integers(min_value=0, max_value=5_000), st.integers(min_value=1, max_value=500))
def test_instants_begin_with_the_first_lie_evenly_and_end_before_the_next_would_be_too_late(
    span: int, every: int
) -> None:
    instants = list(Timetable(BEGIN, BEGIN + span * HOUR, every * HOUR))
    assert instants == [BEGIN + hours * HOUR for hours in range(0, span + 1, every)]
    assert len(Timetable(BEGIN, BEGIN + span * HOUR, every * HOUR)) == len(instants)
    assert list(Timetable(BEGIN, BEGIN + 7 * DAY, 7 * DAY)) == [BEGIN, BEGIN + 7 * DAY]


@pytest.mark.parametrize(
    ("last", "every", "said"),
    [
        (BEGIN - HOUR, HOUR, "end at 2025-09-01T11:00Z, before it begins at 2025-09-01T12:00Z; swap the two"),
        (BEGIN, timedelta(0), "the time between two instants is zero"),
        (BEGIN, -HOUR, "the time between two instants is zero or less"),
        (BEGIN + MOST_INSTANTS * HOUR, HOUR, "every 1h makes 10,001 instants, above 10,000; ask for fewer"),
    ],
)
def test_what_makes_no_sense_is_refused(last: datetime, every: timedelta, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Timetable(BEGIN, last, every)
