"""Dates of search results: each of their many forms, as the latest instant it can mean."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from email.utils import parsedate_to_datetime

_AGO = re.compile(r"(\d{1,4}|an?)\s+(minute|hour|day|week|month|year)s?\s+ago", re.IGNORECASE)
_UNITS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=31),
    "year": timedelta(days=366),
}
_DAY_FORMS = ("%Y-%m-%d", "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y")
_WEST_MOST = timedelta(hours=12)
"""A day without a zone ends last in the west."""


_MADE_OF_AGES = (
    *((timedelta(days=days), unit) for days, unit in ((365, "year"), (30, "month"), (7, "week"), (1, "day"))),
    *((timedelta(hours=1), "hour"), (timedelta(minutes=1), "minute")),
)
"""The lengths that ddgs gives to units when it turns an age into an instant (engines/yahoo_news.py, bing_news.py)."""
_WHILE_ASKED = timedelta(seconds=30)


def shortest_span(since: timedelta, spans: Sequence[tuple[str, int]]) -> str | None:
    """Return the first of some spans that reaches as far back; each has its days, and the shortest is first.

    Examples:
        >>> shortest_span(timedelta(days=5), [("d", 1), ("w", 7), ("m", 31)])
        'w'
        >>> shortest_span(timedelta(days=500), [("y", 366)]) is None
        True
    """
    return next((name for name, days in spans if since <= timedelta(days=days)), None)


def latest_instant(text: object, *, now: datetime) -> datetime | None:
    """Return the latest instant that a provider's date can mean, or None if it cannot be parsed.

    A day means its end, in the zone where it ends last; so does midnight, which many providers write for a day. An age
    counts one unit less than stated, because it may have been rounded up.

    Examples:
        >>> now = datetime(2026, 1, 9, tzinfo=UTC)
        >>> latest_instant("2026-01-05T14:05:00Z", now=now).isoformat()
        '2026-01-05T14:05:00+00:00'
        >>> latest_instant("Jan 5, 2026", now=now).isoformat()
        '2026-01-06T12:00:00+00:00'
        >>> latest_instant("3 days ago", now=now).isoformat()
        '2026-01-07T00:00:00+00:00'
    """
    if not isinstance(text, str) or not 0 < len(text.strip()) <= 80:
        return None
    words = text.strip()
    try:
        if ago := _AGO.fullmatch(words):
            count = int(ago.group(1)) if ago.group(1).isdigit() else 1
            return now - (count - 1) * _UNITS[ago.group(2).lower()]
        return _parse_day_end(words) or _parse_instant(words)
    except OverflowError:
        return None


def latest_instant_of_ddgs(text: object, *, now: datetime, units_are_known: bool = True) -> datetime | None:
    """Return the latest instant of a date that ddgs computed from an age, or from a day in this machine's zone.

    An age counts one unit less, as in `latest_instant`; its unit is the longest that divides it. `now` is a moment
    after ddgs was asked. Without `units_are_known` no age proves anything: ddgs takes Bing's 5 hours for 5 days.

    Examples:
        >>> now = datetime(2026, 1, 30, 9, 15, 7, tzinfo=UTC)
        >>> latest_instant_of_ddgs("2026-01-16T09:15:05+00:00", now=now).isoformat()
        '2026-01-23T09:15:05+00:00'
    """
    try:
        stated = datetime.fromisoformat(str(text)).astimezone()
        if stated.time() == time():
            return datetime.combine(stated.date(), time(), UTC) + timedelta(days=1) + _WEST_MOST
    except (ValueError, OverflowError):
        return latest_instant(text, now=now)
    if not units_are_known:
        return None
    age = now - stated
    units = (unit for length, unit in _MADE_OF_AGES if age >= length and age % length <= _WHILE_ASKED)
    return stated.astimezone(UTC) + (_UNITS[unit] if (unit := next(units, None)) is not None else timedelta())


def _parse_day_end(words: str) -> datetime | None:
    for form in _DAY_FORMS:
        try:
            day = datetime.strptime(f"{words} +0000", f"{form} %z")
        except ValueError:
            continue
        return day + timedelta(days=1) + _WEST_MOST
    return None


def _parse_instant(words: str) -> datetime | None:
    """Return an instant in ISO 8601 or in the form of e-mail, or None."""
    try:
        instant = datetime.fromisoformat(words)
    except ValueError:
        try:
            instant = parsedate_to_datetime(words)
        except ValueError:
            return None
    if instant.time() == time():
        return instant.replace(tzinfo=UTC) + timedelta(days=1) + _WEST_MOST
    if instant.tzinfo is None:
        # It may be the author's local time.
        return instant.replace(tzinfo=UTC) + _WEST_MOST
    return instant.astimezone(UTC)
