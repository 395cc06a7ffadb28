"""The HTTP client of the venues, and the base of live ones: JSON in and out, whole answers, one deadline."""

import ipaddress
import math
import random
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from predibot.contracts import OpenVenue, Paces, Venue, VenueRequest
from predibot.errors import UsageError, VenueChanged, VenueUnavailable
from predibot.net.api_keys import Key
from predibot.net.failures import MAX_ASKED_TRIES, BadAddress, BadAnswer, LateAnswer, TryAgain
from predibot.net.json_client import SEEN_CHARACTERS, HttpAnswer, JsonClient
from predibot.net.rate_limit import RateLimiter
from predibot.net.retry import RetryPolicy, retry_after_seconds
from predibot.venues import fields

MAX_RESPONSE_BYTES = 64 * 1024 * 1024
MAX_TRIES = 6
LONGEST_WAIT_SECONDS = 8.0
SILENCE_SECONDS = 20.0
"""A try fails after this long without a byte."""
TRY_SHARE = 0.5
"""The share of a call's time for one try, so that a dripping answer leaves time for another."""
RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
BARRED_STATUSES = frozenset({401, 403, 407, 408, 425, 451})
"""These statuses end the call. They say that the venue bars this network or this moment, not that the venue changed."""
KEY_STATUSES = frozenset({401, 402, 403})
"""If a key was sent, these statuses say that it is wrong or lacks rights."""
NO_SUCH_OBJECT = (400, 404, 422)
SAME_WORK = timedelta(minutes=15)
"""A settlement first seen this soon after the instant of the work counts as seen at it."""
_NO_RATES: Mapping[str, float] = MappingProxyType({})


class RequestRefusal(VenueChanged):
    """The venue refuses this very request; another try would not help."""

    def __init__(self, message: str, status: int) -> None:
        """Keep the HTTP status, which differs for a missing object and a wrong request."""
        super().__init__(message)
        self.status = status


class VenueClient(AbstractContextManager["VenueClient"]):
    """Asks venues for JSON over one pool of connections; thread-safe."""

    def __init__(
        self,
        *,
        deadline_seconds: float = 60.0,
        key: Key | None = None,
        authorization: str = "Bearer",
        key_parameter: str | None = None,
        requests_per_10_seconds: Mapping[str, float] = _NO_RATES,
        transport: httpx.BaseTransport | None = None,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        rng: random.Random | None = None,
        paces: Paces | None = None,
    ) -> None:
        """Open the client; connections are made on demand.

        Args:
            deadline_seconds: For one call with all its tries and waits.
            key: Most venues want none; `authorization` and `key_parameter` say how `JsonClient` sends it.
            requests_per_10_seconds: By address prefix; see `RateLimiter`.
            transport: Replaces the network in tests.
            max_response_bytes: Decoded; a longer answer is refused.
            now: The time now. A `Retry-After` may be a date, measured by it if the answer has no `Date` of its own.
            monotonic: A clock in seconds that never goes back.
            sleep: Waits that many seconds.
            rng: For the jitter of the waits.
            paces: Limits shared with other processes; None for this one alone.
        """
        self._key = key
        self._client = JsonClient(
            key=key,
            authorization=authorization,
            key_parameter=key_parameter,
            max_bytes=max_response_bytes,
            takes_compressed=True,
            silence_seconds=SILENCE_SECONDS,
            transport=transport,
            monotonic=monotonic,
        )
        self._retry = RetryPolicy(
            tries=MAX_TRIES,
            lost_tries=MAX_TRIES,
            longest_wait_seconds=LONGEST_WAIT_SECONDS,
            monotonic=monotonic,
            sleep=sleep,
            rng=rng or random.Random(),
        )
        self._deadline_seconds = deadline_seconds
        self._limiter = RateLimiter(requests_per_10_seconds, monotonic=monotonic, sleep=sleep, paces=paces)
        self._now = now
        self._monotonic = monotonic

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def until(self, seconds: float) -> float:
        """Return the deadline in so many seconds, on the client's clock."""
        return self._monotonic() + seconds

    def get(
        self,
        url: str,
        params: Sequence[tuple[str, str]] = (),
        *,
        until: float = math.inf,
        check: Callable[[object], None] = lambda answer: None,
    ) -> object:
        """Return the decoded answer to a GET; `until` is the deadline of the whole work.

        `check` raises `TryAgain` for an answer that a further try may replace.

        Raises:
            RequestRefusal: If the venue refuses it; its `status` says how.
            VenueChanged: If the answer is no JSON, or too long.
            VenueUnavailable: If no whole answer came within the deadline.
            UsageError: If the address is wrong, or the key is refused.
        """
        return self._request("GET", url, params, None, until, check)

    def post(self, url: str, body: object) -> object:
        """Return the decoded answer to a POST of JSON that only reads; errors as in `get`."""
        return self._request("POST", url, (), body, math.inf, lambda answer: None)

    def _request(
        self,
        method: str,
        url: str,
        params: Sequence[tuple[str, str]],
        body: object,
        until: float,
        check: Callable[[object], None],
    ) -> object:
        deadline = min(self.until(self._deadline_seconds), until)

        def once() -> object:
            self._limiter.wait(url, until=deadline)
            seconds = max(0.001, min(deadline - self._monotonic(), TRY_SHARE * self._deadline_seconds))
            try:
                received = self._client.ask(method, url, params=list(params), body=body, seconds=seconds)
            except LateAnswer as late:
                raise LateAnswer(f"{late}; is call_deadline_seconds high enough?") from None
            answer = self._decode(received)
            check(answer)
            return answer

        try:
            return self._retry.call(once, deadline=deadline, given_up=VenueUnavailable)
        except BadAddress as error:
            raise UsageError(f"{error}; fix the address in the settings") from None
        except BadAnswer as error:
            raise VenueChanged(str(error)) from None

    def _decode(self, received: HttpAnswer) -> object:
        status = received.status
        if received.is_success:
            return received.json(fields.loads)
        said = f"{received.asked} answered {status} {received.text()[:SEEN_CHARACTERS]!r}"
        if status in RETRIED_STATUSES:
            asked_seconds = retry_after_seconds(received.headers, self._now())
            raise TryAgain(said, wait_seconds=asked_seconds, tries=None if asked_seconds is None else MAX_ASKED_TRIES)
        if self._key is not None and status in KEY_STATUSES:
            raise UsageError(f"{said}; see whether the key in {self._key.name} is right and its plan has this")
        if status in BARRED_STATUSES:
            raise VenueUnavailable(f"{said}; this network is barred or has to log in, try from another")
        if status >= 500:
            raise VenueUnavailable(f"{said}; try again later")
        if 300 <= status < 400:
            # The new address is not shown: it may quote the key.
            fix = "redirects are not followed: fix the address in the settings, or update predibot"
            raise RequestRefusal(f"{said}; {fix}", status)
        raise RequestRefusal(f"{said}; see whether the address in the settings and predibot are up to date", status)


def is_local(url: str) -> bool:
    """Return whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class LiveVenue(Venue):
    """A venue that answers over HTTP, as of now; thread-safe."""

    name, live = "", True

    def __init__(
        self,
        *,
        clock: Callable[[], datetime],
        name: str = "",
        live: bool = True,
        list_deadline_seconds: float = 60.0,
        **options: Any,
    ) -> None:
        """Open a client; `clock` is the time at the venue, because the sandbox has its own.

        `name` is that of the instruments' venue, by default this one. `live` says whether quotes age while a bot
        thinks. Each venue says what its `list_deadline_seconds` cover. The `options` are those of `VenueClient`.
        """
        self._clock = clock
        self.name = name or self.name
        self.live = live
        self._list_deadline_seconds = list_deadline_seconds
        self._client = VenueClient(now=clock, **options)

    def __enter__(self) -> Self:
        """Return the venue itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self._client.close()

    def raw_events(self, *, enough: Callable[[Sequence[object]], bool] | None = None) -> Iterator[list[object]]:
        """Yield the open events that are played, page by page, as the venue wrote them."""
        objects: list[object] = []
        for payloads in self._raw_pages():
            objects.extend(payloads)
            yield payloads
            if enough is not None and enough(objects):
                return

    @abstractmethod
    def _raw_pages(self) -> Iterator[list[object]]: ...

    def _first_seen_at(self, as_of: datetime) -> datetime:
        """Return the instant to store for something seen now: `as_of` if at most 15 minutes ago, else the time now."""
        now = self._clock()
        return as_of if timedelta(0) <= now - as_of <= SAME_WORK else now


def open_live(request: VenueRequest, client: Callable[..., LiveVenue], **urls: str) -> OpenVenue:
    """Return a live venue at the requested instant, with the deadlines of the settings."""
    now, closing = request.live_instant(), ExitStack()
    venue = client(
        **urls,
        clock=request.clock,
        deadline_seconds=request.settings.call_deadline_seconds,
        list_deadline_seconds=request.settings.list_deadline_seconds,
        paces=request.paces,
    )
    return OpenVenue(request.spec, closing.enter_context(venue), now, closing)


_TOLERANCE = 0.05
"""Volumes change while a list is read: a small wrong step is no broken order."""


def order_notes(volumes: Sequence[float | None]) -> tuple[str, ...]:
    """Return a note where a list is not in order of volume, highest first; a venue's order is only a hint.

    Examples:
        >>> order_notes([9.0, 7.0, None, 8.0, 1.0])
        ('1 of the 5 events listed stand below one with less volume; they are ranked here',)
        >>> order_notes([9.0, None, 8.0])
        ()
    """
    lowest, late = float("inf"), 0
    for volume in volumes:
        if volume is not None:
            late += volume > lowest * (1.0 + _TOLERANCE) + _TOLERANCE
            lowest = min(lowest, volume)
    if not late:
        return ()
    return (f"{late} of the {len(volumes)} events listed stand below one with less volume; they are ranked here",)
