"""An endpoint: one base URL of models, asked with one key, whose failures say what they mean to a model."""

from collections.abc import Mapping
from datetime import UTC, datetime

import httpx

from predibot.agents.models.chat_wire import has_usage, json_or_none, loaded_json
from predibot.agents.models.failures import AnswerUnusable, Refused, failure_of_status
from predibot.agents.models.manners import error_words
from predibot.errors import ModelRefused, UsageError
from predibot.net.api_keys import Key
from predibot.net.failures import BadAddress, BadAnswer, one_line
from predibot.net.json_client import JsonClient, Received
from predibot.net.retry import asked_wait_seconds


class Endpoint:
    """A base URL, which may be on a private network because the user set it; thread-safe."""

    def __init__(self, base_url: str, *, key: Key | None = None, transport: httpx.BaseTransport | None = None) -> None:
        """Open it; connections are made when they are needed.

        Args:
            base_url: For example `http://localhost:11434/v1`.
            key: Sent as a bearer token; None sends none.
            transport: Replaces the network in tests.

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

    def refused(self, received: Received) -> Refused:
        """Return what an answer other than success means."""
        text = received.text()
        failure = failure_of_status(
            received.status,
            f"{received.asked} answered {received.status} {one_line(text)!r}",
            key_name=self.key_name,
            wait_seconds=asked_wait_seconds(received.headers, datetime.now(UTC)),
            is_charged=has_usage(json_or_none(received.body)),
        )
        return Refused(failure, error_words(text), received.status)

    def _below(self, path: str) -> str:
        """Return the address of a path below the base URL, whose query is kept."""
        return str(self._url.copy_with(path=self._url.path.rstrip("/") + path))


def json_object(received: Received) -> dict[str, object]:
    """Return the JSON of an answer.

    Raises:
        AnswerLost: If it breaks off.
        AnswerUnusable: If it is something else.
    """
    try:
        value = received.json(loaded_json)
    except BadAnswer:
        value = None
    if not isinstance(value, dict):
        seen = one_line(received.text(most_bytes=2_000))
        raise AnswerUnusable(f"{received.asked} answered no object but {seen!r}; see whether the base URL is right")
    return value


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
