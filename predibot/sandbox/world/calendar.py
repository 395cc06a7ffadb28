"""The sandbox's calendar: its fixed instants, and how the venue writes instants."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

SANDBOX_OPENS_AT = datetime(2026, 1, 5, 12, tzinfo=UTC)
"""When a sandbox decision without `--as-of` takes place."""
SANDBOX_BEGINS_AT = SANDBOX_OPENS_AT - timedelta(days=60)
"""The sandbox has all its open events, and their history, from here on."""
SANDBOX_ENDS_AT = SANDBOX_OPENS_AT + timedelta(days=120)
"""No event is listed later; open ones run on."""

MINUTES_A_DAY = 1_440
MINUTES_AN_HOUR = 60


def minute_of(instant: datetime) -> int:
    """Return the whole minutes since 1970 of an aware instant, rounded down."""
    if instant.tzinfo is None:
        raise ValueError(f"the sandbox needs an aware instant, got {instant.isoformat()}; give it a time zone")
    return int(instant.timestamp() // 60)


def instant_of(minute: int) -> datetime:
    """Return the instant so many minutes after 1970, in UTC."""
    return datetime.fromtimestamp(minute * 60, tz=UTC)


@lru_cache(maxsize=4_096)
def iso_text(minute: int) -> str:
    """Return an instant as `2026-01-05T12:00:00Z`."""
    return instant_of(minute).strftime("%Y-%m-%dT%H:%M:%SZ")


def iso_text_with_fraction(minute: int, *, microseconds: int, digits: int) -> str:
    """Return an instant in the minute before, with 1 to 6 digits of fraction: what is shown lies in the past.

    Examples:
        >>> iso_text_with_fraction(1, microseconds=5_250_000, digits=2)
        '1970-01-01T00:00:05.25Z'
    """
    instant = instant_of(minute - 1) + timedelta(microseconds=microseconds % 60_000_000)
    return f"{instant:%Y-%m-%dT%H:%M:%S}.{f'{instant.microsecond:06d}'[:digits]}Z"


def postgres_text(minute: int) -> str:
    """Return an instant as `2026-01-05 12:00:00+00`."""
    return instant_of(minute).strftime("%Y-%m-%d %H:%M:%S+00")


def date_text(minute: int) -> str:
    """Return a date as questions write it, `January 5`."""
    instant = instant_of(minute)
    return f"{instant:%B} {instant.day}"
