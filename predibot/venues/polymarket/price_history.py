"""The price history of a token at the CLOB: windows of at most 15 days, put together and cleaned."""

import logging
import math
from collections.abc import Iterator
from datetime import datetime, timedelta

from predibot.errors import VenueChanged
from predibot.venues import fields
from predibot.venues.http import RequestRefused, VenueClient

WINDOW = timedelta(days=15)
FINE_MINUTES = 60
COARSE_MINUTES = 720
"""Settled markets answer nothing finer."""
NOW_MARGIN = timedelta(seconds=60)
"""The venue appends a point of *now* to every answer, whatever was asked.

Nothing is accepted that is not a minute older than our now, so that this point,
which belongs to no grid, is dropped for certain as long as the two clocks agree
to a minute. What really happened in that minute is read next time.
"""

_log = logging.getLogger(__name__)


def read_history(
    client: VenueClient, url: str, token_id: str, *, start: datetime, until: datetime, now: datetime
) -> list[dict[str, object]]:
    """Return the points of a token with start < t <= until as the venue wrote them, oldest first.

    Asks for hourly points, and for one every 12 hours where the whole range has
    none. Of two points at one time the last one written counts. One that cannot
    be read is left out, as long as another can.

    Args:
        client: Asks.
        url: Of the CLOB's `/prices-history`.
        token_id: The token; the parameter is called `market` but takes no market.
        start: Points at it are left out.
        until: The last instant wanted.
        now: The client's own instant; see `NOW_MARGIN`.

    Raises:
        VenueUnavailable: If a window could not be read.
        VenueChanged: If an answer does not keep the contract.
    """
    first = max(start, fields.EARLIEST_END)
    last = min(until, now - NOW_MARGIN)
    for fidelity_minutes in (FINE_MINUTES, COARSE_MINUTES):
        points: dict[datetime, dict[str, object]] = {}
        broken: list[VenueChanged] = []
        for from_seconds, to_seconds in windows(first, last):
            for point in _read_window(client, url, token_id, from_seconds, to_seconds, fidelity_minutes):
                try:
                    at = _checked_at(point, token_id)
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
    """Return the points of one answer; none where the CLOB does not know the token yet."""
    params = [
        ("market", token_id),
        ("startTs", str(from_seconds)),
        ("endTs", str(to_seconds)),
        ("fidelity", str(fidelity_minutes)),
    ]
    try:
        answer = client.get(url, params)
    except RequestRefused as refusal:
        if refusal.status == 404:
            return []
        raise
    if not isinstance(answer, dict) or "history" not in answer:
        raise VenueChanged(f"{url} answered no history of token {token_id} but {fields.seen(answer)}; update predibot")
    points = answer["history"] if answer["history"] is not None else []
    if not isinstance(points, list):
        raise VenueChanged(f"{url} answered a history of token {token_id} that is no list of points; update predibot")
    return points


def _checked_at(point: object, token_id: str) -> datetime:
    """Return when a point is, once its price is known to be one."""
    try:
        if not isinstance(point, dict):
            raise ValueError("it is no object")
        fields.stated_price(point.get("p"))
        return fields.unix_instant(point.get("t"))
    except ValueError as error:
        raise VenueChanged(f"the price history of token {token_id} holds {fields.seen(point)}: {error}") from error
