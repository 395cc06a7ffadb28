"""Instants: aware UTC datetimes, their text, and their place in a calendar of slots."""

import re
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LONGEST = timedelta(days=366)
_WEEK = timedelta(weeks=1)
_FIRST_SUNDAY = datetime(1970, 1, 4, tzinfo=UTC)
_LENGTH = re.compile(r"([0-9]{1,6})([mhdw])")
_UNITS = {"w": timedelta(weeks=1), "d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1)}


def parse_instant(text: str) -> datetime:
    """Return the UTC instant of an ISO 8601 text; a day is its midnight, and a time without an offset is UTC.

    Raises:
        ValueError: If the text is not an instant.

    Examples:
        >>> parse_instant("2026-05-28 05:29:05+00").isoformat()
        '2026-05-28T05:29:05+00:00'
    """
    try:
        instant = datetime.fromisoformat(text.strip())
        return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text[:40]!r} is not an instant; write it like 2026-02-13T19:30:00Z") from None


def format_instant(instant: datetime) -> str:
    """Return an instant as short ISO 8601 text in UTC, exact: zero seconds and fractions are left out.

    Examples:
        >>> format_instant(parse_instant("2026-03-01T12:00:00Z"))
        '2026-03-01T12:00Z'
    """
    utc = instant.astimezone(UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="microseconds" if utc.microsecond else "seconds" if utc.second else "minutes") + "Z"


def short_instant(instant: datetime) -> str:
    """Return an instant as people read it, cut to the second.

    Examples:
        >>> short_instant(parse_instant("2026-03-01T12:00:00.123456Z"))
        '2026-03-01T12:00Z'
    """
    return format_instant(instant.replace(microsecond=0))


def parse_length(text: str) -> timedelta:
    """Return the length of time in a text: a whole number and `m`, `h`, `d` or `w`, at most 366 days. Raises
    `ValueError` if the text names no such length, or zero.
    """
    found = _LENGTH.fullmatch(text)
    length = int(found.group(1)) * _UNITS[found.group(2)] if found else timedelta(0)
    if not timedelta(0) < length <= LONGEST:
        raise ValueError(f"{text[:40]!r} is no length; write one of at most 366 days like '1d', '6h' or '7d'")
    return length


def format_length(length: timedelta) -> str:
    """Return a length of time as a whole number of the largest unit that divides it, at most days."""
    unit = next(unit for unit in "dhm" if length % _UNITS[unit] == timedelta(0))
    return f"{length // _UNITS[unit]}{unit}"


def floor_to(instant: datetime, every: timedelta) -> datetime:
    """Return the start of the slot of an instant, counted from 1970 in UTC; slots of whole weeks start on Sundays.

    Examples:
        >>> format_instant(floor_to(parse_instant("2026-02-13T19:30:00Z"), timedelta(days=1)))
        '2026-02-13T00:00Z'
        >>> format_instant(floor_to(parse_instant("2026-02-13T19:30:00Z"), timedelta(weeks=2)))
        '2026-02-01T00:00Z'
    """
    return instant - (instant - (EPOCH if every % _WEEK else _FIRST_SUNDAY)) % every
