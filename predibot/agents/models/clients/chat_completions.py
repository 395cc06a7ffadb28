"""A light client for any server that speaks the chat-completions protocol, at an address that the user set."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx

from predibot.agents.models.clients.chat_client import TRY_SECONDS, ChatClient
from predibot.agents.models.clients.chat_stream import read_stream
from predibot.agents.models.clients.chat_wire import has_usage, json_or_none, request_body
from predibot.agents.models.failures import AnswerUnusable, Refusal, failure_of_status
from predibot.agents.models.manners import Manners, error_words
from predibot.domain.chat import ChatRequest
from predibot.errors import ModelRefused, UsageError
from predibot.net.api_keys import Key
from predibot.net.failures import BadAddress, BadAnswer, one_line
from predibot.net.json_client import HttpAnswer, JsonClient
from predibot.net.retry import retry_after_seconds


class Endpoint:
    """A base URL, which may be private because the user set it; thread-safe."""

    def __init__(self, base_url: str, *, key: Key | None = None, transport: httpx.BaseTransport | None = None) -> None:
        """Check the base URL, such as `http://localhost:11434/v1`; raise `UsageError` if it is malformed."""
        self._url = _parse_base_url(base_url)
        self._client = JsonClient(key=key, transport=transport)
        # For messages and breakers, with the port.
        self.host = self._url.netloc.decode()
        self.key_name = key.name if key else "its key"

    def ask(self, method: str, path: str, body: Mapping[str, object] | None = None, *, seconds: float) -> HttpAnswer:
        """Return the whole answer to a request below the base URL, whatever its status.

        Raises `TryAgain` if nothing was sent, and `LostAnswer` if no whole answer came. If the answer is too long, or
        compressed, a success raises `AnswerUnusable` because it may have been paid for, and an error `ModelRefused`.
        """
        try:
            return self._client.ask(method, self._below(path), body=body, seconds=seconds)
        except BadAddress as error:
            raise ModelRefused(f"{error}; fix the key or the base URL") from None
        except BadAnswer as error:
            # A success may have been paid for, an error was not.
            raise (AnswerUnusable if error.status < 300 else ModelRefused)(str(error)) from None

    def send_and_forget(self, method: str, path: str, *, seconds: float) -> None:
        """Send a request without a body and ignore the answer; see `JsonClient.send_and_forget`."""
        self._client.send_and_forget(method, self._below(path), seconds=seconds)

    def read_refusal(self, received: HttpAnswer) -> Refusal:
        """Return the failure that an answer's status means."""
        text = received.text()
        failure = failure_of_status(
            received.status,
            f"{received.asked} answered {received.status} {one_line(text)!r}",
            key_name=self.key_name,
            wait_seconds=retry_after_seconds(received.headers, datetime.now(UTC)),
            is_charged=has_usage(json_or_none(received.body)),
        )
        return Refusal(failure, error_words(text), received.status)

    def _below(self, path: str) -> str:
        """Return the address of a path below the base URL, with the base URL's query."""
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

    def _send(self, request: ChatRequest, manners: Manners, seconds: float) -> object:
        body = {**(self.extra_body or {}), **request_body(request, self.sent_name, manners)}
        received = self.endpoint.ask("POST", "/chat/completions", body, seconds=min(seconds, TRY_SECONDS))
        return read_stream(received) if received.is_success else self.endpoint.read_refusal(received)


def _parse_base_url(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url)
    except (httpx.InvalidURL, TypeError) as error:
        raise UsageError(f"{base_url!r} is no base URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        raise UsageError(
            f"a model's base URL looks like http://localhost:11434/v1, without a password; got host {url.host!r}"
        )
    return url
