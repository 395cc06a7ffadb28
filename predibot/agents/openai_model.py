"""A light client for any server that speaks the chat-completions dialect, at any address the user set."""

import json
import re
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx

from predibot.agents.deadline import in_time
from predibot.agents.dialect import Unreadable, error_of, read_answer, request_body
from predibot.agents.failure import MAX_CONNECT_TRIES, AnswerLost, TryAgain, failure_of_status, one_line
from predibot.agents.key import Key, masked, masked_text
from predibot.agents.price import Price, cost_of
from predibot.agents.retry import Retry
from predibot.domain.chat import ChatReply, ChatRequest
from predibot.domain.waiting import asked_wait_seconds
from predibot.errors import ModelRefused, UsageError
from predibot.trust import LateTrust

MAX_REPLY_BYTES = 16 * 1024 * 1024
TRY_SECONDS = 300.0
CONNECT_SECONDS = 10.0
_THIS_MACHINE = ("all://127.0.0.1", "all://localhost", "all://[::1]")
_RENAMED = {"max_tokens": "max_completion_tokens"}
_OPTIONAL = frozenset({"temperature", "seed"})
_NAMED_PARAMETER = re.compile(r"max_tokens|temperature|seed")


@dataclass(frozen=True, slots=True)
class _Received:
    """An HTTP answer, whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class OpenAICompatibleModel:
    """A `ChatModel` behind a base URL, which may be on a private network because the user set it; thread-safe.

    Redirects are not followed, answers are bounded in size and time, and the
    key is masked in whatever comes back.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        retry: Retry,
        key: Key | None = None,
        sent_name: str | None = None,
        price: Price | None = None,
        try_seconds: float = TRY_SECONDS,
        max_reply_bytes: int = MAX_REPLY_BYTES,
        transport: httpx.BaseTransport | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the client; connections are made when they are needed.

        Args:
            name: As recipes call it.
            base_url: For example `http://localhost:11434/v1`.
            retry: The retry layer.
            key: Sent as a bearer token; None sends none.
            sent_name: As the server calls it; by default the name without `openai/`.
            price: As the recipe states it.
            try_seconds: The longest a single try may take.
            max_reply_bytes: More is refused.
            transport: Replaces the network in tests.
            now: For a `Retry-After` that is a date.
            monotonic: A clock in seconds that never goes back.

        Raises:
            UsageError: If the base URL is none.
        """
        self._name = name
        self._url = _completions_url(base_url)
        self._retry = retry
        self._key = key
        self._sent_name = name.removeprefix("openai/") if sent_name is None else sent_name
        self._price = price
        self._try_seconds = try_seconds
        self._max_reply_bytes = max_reply_bytes
        self._now = now
        self._monotonic = monotonic
        self._refused_parameters: frozenset[str] = frozenset()
        self._client = _opened(transport, key)
        # Whoever drops the model drops its connections, tidily.
        weakref.finalize(self, self._client.close)
        # Neither the password nor the query of an address is anybody's to see.
        self._shown = f"POST {self._url.scheme}://{self._url.netloc.decode()}{self._url.path}"

    def __repr__(self) -> str:
        """Return name and place, and no key."""
        return f"OpenAICompatibleModel({self._name!r})"

    @property
    def name(self) -> str:
        """Return the name recipes use."""
        return self._name

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the model's answer to a conversation.

        Raises:
            ModelUnavailable: If no answer came within the deadline.
            ModelRefused: If the server refuses the request for good.
        """
        provider = self._url.netloc.decode()
        return self._retry.call(
            lambda seconds: self._once(request, seconds), provider=provider, deadline_seconds=deadline_seconds
        )

    def _once(self, request: ChatRequest, seconds: float) -> ChatReply:
        """Return the answer of a single try."""
        seconds = min(seconds, self._try_seconds)
        body = self._adapted(request_body(request, self._sent_name))
        try:
            received = in_time(lambda: self._exchange(body, self._monotonic() + seconds, seconds), seconds)
        except TimeoutError:
            raise AnswerLost(f"{self._shown}: no whole answer in {seconds:.3g} s") from None
        self._check_status(received, body)
        value = self._decoded(received.body)
        try:
            answer = read_answer(value, self._sent_name)
        except Unreadable as error:
            raise AnswerLost(f"{self._shown} answered what is no chat completion: {error}") from None
        return answer.reply(cost_of(answer.usage, provider_usd=answer.provider_usd, price=self._price))

    def _exchange(self, body: Mapping[str, object], deadline: float, seconds: float) -> _Received:
        """Send the request and read the whole answer."""
        timeout = httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        with (
            _translated(self._shown, self._key),
            self._client.stream("POST", self._url, json=body, timeout=timeout) as response,
        ):
            if response.headers.get("content-encoding", "identity") != "identity":
                raise ModelRefused(f"{self._shown} answered compressed, which was not asked for; turn that off there")
            return _Received(response.status_code, dict(response.headers), self._read(response, deadline))

    def _read(self, response: httpx.Response, deadline: float) -> bytes:
        """Return the whole body, as long as it comes in time and is not too long."""
        pieces: list[bytes] = []
        length = 0
        for piece in response.iter_bytes():
            length += len(piece)
            if length > self._max_reply_bytes:
                raise ModelRefused(
                    f"{self._shown} answered more than {self._max_reply_bytes:,} bytes; ask for fewer tokens"
                )
            if self._monotonic() >= deadline:
                raise AnswerLost(f"{self._shown}: {length:,} bytes came in time and no end")
            pieces.append(piece)
        return b"".join(pieces)

    def _check_status(self, received: _Received, body: Mapping[str, object]) -> None:
        """Raise what an answer other than success means."""
        if 200 <= received.status < 300:
            return
        text = masked_text(received.body[:20_000].decode("utf-8", "replace"), self._key)
        if received.status == 400 and self._learned(text, body):
            raise TryAgain(f"{self._shown} refused a parameter: {one_line(text)}", wait_seconds=0.0, ill=False)
        said = f"{self._shown} answered {received.status} {one_line(text)!r}"
        wait_seconds = asked_wait_seconds(received.headers, self._now())
        raise failure_of_status(received.status, said, key_name=self._key_name, wait_seconds=wait_seconds)

    def _decoded(self, body: bytes) -> object:
        """Return the JSON of an answer, without the key wherever the server put it."""
        seen = one_line(masked_text(body[:2_000].decode("utf-8", "replace"), self._key))
        try:
            value = masked(json.loads(body), self._key)
        except (ValueError, RecursionError) as error:
            value = None
            if not body.strip() or body.lstrip()[:1] == b"{":
                raise AnswerLost(f"{self._shown} answered JSON that is not whole ({type(error).__name__})") from None
        if not isinstance(value, dict):
            raise ModelRefused(f"{self._shown} answered no object but {seen!r}; see whether the base URL is right")
        failure = error_of(value)
        if failure is None:
            return value
        status, words = failure
        said = f"{self._shown} answered an error: {one_line(words)}"
        raise failure_of_status(502 if status is None else status, said, key_name=self._key_name)

    @property
    def _key_name(self) -> str:
        """Return the setting that holds the key, for messages."""
        return self._key.name if self._key else "its key"

    def _adapted(self, body: dict[str, object]) -> dict[str, object]:
        """Return the request as this model takes it, as far as it said so."""
        for name in self._refused_parameters & body.keys():
            value = body.pop(name)
            if name in _RENAMED:
                body[_RENAMED[name]] = value
        return body

    def _learned(self, text: str, body: Mapping[str, object]) -> bool:
        """Note a parameter that newer models refuse by name; return whether there is something to try."""
        try:
            error = json.loads(text)["error"]
            named = str(error.get("param") or "") or str(error.get("message") or "")
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        found = _NAMED_PARAMETER.search(named)
        if found is None or found[0] not in body or found[0] not in _RENAMED.keys() | _OPTIONAL:
            return False
        self._refused_parameters |= {found[0]}
        return True


def _completions_url(base_url: str) -> httpx.URL:
    """Return where chat completions are asked for."""
    try:
        url = httpx.URL(base_url)
    except (httpx.InvalidURL, TypeError) as error:
        raise UsageError(f"{base_url!r} is no base URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        raise UsageError(
            f"a model's base URL looks like http://localhost:11434/v1, without a password; got host {url.host!r}"
        )
    return url.copy_with(path=url.path.rstrip("/") + "/chat/completions")


def _opened(transport: httpx.BaseTransport | None, key: Key | None) -> httpx.Client:
    """Return a client that takes the environment's proxies, but not for this machine, and no other settings."""
    headers = {"accept": "application/json", "accept-encoding": "identity", "user-agent": "predibot"}
    if key is not None:
        headers["authorization"] = f"Bearer {key.value}"
    try:
        return httpx.Client(
            transport=transport,
            mounts=dict.fromkeys(_THIS_MACHINE),
            headers=headers,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
            timeout=TRY_SECONDS,
            follow_redirects=False,
            verify=LateTrust(),
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        raise UsageError(f"the proxy named in the environment cannot be used: {error}; mend HTTPS_PROXY") from error


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
