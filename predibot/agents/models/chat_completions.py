"""A light client for any server that speaks the chat-completions dialect, at any address the user set."""

import json
import re
from collections.abc import Mapping

import httpx

from predibot.agents.budget.price import Price, cost_of
from predibot.agents.models.chat_wire import Unreadable, error_of, has_usage, read_answer, request_body
from predibot.agents.models.endpoint import TRY_SECONDS, Endpoint, json_object
from predibot.agents.models.failures import failure_of_status
from predibot.agents.models.retry import Retry
from predibot.domain.chat import ChatReply, ChatRequest
from predibot.net.api_keys import Key
from predibot.net.failures import AnswerLost, TryAgain, one_line
from predibot.net.json_client import Received

_PATH = "/chat/completions"
_RENAMED = {"max_tokens": "max_completion_tokens"}
_OPTIONAL = frozenset({"temperature", "seed"})
_NAMED_PARAMETER = re.compile(r"max_tokens|temperature|seed")


class OpenAICompatibleModel:
    """A `ChatModel` behind a base URL, which may be on a private network because the user set it; thread-safe."""

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        retry: Retry,
        key: Key | None = None,
        price: Price | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Open the client; connections are made when they are needed.

        Args:
            name: As recipes call it.
            base_url: For example `http://localhost:11434/v1`.
            retry: The retry layer.
            key: Sent as a bearer token; None sends none.
            price: As the recipe states it.
            transport: Replaces the network in tests.

        Raises:
            UsageError: If the base URL is none.
        """
        self._name = name
        self._endpoint = Endpoint(base_url, key=key, transport=transport)
        self._retry = retry
        self._sent_name = name.removeprefix("openai/")
        self._price = price
        self._refused_parameters: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        """Return name and place, and no key."""
        return f"OpenAICompatibleModel({self._name!r})"

    @property
    def name(self) -> str:
        """Return the name recipes use."""
        return self._name

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the model's answer to a conversation.

        Raises:
            ModelUnavailable: If no answer came within the deadline.
            ModelRefused: If the server refuses the request for good.
        """
        return self._retry.call(
            lambda seconds: self._once(request, seconds),
            provider=self._endpoint.host,
            deadline_seconds=deadline_seconds,
        )

    def _once(self, request: ChatRequest, seconds: float) -> ChatReply:
        """Return the answer of a single try."""
        body = self._adapted(request_body(request, self._sent_name))
        received = self._endpoint.ask("POST", _PATH, body, seconds=min(seconds, TRY_SECONDS))
        self._check_status(received, body)
        value = json_object(received)
        self._check_error(received, value)
        try:
            answer = read_answer(value, self._sent_name)
        except Unreadable as error:
            raise AnswerLost(f"{received.asked} answered what is no chat completion: {error}") from None
        return answer.reply(cost_of(answer.usage, provider_usd=answer.provider_usd, price=self._price))

    def _check_status(self, received: Received, body: Mapping[str, object]) -> None:
        """Raise what an answer other than success means."""
        if received.is_success:
            return
        text = received.text()
        if received.status == 400 and self._learned(text, body):
            raise TryAgain(f"{received.asked} refused a parameter: {one_line(text)}", wait_seconds=0.0, ill=False)
        raise self._endpoint.failure(received)

    def _check_error(self, received: Received, value: Mapping[str, object]) -> None:
        """Raise what an error means that comes as a success."""
        failure = error_of(value)
        if failure is not None:
            status, words = failure
            said = f"{received.asked} answered an error: {one_line(words)}"
            raise failure_of_status(
                502 if status is None else status,
                said,
                key_name=self._endpoint.key_name,
                # One without a status came while the model was at work, such as a gateway's time-out.
                is_charged=status is None or has_usage(value),
            )

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
