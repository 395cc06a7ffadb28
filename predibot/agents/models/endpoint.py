"""An endpoint: one base URL that answers JSON, asked with one key, within bounds of size and time."""

import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx

from predibot.agents.models.chat_wire import has_usage, json_or_none, loaded_json
from predibot.errors import ModelError, ModelRefused, UsageError
from predibot.net.api_keys import Key, masked, masked_text
from predibot.net.deadline import GRACE_SECONDS, in_time
from predibot.net.failures import (
    MAX_CONNECT_TRIES,
    AnswerLost,
    AnswerUnusable,
    TryAgain,
    failure_of_status,
    one_line,
)
from predibot.net.retry_after import asked_wait_seconds
from predibot.net.tls import LateTrust, proxy_checked

MAX_REPLY_BYTES = 16 * 1024 * 1024
TRY_SECONDS = 300.0
CONNECT_SECONDS = 10.0
_THIS_MACHINE = ("all://127.0.0.1", "all://localhost", "all://[::1]")


@dataclass(frozen=True, slots=True)
class Received:
    """An HTTP answer, whole."""

    asked: str
    """What was asked, as messages name it."""
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """Return whether it is what was asked for."""
        return 200 <= self.status < 300


class Endpoint:
    """A base URL, which may be on a private network because the user set it; thread-safe.

    Redirects are not followed, answers are bounded in size and time, and the
    key is masked in whatever comes back.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: Key | None = None,
        max_reply_bytes: int = MAX_REPLY_BYTES,
        transport: httpx.BaseTransport | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open it; connections are made when they are needed.

        Args:
            base_url: For example `http://localhost:11434/v1`.
            key: Sent as a bearer token; None sends none.
            max_reply_bytes: More is refused.
            transport: Replaces the network in tests.
            now: For a `Retry-After` that is a date.
            monotonic: A clock in seconds that never goes back.

        Raises:
            UsageError: If the base URL is none.
        """
        self._url = _checked_url(base_url)
        self._key = key
        self._max_reply_bytes = max_reply_bytes
        self._now = now
        self._monotonic = monotonic
        self._client = _opened(transport, key)
        # Whoever drops the endpoint drops its connections, tidily.
        weakref.finalize(self, self._client.close)

    @property
    def host(self) -> str:
        """Return host and port, as messages and breakers name the place."""
        return self._url.netloc.decode()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, method: str, path: str, body: Mapping[str, object] | None = None, *, seconds: float) -> Received:
        """Return the whole answer to one request, whatever its status.

        Args:
            method: Of HTTP.
            path: Below the base URL, such as `/chat/completions`.
            body: Sent as JSON.
            seconds: For all of it.

        Raises:
            TryAgain: If there was no connection, so that nothing was sent.
            AnswerLost: If the request was sent and no whole answer came.
            AnswerUnusable: If the answer is too long, or compressed.
        """
        url = self._below(path)
        # Neither the password nor the query of an address is anybody's to see.
        asked = f"{method} {url.scheme}://{self.host}{url.path}"
        ends = self._monotonic() + seconds
        try:
            return in_time(lambda: self._exchange(asked, method, url, body, ends, seconds), seconds + GRACE_SECONDS)
        except TimeoutError:
            raise AnswerLost(f"{asked}: no whole answer in {seconds:.3g} s") from None

    def tell(self, method: str, path: str, *, seconds: float) -> None:
        """Send a request without a body and pass over what comes of it, in this thread.

        For whoever leaves: at the end of the program no thread can be started any more.
        """
        with suppress(httpx.HTTPError), self._client.stream(method, self._below(path), timeout=seconds):
            pass

    def failure(self, received: Received) -> ModelError:
        """Return what an answer other than success means."""
        said = f"{received.asked} answered {received.status} {one_line(self.text(received))!r}"
        wait_seconds = asked_wait_seconds(received.headers, self._now())
        return failure_of_status(
            received.status,
            said,
            key_name=self.key_name,
            wait_seconds=wait_seconds,
            is_charged=has_usage(json_or_none(received.body)),
        )

    def text(self, received: Received, *, most_bytes: int = 20_000) -> str:
        """Return the beginning of an answer as text, without the key wherever the server put it."""
        return masked_text(received.body[:most_bytes].decode("utf-8", "replace"), self._key)

    def json_object(self, received: Received) -> dict[str, object]:
        """Return the JSON of an answer, without the key wherever the server put it.

        Raises:
            AnswerLost: If it breaks off.
            AnswerUnusable: If it is something else.
        """
        try:
            value = masked(loaded_json(received.body), self._key)
        except (ValueError, RecursionError) as error:
            value = None
            if not received.body.strip() or received.body.lstrip()[:1] == b"{":
                kind = type(error).__name__
                raise AnswerLost(f"{received.asked} answered JSON that is not whole ({kind})") from None
        if not isinstance(value, dict):
            seen = one_line(self.text(received, most_bytes=2_000))
            raise AnswerUnusable(f"{received.asked} answered no object but {seen!r}; see whether the base URL is right")
        return value

    @property
    def key_name(self) -> str:
        """Return the setting that holds the key, for messages."""
        return self._key.name if self._key else "its key"

    def _below(self, path: str) -> httpx.URL:
        """Return the address of a path below the base URL, whose query is kept."""
        return self._url.copy_with(path=self._url.path.rstrip("/") + path)

    def _exchange(
        self, asked: str, method: str, url: httpx.URL, body: Mapping[str, object] | None, ends: float, seconds: float
    ) -> Received:
        """Send the request and read the whole answer."""
        timeout = httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        with (
            _translated(asked, self._key),
            self._client.stream(method, url, json=body, timeout=timeout) as response,
        ):
            if response.headers.get("content-encoding", "identity") != "identity":
                raise _unusable(response)(f"{asked} answered compressed, which was not asked for; turn that off there")
            return Received(asked, response.status_code, dict(response.headers), self._read(asked, response, ends))

    def _read(self, asked: str, response: httpx.Response, ends: float) -> bytes:
        """Return the whole body, as long as it comes in time and is not too long."""
        pieces: list[bytes] = []
        length = 0
        for piece in response.iter_bytes():
            length += len(piece)
            if length > self._max_reply_bytes:
                too_long = f"{asked} answered more than {self._max_reply_bytes:,} bytes; ask for fewer tokens"
                raise _unusable(response)(too_long)
            if self._monotonic() >= ends:
                raise AnswerLost(f"{asked}: {length:,} bytes came in time and no end")
            pieces.append(piece)
        return b"".join(pieces)


def _unusable(response: httpx.Response) -> type[ModelRefused]:
    """Return what an answer is that cannot be taken: a success may have been paid for, an error was not."""
    return AnswerUnusable if response.is_success else ModelRefused


def _checked_url(base_url: str) -> httpx.URL:
    """Return a base URL that is one."""
    try:
        url = httpx.URL(base_url)
    except (httpx.InvalidURL, TypeError) as error:
        raise UsageError(f"{base_url!r} is no base URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        raise UsageError(
            f"a model's base URL looks like http://localhost:11434/v1, without a password; got host {url.host!r}"
        )
    return url


def _opened(transport: httpx.BaseTransport | None, key: Key | None) -> httpx.Client:
    """Return a client that takes the environment's proxies, but not for this machine, and no other settings."""
    headers = {"accept": "application/json", "accept-encoding": "identity", "user-agent": "predibot"}
    if key is not None:
        headers["authorization"] = f"Bearer {key.value}"
    with proxy_checked():
        return httpx.Client(
            transport=transport,
            mounts=dict.fromkeys(_THIS_MACHINE),
            headers=headers,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
            timeout=TRY_SECONDS,
            follow_redirects=False,
            verify=LateTrust(),
        )


@contextmanager
def _translated(asked: str, key: Key | None) -> Iterator[None]:
    """Turn every error of httpx into one of ours, without the key and without its cause, which may hold it."""
    try:
        yield
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
        raise ModelRefused(f"{asked}: {_said(error, key)}; mend the base URL") from None
    except httpx.LocalProtocolError as error:
        raise ModelRefused(f"{asked}: {_said(error, key)}; mend the key or the base URL") from None
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
        raise TryAgain(f"{asked}: no connection ({_said(error, key)})", tries=MAX_CONNECT_TRIES) from None
    except httpx.TimeoutException as error:
        raise AnswerLost(f"{asked}: no answer in time ({_said(error, key)})") from None
    except httpx.HTTPError as error:
        raise AnswerLost(f"{asked}: the answer broke off ({_said(error, key)})") from None


def _said(error: Exception, key: Key | None) -> str:
    """Return what a foreign error says, or at least its kind."""
    return one_line(masked_text(str(error), key)) or type(error).__name__
