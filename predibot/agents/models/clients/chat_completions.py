"""A light client for any server that speaks the chat-completions dialect, at any address the user set."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx

from predibot.agents.models.clients.chat_client import TRY_SECONDS, ChatClient
from predibot.agents.models.clients.chat_stream import streamed_object
from predibot.agents.models.clients.chat_wire import has_usage, json_or_none, request_body
from predibot.agents.models.failures import AnswerUnusable, Refusal, failure_of_status
from predibot.agents.models.manners import Manners, error_words
from predibot.domain.chat import ChatRequest
from predibot.errors import ModelRefused, UsageError
from predibot.net.api_keys import Key
from predibot.net.failures import BadAddress, BadAnswer, one_line
from predibot.net.json_client import JsonClient, Received
from predibot.net.retry import asked_wait_seconds


class Endpoint:
    """A base URL, which may be on a private network because the user set it; thread-safe."""

    def __init__(self, base_url: str, *, key: Key | None = None, transport: httpx.BaseTransport | None = None) -> None:
        """Open it, for example `http://localhost:11434/v1`; a key is sent as a bearer token.

        Raises:
            UsageError: If the base URL is none.
        """
        self._url = _checked_url(base_url)
        self._client = JsonClient(key=key, transport=transport)
        self.host = self._url.netloc.decode()
        """With the port, as messages and breakers name the place."""
        self.key_name = key.name if key else "its key"
        """The setting that holds the key, for messages."""

    def ask(self, method: str, path: str, body: Mapping[str, object] | None = None, *, seconds: float) -> Received:
        """Return the whole answer to one request to a path below the base URL, whatever its status.

        Raises:
            TryAgain: If there was no connection, so that nothing was sent.
            AnswerLost: If the request was sent and no whole answer came.
            AnswerUnusable: If the answer is too long, or compressed.
            ModelRefused: If the same is true of an error, or nothing can be sent.
        """
        try:
            return self._client.ask(method, self._below(path), body=body, seconds=seconds)
        except BadAddress as error:
            raise ModelRefused(f"{error}; fix the key or the base URL") from None
        except BadAnswer as error:
            # A success may have been paid for, an error was not.
            raise (AnswerUnusable if error.status < 300 else ModelRefused)(str(error)) from None

    def tell(self, method: str, path: str, *, seconds: float) -> None:
        """Send a request without a body and pass over what comes of it; see `JsonClient.tell`."""
        self._client.tell(method, self._below(path), seconds=seconds)

    def refused(self, received: Received) -> Refusal:
        """Return what an answer other than success means."""
        text = received.text()
        failure = failure_of_status(
            received.status,
            f"{received.asked} answered {received.status} {one_line(text)!r}",
            key_name=self.key_name,
            wait_seconds=asked_wait_seconds(received.headers, datetime.now(UTC)),
            is_charged=has_usage(json_or_none(received.body)),
        )
        return Refusal(failure, error_words(text), received.status)

    def _below(self, path: str) -> str:
        """Return the address of a path below the base URL, whose query is kept."""
        return str(self._url.copy_with(path=self._url.path.rstrip("/") + path))


@dataclass(eq=False, repr=False)
class OpenAICompatibleModel(ChatClient):
    """A model behind a base URL."""

    endpoint: Endpoint

    @property
    def _provider(self) -> str:
        return self.endpoint.host

    @property
    def _key_name(self) -> str:
        return self.endpoint.key_name

    def _sent(self, request: ChatRequest, manners: Manners, seconds: float) -> object:
        body = {**(self.extra_body or {}), **request_body(request, self.sent_name, manners)}
        received = self.endpoint.ask("POST", "/chat/completions", body, seconds=min(seconds, TRY_SECONDS))
        return streamed_object(received) if received.is_success else self.endpoint.refused(received)


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
