"""The HTTP client of the venues: JSON in, JSON out, whole or not at all, within one deadline."""

import logging
import math
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import MappingProxyType, TracebackType
from typing import Self

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type

from predibot.errors import UsageError, VenueChanged, VenueUnavailable
from predibot.net.deadline import GRACE_SECONDS, in_time
from predibot.net.rate_limit import RateLimiter
from predibot.net.retry_after import asked_wait_seconds, wait_seconds
from predibot.net.tls import LateTrust, proxy_checked
from predibot.venues import fields

MAX_RESPONSE_BYTES = 64 * 1024 * 1024
MAX_TRIES = 6
MAX_ASKED_TRIES = 20
"""Where the venue itself says when to come back, the deadline is what ends it."""
MAX_CONNECT_TRIES = 3
"""A host that cannot be reached at all is given up sooner."""
LONGEST_WAIT_SECONDS = 8.0
SILENCE_SECONDS = 20.0
"""How long a connection may say nothing before the try counts as failed."""
TRY_SHARE = 0.5
"""Of a call's time, what a single try may take: an answer that drips leaves time for another."""
SEEN_CHARACTERS = 200
RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
BARRED_STATUSES = frozenset({401, 403, 407, 408, 425, 451})
"""Final, but no sign of a changed contract: this network or moment is barred."""
_THIS_MACHINE = ("all://127.0.0.1", "all://localhost", "all://[::1]")
_PASSWORD = re.compile("//[^/@]*@")
_NO_RATES: Mapping[str, float] = MappingProxyType({})

_log = logging.getLogger(__name__)


class RequestRefused(VenueChanged):
    """The venue refuses this very request; asking again would not help."""

    def __init__(self, message: str, status: int) -> None:
        """Keep the HTTP status, so that a caller can tell what is missing from what is wrong."""
        super().__init__(message)
        self.status = status


class _TryAgain(VenueUnavailable):
    """One try failed in a way that another may not."""

    def __init__(self, message: str, *, wait_seconds: float | None = None, tries: int = MAX_TRIES) -> None:
        super().__init__(message)
        self.wait_seconds = wait_seconds
        self.tries = tries


def utc_now() -> datetime:
    """Return this instant."""
    return datetime.now(UTC)


@contextmanager
def translated(asked: str) -> Iterator[None]:
    """Turn every error of httpx into one of ours.

    Args:
        asked: What was asked of whom, for the message.

    Raises:
        UsageError: If the address itself is none.
        VenueUnavailable: For anything between here and the venue; another try
            may succeed.
    """
    try:
        yield
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
        raise UsageError(f"{asked}: {error}; mend the address in the settings") from error
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
        raise _TryAgain(f"{asked}: no connection ({_said(error)})", tries=MAX_CONNECT_TRIES) from error
    except httpx.TimeoutException as error:
        raise _TryAgain(f"{asked}: no answer in time ({_said(error)})") from error
    except httpx.HTTPError as error:
        raise _TryAgain(f"{asked}: the answer broke off ({_said(error)})") from error


class JsonClient:
    """Asks venues for JSON over one pool of connections; thread-safe."""

    def __init__(
        self,
        *,
        deadline_seconds: float = 60.0,
        requests_per_10_seconds: Mapping[str, float] = _NO_RATES,
        transport: httpx.BaseTransport | None = None,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        now: Callable[[], datetime] = utc_now,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        rng: random.Random | None = None,
    ) -> None:
        """Open the client; connections are made when they are needed.

        Args:
            deadline_seconds: For one call with all its tries and waits.
            requests_per_10_seconds: By address prefix; see `RateLimiter`.
            transport: Replaces the network in tests.
            max_response_bytes: Decoded; more is refused.
            now: For a `Retry-After` that is a date, where the answer has none.
            monotonic: A clock in seconds that never goes back.
            sleep: Waits that many seconds; Ctrl-C goes through it.
            rng: For the jitter of the waits.
        """
        self._client = _opened(transport)
        self._deadline_seconds = deadline_seconds
        self._limiter = RateLimiter(requests_per_10_seconds, monotonic=monotonic, sleep=sleep)
        self._max_response_bytes = max_response_bytes
        self._now = now
        self._monotonic = monotonic
        self._sleep = sleep
        self._rng = rng or random.Random()

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def until(self, seconds: float) -> float:
        """Return the instant so many seconds from now, on the clock that `get` takes its `until` from."""
        return self._monotonic() + seconds

    def get(self, url: str, params: Sequence[tuple[str, str]] = (), *, until: float | None = None) -> object:
        """Return the decoded answer to a GET.

        Args:
            url: Without a query.
            params: The query.
            until: When the work that this call is a part of has to be done; see `until`.

        Raises:
            RequestRefused: If the venue refuses it; its `status` says how.
            VenueChanged: If the answer is no JSON, or too long.
            VenueUnavailable: If no whole answer came within the deadline.
        """
        return self._call("GET", url, params=params, body=None, until=until)

    def post(self, url: str, body: object) -> object:
        """Return the decoded answer to a POST of JSON that only reads; errors as in `get`."""
        return self._call("POST", url, params=(), body=body)

    def _call(
        self, method: str, url: str, *, params: Sequence[tuple[str, str]], body: object, until: float | None = None
    ) -> object:
        """Try until there is a whole answer, the venue refuses, or the deadline is reached."""
        started = self._monotonic()
        deadline = min(started + self._deadline_seconds, math.inf if until is None else until)
        retrying = Retrying(
            retry=retry_if_exception_type(_TryAgain),
            wait=self._wait_seconds,
            stop=lambda state: self._is_last(state, deadline),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return retrying(self._once, method, url, params, body, deadline)
        except _TryAgain as failure:
            seconds = self._monotonic() - started
            tries = retrying.statistics["attempt_number"]
            wait = "" if failure.wait_seconds is None else f", and it asks to wait {failure.wait_seconds:.0f} s"
            raise VenueUnavailable(
                f"{failure}; given up after {tries} tries in {seconds:.0f} s{wait}. Try again later"
            ) from failure

    def _wait_seconds(self, state: RetryCallState) -> float:
        """Return how long to wait before the next try: what the venue asks for, else longer each time."""
        failure = state.outcome.exception() if state.outcome else None
        asked_seconds = failure.wait_seconds if isinstance(failure, _TryAgain) else None
        return wait_seconds(state.attempt_number, asked_seconds, longest_seconds=LONGEST_WAIT_SECONDS, rng=self._rng)

    def _is_last(self, state: RetryCallState, deadline: float) -> bool:
        """Return whether a further try would be one too many or come too late."""
        failure = state.outcome.exception() if state.outcome else None
        tries = failure.tries if isinstance(failure, _TryAgain) else MAX_TRIES
        _log.debug("try %d failed: %s", state.attempt_number, failure)
        return state.attempt_number >= tries or self._monotonic() + state.upcoming_sleep >= deadline

    def _once(self, method: str, url: str, params: Sequence[tuple[str, str]], body: object, deadline: float) -> object:
        """Return the answer of a single try."""
        asked = f"{method} {_PASSWORD.sub('//***@', url)}"
        self._limiter.wait(url, until=deadline)
        began = self._monotonic()
        left_seconds = max(0.001, min(deadline - began, TRY_SHARE * self._deadline_seconds))
        request = {"params": list(params)} if body is None else {"json": body}

        def exchange() -> tuple[httpx.Response, bytes]:
            silence_seconds = min(SILENCE_SECONDS, left_seconds)
            with translated(asked), self._client.stream(method, url, timeout=silence_seconds, **request) as response:
                return response, self._read(response, asked, began, left_seconds)

        try:
            response, text = in_time(exchange, left_seconds + GRACE_SECONDS)
        except TimeoutError:
            raise _TryAgain(
                f"{asked}: no whole answer in {left_seconds:.3g} s; is call_deadline_seconds high enough?"
            ) from None
        self._check_status(response, asked, text)
        return _decoded(text, asked)

    def _read(self, response: httpx.Response, asked: str, began: float, most_seconds: float) -> bytes:
        """Return the whole body, as long as it comes in time and is not too long."""
        pieces: list[bytes] = []
        length = 0
        for piece in response.iter_bytes():
            length += len(piece)
            if length > self._max_response_bytes:
                raise VenueChanged(f"{asked} answered more than {self._max_response_bytes:,} bytes; ask for less")
            if self._monotonic() - began >= most_seconds:
                raise _TryAgain(
                    f"{asked}: {length:,} bytes came in {most_seconds:.3g} s and no end; "
                    "is call_deadline_seconds high enough?"
                )
            pieces.append(piece)
        return b"".join(pieces)

    def _check_status(self, response: httpx.Response, asked: str, text: bytes) -> None:
        """Raise what an answer other than success means."""
        status = response.status_code
        if response.is_success:
            return
        said = f"{asked} answered {status} {_harmless(text)}"
        if status in RETRIED_STATUSES:
            asked_seconds = asked_wait_seconds(response.headers, self._now())
            tries = MAX_TRIES if asked_seconds is None else MAX_ASKED_TRIES
            raise _TryAgain(said, wait_seconds=asked_seconds, tries=tries)
        if status in BARRED_STATUSES:
            raise VenueUnavailable(f"{said}; this network is barred or has to log in, try from another")
        if status >= 500:
            raise VenueUnavailable(f"{said}; try again later")
        raise RequestRefused(f"{said}; see whether the address in the settings and predibot are up to date", status)


def _opened(transport: httpx.BaseTransport | None) -> httpx.Client:
    """Return a client that takes the environment's proxies, but not for hosts on this machine."""
    with proxy_checked():
        return httpx.Client(
            transport=transport,
            mounts=dict.fromkeys(_THIS_MACHINE),
            headers={"accept": "application/json", "user-agent": "predibot"},
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
            timeout=SILENCE_SECONDS,
            follow_redirects=False,
            verify=LateTrust(),
        )


def _decoded(text: bytes, asked: str) -> object:
    """Return the JSON of a body; one that breaks off is asked for again, anything else is no contract."""
    try:
        return fields.loads(text)
    except ValueError as error:
        if not text.strip() or text.lstrip()[:1] in (b"{", b"["):
            raise _TryAgain(f"{asked} answered JSON that is not whole: {error}, {_harmless(text[-80:])}") from error
        raise VenueChanged(
            f"{asked} answered no JSON but {_harmless(text)}; see whether the address is right"
        ) from error


def _harmless(text: bytes) -> str:
    """Return the beginning of an answer as one line without control characters."""
    return repr(text[: 4 * SEEN_CHARACTERS].decode("utf-8", "replace")[:SEEN_CHARACTERS])


def _said(error: Exception) -> str:
    """Return what a foreign error says, or at least its kind."""
    return str(error) or type(error).__name__
