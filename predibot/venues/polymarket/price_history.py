"""The price history of a token at the CLOB: windows of at most 15 days, joined and cleaned."""

import logging
import math
from collections.abc import Iterator
from datetime import datetime, timedelta

from predibot.errors import VenueChanged
from predibot.venues import fields
from predibot.venues.http import RequestRefusal, VenueClient

WINDOW = timedelta(days=15)
FINE_MINUTES = 60
COARSE_MINUTES = 720
"""Settled markets have nothing finer."""
NOW_MARGIN = timedelta(seconds=60)
"""The venue appends a point of *now*, on no grid, to every answer, so points of the last minute are dropped. If the two
clocks agree to a minute, this drops it for certain; the real prices of that minute are read next time.
"""

_log = logging.getLogger(__name__)


def read_history(
    client: VenueClient, url: str, token_id: str, *, start: datetime, until: datetime, now: datetime
) -> list[dict[str, object]]:
    """Return the venue's points of a token with start < t <= until, oldest first.

    Asks `/prices-history` of the CLOB for hourly points, and for 12-hourly ones where the range has none. Of two points
    at one time the last one written counts. Malformed points are left out as long as a valid one remains. For `now` see
    `NOW_MARGIN`. Raises `VenueUnavailable` if a window could not be read, and `VenueChanged` if an answer breaks the
    contract.
    """
    first = max(start, fields.EARLIEST_END)
    last = min(until, now - NOW_MARGIN)
    for fidelity_minutes in (FINE_MINUTES, COARSE_MINUTES):
        points: dict[datetime, dict[str, object]] = {}
        broken: list[VenueChanged] = []
        for from_seconds, to_seconds in windows(first, last):
            for point in _read_window(client, url, token_id, from_seconds, to_seconds, fidelity_minutes):
                try:
                    at = _point_instant(point, token_id)
                except VenueChanged as error:
                    broken.append(error)
                    continue
                if first < at <= last:
                    points[at] = point
        if points:
            if broken:
                _log.warning("%d points of a price history are left out: %s", len(broken), broken[0])
            return [points[at] for at in sorted(points)]
        if broken:
            raise broken[0]
    return []


def windows(start: datetime, until: datetime) -> Iterator[tuple[int, int]]:
    """Yield bounds in unix seconds that cover a range in steps the venue accepts.

    Examples:
        >>> from predibot.domain.clock import parse_instant
        >>> list(windows(parse_instant("2026-01-01"), parse_instant("2026-01-20")))
        [(1767225600, 1768521600), (1768521600, 1768867200)]
    """
    step = int(WINDOW.total_seconds())
    begin, end = math.floor(start.timestamp()), math.ceil(until.timestamp())
    while start < until and begin < end:
        yield begin, min(begin + step, end)
        begin += step


def _read_window(
    client: VenueClient, url: str, token_id: str, from_seconds: int, to_seconds: int, fidelity_minutes: int
) -> list[dict[str, object]]:
    """Return the points of an answer; none for a token that the CLOB does not know yet."""
    params = [
        ("market", token_id),
        ("startTs", str(from_seconds)),
        ("endTs", str(to_seconds)),
        ("fidelity", str(fidelity_minutes)),
    ]
    try:
        answer = client.get(url, params)
    except RequestRefusal as refusal:
        if refusal.status == 404:
            return []
        raise
    if not isinstance(answer, dict) or "history" not in answer:
        raise VenueChanged(
            f"{url} answered no history of token {token_id} but {fields.short_repr(answer)}; update predibot"
        )
    points = answer["history"] if answer["history"] is not None else []
    if not isinstance(points, list):
        raise VenueChanged(f"{url} answered a history of token {token_id} that is no list of points; update predibot")
    return points


def _point_instant(point: object, token_id: str) -> datetime:
    try:
        if not isinstance(point, dict):
            raise ValueError("it is no object")
        fields.require_price(point.get("p"))
        return fields.unix_instant(point.get("t"))
    except ValueError as error:
        raise VenueChanged(
            f"the price history of token {token_id} holds {fields.short_repr(point)}: {error}"
        ) from error
