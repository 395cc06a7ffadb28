"""The client of chat completions, of any server whose address the user set; their streams are put together here.

Source: "Server-sent events" of the HTML standard (WHATWG). More lenient than that: a last event without an empty line
counts, and if the lines of an event are no JSON together, each of them is an event.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx

from predibot.agents.models.clients.chat_client import TRY_SECONDS, ChatClient
from predibot.agents.models.clients.chat_wire import (
    NoCompletion,
    has_usage,
    json_or_none,
    load_json,
    objects_of,
    request_body,
)
from predibot.agents.models.failures import AnswerUnusable, Refusal, failure_of_status
from predibot.agents.models.manners import Manners, error_words
from predibot.domain.chat import ChatRequest
from predibot.errors import ModelRefused, UsageError
from predibot.net.api_keys import Key
from predibot.net.failures import BadAddress, BadAnswer, LostAnswer, one_line
from predibot.net.json_client import HttpAnswer, JsonClient
from predibot.net.retry import retry_after_seconds

_DONE = "[DONE]"
_GROWING = frozenset({"content", "reasoning_content", "reasoning", "refusal", "arguments"})
"""Texts that arrive in parts; any other text arrives whole."""


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


def read_stream(received: HttpAnswer) -> dict[str, Any]:
    """Return the completion that a stream adds up to, or the error in one of its events. A stream that breaks off may
    have been paid for and raises `LostAnswer`. `parse_json_object` reads other answers.
    """
    if "text/event-stream" not in received.headers.get("content-type", "").lower():
        return parse_json_object(received)
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    whole: dict[str, Any] = {}
    finish_reason, is_done = None, False
    for data in _events(received.text(most_bytes=len(received.body))):
        if is_done := data.strip() == _DONE:
            break
        if not data.strip():
            continue
        try:
            event = load_json(data)
        except (ValueError, RecursionError):
            raise LostAnswer(f"{received.asked}: an event of the stream breaks off") from None
        if not isinstance(event, dict):
            continue
        if event.get("error"):
            return event
        whole |= {name: value for name, value in event.items() if name != "choices" and value is not None}
        for choice in objects_of(event.get("choices")):
            if choice.get("index"):
                continue  # A further choice, which nobody asked for.
            try:
                _add(message, choice.get("delta") or {})
            except NoCompletion as error:
                raise LostAnswer(f"{received.asked}: {error}") from None
            finish_reason = choice.get("finish_reason") or finish_reason
    if finish_reason is None and not is_done:
        raise LostAnswer(f"{received.asked}: the stream broke off before its end")
    return {**whole, "choices": [{"message": message, "finish_reason": finish_reason}]}


def parse_json_object(received: HttpAnswer) -> dict[str, object]:
    """Return the JSON object of an answer; raise `LostAnswer` if it breaks off, else `AnswerUnusable`."""
    try:
        value = received.json(load_json)
    except BadAnswer:
        value = None
    if not isinstance(value, dict):
        seen = one_line(received.text(most_bytes=2_000))
        raise AnswerUnusable(f"{received.asked} answered no object but {seen!r}; see whether the base URL is right")
    return value


def _events(text: str) -> Iterator[str]:
    lines: list[str] = []
    # Not by `splitlines`: Python takes further characters, which JSON allows, for line ends.
    for line in (*re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff")), ""):
        name, _, value = line.partition(":")
        if name == "data":
            lines.append(value.removeprefix(" "))
        elif not line:
            data = "\n".join(lines)
            yield from lines if json_or_none(data) is None else [data]
            lines = []


def _add(whole: dict[str, Any], piece: object) -> None:
    """Add a piece to a message, or to one of its calls; raise `NoCompletion` if it is malformed."""
    if not isinstance(piece, dict):
        raise NoCompletion(f"a {type(piece).__name__} is no piece of an answer")
    for name, value in piece.items():
        before = whole.get(name)
        if name == "tool_calls":
            for call in _parts(value):
                _add(_find_call(whole.setdefault(name, []), call), call)
        elif name == "function" and value is not None:
            _add(whole.setdefault(name, {}), value)
        elif name in _GROWING and isinstance(value, str) and isinstance(before, str | None):
            whole[name] = (before or "") + value
        elif isinstance(value, list) or (name in _GROWING and isinstance(value, str)):
            whole[name] = [*_parts(before), *_parts(value)]
        elif value:
            whole[name] = value


def _parts(content: object) -> list[object]:
    """Return a content as a list of parts: Magistral sends thoughts as a list and text behind them as text."""
    if isinstance(content, list):
        return content
    if isinstance(content, str | None):
        return [{"type": "text", "text": content}] if content else []
    raise NoCompletion(f"a {type(content).__name__} is no piece of an answer")


def _find_call(calls: list[dict[str, Any]], piece: object) -> dict[str, Any]:
    """Return the call that a piece continues, or a new one.

    A piece continues the latest call with its index, or the latest of all if it has none. A piece with a name begins a
    new call if its id is new, because Google gives all calls one index, or if it has neither id nor index.
    """
    fields = piece if isinstance(piece, dict) else {}
    index, own_id, function = fields.get("index"), fields.get("id"), fields.get("function")
    same = [each for each in calls if index is None or each.get("index", 0) == index]
    named = isinstance(function, dict) and function.get("name")
    if not same or (named and (own_id != same[-1].get("id") if own_id else index is None)):
        same = [{}]
        calls += same
    return same[-1]
