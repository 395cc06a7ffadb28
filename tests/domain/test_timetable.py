"""The timetable: the instants of a replay."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.timetable import MOST_INSTANTS, Timetable

BEGIN = datetime(2025, 9, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@given(st.integers(min_value=0, max_value=5_000), st.integers(min_value=1, max_value=500))
def test_instants_begin_with_the_first_lie_evenly_and_end_before_the_next_would_be_too_late(
    span: int, every: int
) -> None:
    instants = list(Timetable(BEGIN, BEGIN + span * HOUR, every * HOUR))
    assert instants == [BEGIN + hours * HOUR for hours in range(0, span + 1, every)]
    assert len(Timetable(BEGIN, BEGIN + span * HOUR, every * HOUR)) == len(instants)


def test_the_last_instant_itself_is_played() -> None:
    assert list(Timetable(BEGIN, BEGIN + 7 * 24 * HOUR, 7 * 24 * HOUR))[-1] == BEGIN + 7 * 24 * HOUR


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
