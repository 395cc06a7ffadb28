"""Instants: aware UTC datetimes, their text, and their place in a calendar of slots."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_instant(text: str) -> datetime:
    """Return the UTC instant that an ISO 8601 text names.

    Args:
        text: For example `2026-02-13T19:30:00Z`, `2026-02-13 19:30:00+00`, or
            `2026-02-13`, which is midnight. Without an offset it is UTC.

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
    """Return an instant as short ISO 8601 text in UTC.

    Seconds and their fraction appear only when they are not zero, so that the
    text always names exactly the instant it was made from.

    Examples:
        >>> format_instant(parse_instant("2026-03-01T12:00:00Z"))
        '2026-03-01T12:00Z'
    """
    utc = instant.astimezone(UTC)
    if utc.microsecond:
        return utc.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return utc.strftime("%Y-%m-%dT%H:%M:%SZ" if utc.second else "%Y-%m-%dT%H:%MZ")


def floor_to(instant: datetime, every: timedelta) -> datetime:
    """Return the start of the slot an instant falls in, counted from 1970 in UTC.

    Examples:
        >>> format_instant(floor_to(parse_instant("2026-02-13T19:30:00Z"), timedelta(days=1)))
        '2026-02-13T00:00Z'
    """
    return instant - (instant - EPOCH) % every
