"""The HTTP client: returns a whole answer within bounds of size and time, or raises a failure that says why."""

import json
import re
import ssl
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
from httpx import create_ssl_context
from pydantic import BaseModel, ConfigDict

from predibot.domain.untrusted_text import require_shallow
from predibot.errors import UsageError
from predibot.net.api_keys import Key, mask_json, mask_text
from predibot.net.deadline import GRACE_SECONDS, call_within
from predibot.net.failures import (
    MAX_CONNECT_TRIES,
    BadAddress,
    BadAnswer,
    LateAnswer,
    LostAnswer,
    TryAgain,
    one_line,
)


class LateTrust(ssl.SSLContext):
    """The certificate authorities of `httpx`, read late: that takes 50 ms, and only TLS needs it.

    Until then it trusts nobody, so an unforeseen use fails closed.

    Examples:
        >>> LateTrust().verify_mode.name, LateTrust().check_hostname
        ('CERT_REQUIRED', True)
    """

    def __new__(cls) -> "LateTrust":
        """Return a context without authorities."""
        return super().__new__(cls, ssl.PROTOCOL_TLS_CLIENT)

    def __init__(self) -> None:
        """Start without authorities."""
        self._lock = threading.Lock()
        self._read: ssl.SSLContext | None = None

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        """Set the protocols of the next connection."""
        self._trusting().set_alpn_protocols(alpn_protocols)

    def wrap_socket(self, *args: Any, **kwargs: Any) -> ssl.SSLSocket:
        """Return a socket through TLS."""
        return self._trusting().wrap_socket(*args, **kwargs)

    def wrap_bio(self, *args: Any, **kwargs: Any) -> ssl.SSLObject:
        """Return TLS over memory, for a proxy that speaks TLS itself."""
        return self._trusting().wrap_bio(*args, **kwargs)

    def _trusting(self) -> ssl.SSLContext:
        with self._lock:
            if self._read is None:
                self._read = create_ssl_context()
            return self._read


MAX_BYTES = 16 * 1024 * 1024
CONNECT_SECONDS = 10.0
SEEN_CHARACTERS = 200
_THIS_MACHINE = ("all://127.0.0.1", "all://localhost", "all://[::1]")
_UNSENDABLE = (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, ValueError)
_NO_CONNECTION = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError)
_PASSWORD = re.compile("//[^/@]*@")


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A whole HTTP answer."""

    asked: str
    """The request and its host, as messages name them."""
    status: int
    headers: Mapping[str, str]
    """Names are in lower case."""
    body: bytes
    key: Key | None = field(default=None, repr=False)

    @property
    def is_success(self) -> bool:
        """Return whether the status is a success."""
        return 200 <= self.status < 300

    def text(self, *, most_bytes: int = 20_000) -> str:
        """Return the beginning as text, with the key masked if the server repeats it."""
        return mask_text(self.body[:most_bytes].decode("utf-8", "replace"), self.key)

    def json(self, loads: Callable[[bytes], object] = json.loads) -> object:
        """Return the decoded JSON, with the key masked if the server repeats it. Raises `LostAnswer` if it breaks off,
        and `BadAnswer` if it is no JSON, for which `loads` raises `ValueError` or `RecursionError`.
        """
        try:
            require_shallow(self.body)
            return mask_json(loads(self.body), self.key)
        except (ValueError, RecursionError) as error:
            message = str(error)
        if self.body.strip() and self.body.lstrip()[:1] not in (b"{", b"["):
            seen = self.text()[:SEEN_CHARACTERS]
            message = f"{self.asked} answered no JSON but {seen!r}; see whether the address is right"
            raise BadAnswer(message, self.status)
        end = mask_text(self.body[-80:].decode("utf-8", "replace"), self.key)
        raise LostAnswer(f"{self.asked} answered JSON that is not whole: {message}, {end!r}")


@dataclass(eq=False, repr=False, kw_only=True)
class JsonClient(AbstractContextManager["JsonClient"]):
    """A client with one pool of connections; thread-safe. Redirects are not followed, and the key is masked in answers.

    Hosts may be on a private network, because the user named them.
    """

    key: Key | None = None
    authorization: str = "Bearer"
    """The word before the key."""
    key_parameter: str | None = None
    """The query parameter that takes the key in place of the header. It is added when the request is sent, so no
    address that is logged or quoted contains the key."""
    max_bytes: int = MAX_BYTES
    """Longer answers, decompressed, are refused."""
    takes_compressed: bool = False
    silence_seconds: float = float("inf")
    """How long a connection may be silent before the answer counts as lost."""
    transport: httpx.BaseTransport | None = None
    monotonic: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        """Open the client, without a connection; raise `UsageError` if the environment names an invalid proxy."""
        headers = {"accept": "application/json", "user-agent": "predibot"}
        if not self.takes_compressed:
            headers["accept-encoding"] = "identity"
        if self.key is not None and self.key_parameter is None:
            headers["authorization"] = f"{self.authorization} {self.key.value}"
        self._client = open_client(headers=headers, transport=self.transport)
        # A client that is dropped closes its connections.
        weakref.finalize(self, self._client.close)

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(
        self,
        method: str,
        url: str,
        *,
        seconds: float,
        params: Mapping[str, str] | list[tuple[str, str]] | None = None,
        body: object = None,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        asked: str = "",
    ) -> HttpAnswer:
        """Return the whole answer to one request, whatever its status.

        Args:
            params: Replaces the query of `url`.
            body: Sent as JSON; None sends none.
            form: Sent as fields of a form, in place of a body.
            asked: The request and its host, for messages; by default method and address.

        Raises:
            TryAgain: If there was no connection, so that nothing was sent.
            LostAnswer: If the request was sent and no whole answer came; `LateAnswer` if the time was over.
            BadAnswer: If the answer is too long, or compressed and should not be.
            BadAddress: If the address or a header is malformed.
        """
        # Messages must not show an address's password or query.
        asked = asked or f"{method} {_PASSWORD.sub('//***@', url.partition('?')[0])}"
        request = {"params": params or None, "json": body, "data": form, "headers": headers}
        try:
            return call_within(lambda: self._exchange(asked, seconds, method, url, request), seconds + GRACE_SECONDS)
        except TimeoutError:
            raise LateAnswer(f"{asked} gave no whole answer in {seconds:.3g} s") from None

    def send_and_forget(self, method: str, url: str, *, seconds: float) -> None:
        """Send a request without a body, in this thread as no other can start when the program ends, and ignore the
        answer.
        """
        with suppress(httpx.HTTPError), self._client.stream(method, url, timeout=seconds):
            pass

    def _exchange(self, asked: str, seconds: float, method: str, url: str, request: Mapping[str, Any]) -> HttpAnswer:
        """Return the whole answer, or raise a failure without the key and without a cause that may hold it."""
        ends = self.monotonic() + seconds
        silence_seconds = min(seconds, self.silence_seconds)
        timeout = httpx.Timeout(silence_seconds, connect=min(CONNECT_SECONDS, silence_seconds))
        try:
            extensions = self._target_with_key(url, request["params"])
            with self._client.stream(method, url, timeout=timeout, extensions=extensions, **request) as response:
                body = self._read(response, asked, ends, seconds)
                return HttpAnswer(asked, response.status_code, dict(response.headers), body, self.key)
        except (httpx.InvalidURL, httpx.HTTPError, ValueError) as error:
            cause = type(error).__name__
            message = one_line(mask_text(str(error), self.key)) or cause
            if isinstance(error, _UNSENDABLE):
                raise BadAddress(f"{asked}: {message}", cause) from None
            if isinstance(error, _NO_CONNECTION):
                raise TryAgain(f"{asked}: no connection ({message})", tries=MAX_CONNECT_TRIES, cause=cause) from None
            if not isinstance(error, httpx.TimeoutException):
                raise LostAnswer(f"{asked}: the answer broke off ({message})", cause=cause) from None
            late = LateAnswer if silence_seconds == seconds else LostAnswer
            raise late(f"{asked}: no answer in time ({message})", cause=cause) from None

    def _target_with_key(self, url: str, params: Any) -> dict[str, Any]:
        """Return httpx's target with the key in it, in place of the address that httpx knows and logs."""
        if self.key is None or self.key_parameter is None:
            return {}
        known = httpx.URL(url) if params is None else httpx.URL(url, params=params)
        return {"target": known.copy_add_param(self.key_parameter, self.key.value).raw_path}

    def _read(self, response: httpx.Response, asked: str, ends: float, seconds: float) -> bytes:
        """Return the whole body if it comes in time, is short enough, and is compressed only if that was allowed."""
        if not self.takes_compressed and response.headers.get("content-encoding", "identity") != "identity":
            message = f"{asked} answered compressed, which was not asked for; turn that off there"
            raise BadAnswer(message, response.status_code)
        pieces: list[bytes] = []
        length = 0
        for piece in response.iter_bytes():
            length += len(piece)
            if length > self.max_bytes:
                message = f"{asked} answered more than {self.max_bytes:,} bytes; ask for less"
                raise BadAnswer(message, response.status_code)
            # The caller has given up by then; a dripping server must not keep the thread.
            if self.monotonic() >= ends:
                raise LateAnswer(f"{asked} gave no whole answer in {seconds:.3g} s: {length:,} bytes came and no end")
            pieces.append(piece)
        return b"".join(pieces)


def open_client(**options: Any) -> httpx.Client:
    """Return an `httpx.Client` without redirects, and with the environment's proxies except for this machine. Raises
    `UsageError` for a malformed proxy.
    """
    try:
        return httpx.Client(
            mounts=dict.fromkeys(_THIS_MACHINE),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
            follow_redirects=False,
            verify=LateTrust(),
            **options,
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        message = str(error).rstrip(".")
        raise UsageError(f"the proxy named in the environment cannot be used: {message}; fix HTTPS_PROXY") from error


class Wire(BaseModel):
    """An untrusted object from an answer; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")
