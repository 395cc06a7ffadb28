"""Waiting: how long to leave somebody alone before asking again."""

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_WAIT_SECONDS = 0.5
_UNITS = (("retry-after-ms", 0.001), ("retry-after", 1.0))


def wait_seconds(tries: int, asked_seconds: float | None, *, longest_seconds: float, rng: random.Random) -> float:
    """Return how long to wait before the next try: what was asked for, else about twice as long each time.

    Args:
        tries: Made so far, from 1.
        asked_seconds: What whoever refused asks for; None for nothing.
        longest_seconds: Of a wait that nobody asked for.
        rng: Draws the jitter: many who failed at the same instant, or were told
            the same one, should not all come back at it.

    Examples:
        >>> rng = random.Random(1)
        >>> 1.0 <= wait_seconds(3, None, longest_seconds=8.0, rng=rng) <= 2.0
        True
        >>> 7.0 < wait_seconds(3, 7.0, longest_seconds=8.0, rng=rng) <= 7.4
        True
    """
    own_seconds = rng.uniform(0.5, 1.0) * min(longest_seconds, FIRST_WAIT_SECONDS * 2.0 ** (tries - 1))
    return own_seconds if asked_seconds is None else asked_seconds + 0.2 * own_seconds


def asked_wait_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return what `Retry-After` asks for, in any of its forms; None where it says nothing readable.

    Args:
        headers: Of the answer, with names in lower case or of any case-blind kind.
        now: For a date, where the answer has none of its own.

    Examples:
        >>> asked_wait_seconds({"retry-after": "7"}, datetime(2026, 2, 13, tzinfo=UTC))
        7.0
    """
    for name, unit_seconds in _UNITS:
        text = headers.get(name, "").strip()
        if text.isascii() and text.replace(".", "", 1).isdigit():
            return float(text[:12]) * unit_seconds
    at = _http_date(headers.get("retry-after", ""))
    if at is None:
        return None
    # The other's own clock beside it makes ours unimportant.
    return max(0.0, (at - (_http_date(headers.get("date", "")) or now)).total_seconds())


def _http_date(text: str) -> datetime | None:
    """Return the instant of an HTTP date, or None."""
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
