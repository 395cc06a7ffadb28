"""Instants and slots."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.clock import LONGEST, floor_to, format_instant, format_length, parse_instant, parse_length

instants = st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(instants)
def test_what_is_written_reads_back_as_the_same_instant(instant: datetime) -> None:
    assert parse_instant(format_instant(instant)) == instant


@given(instants, st.integers(min_value=1, max_value=400))
def test_a_slot_starts_before_its_instants_and_less_than_one_slot_away(instant: datetime, hours: int) -> None:
    every = timedelta(hours=hours)
    assert timedelta(0) <= instant - floor_to(instant, every) < every


@pytest.mark.parametrize("text", ["2026-05-28T05:29:05Z", "2026-05-28 05:29:05+00", "2026-05-28T05:29:05.0000Z"])
def test_the_shapes_venues_write_are_all_read(text: str) -> None:
    assert parse_instant(text) == datetime(2026, 5, 28, 5, 29, 5, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "0001-01-01T00:00+23:59"])
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="write it like"):
        parse_instant(text)


@given(st.integers(min_value=1, max_value=LONGEST // timedelta(minutes=1)))
def test_a_length_reads_back_as_the_same_length(minutes: int) -> None:
    length = timedelta(minutes=minutes)
    assert parse_length(format_length(length)) == length


@pytest.mark.parametrize("text", ["", "0d", "d", "-1d", "1.5d", "1 d", "7D", "daily", "367d", "999999w"])
def test_what_is_no_length_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="like '1d', '6h' or '7d'"):
        parse_length(text)
