"""The trading days of the simulated stocks: every weekday; two a year are short."""

from datetime import UTC, date, datetime, timedelta

from predibot.sandbox.world.calendar import MINUTES_A_DAY, minute_of

CLOSING_HOUR = 21
"""When a close is known, also on a short day, in UTC."""


def trading_days(start: date, count: int) -> tuple[date, ...]:
    """Return `count` trading days from a date on, holidays included; raise `ValueError` for a count below 1."""
    if count < 1:
        raise ValueError(f"stocks are simulated for 1 trading day or more, got {count}")
    # Five of any seven days in a row are weekdays.
    days = (start + timedelta(days=place) for place in range(count // 5 * 7 + 9))
    return tuple(day for day in days if day.weekday() < 5)[:count]


def on_or_after(day: date) -> date:
    """Return the first trading day from a date on."""
    return trading_days(day, 1)[0]


def is_half_day(day: date) -> bool:
    """Return whether trading is short: on the Friday after the fourth Thursday of November, and before Christmas.

    Examples:
        >>> is_half_day(date(2025, 11, 28)), is_half_day(date(2025, 11, 21))
        (True, False)
    """
    return (day.month, day.day) == (12, 24) or (day.month == 11 and day.weekday() == 4 and 23 <= day.day <= 29)


def closing_minute(day: date) -> int:
    """Return when the close of a day is known."""
    return first_minute(day) + CLOSING_HOUR * 60


def first_minute(day: date) -> int:
    """Return when a day begins in UTC."""
    return minute_of(datetime(day.year, day.month, day.day, tzinfo=UTC))


def day_of(minute: int) -> date:
    """Return the date of a minute in UTC."""
    return date(1970, 1, 1) + timedelta(days=minute // MINUTES_A_DAY)
