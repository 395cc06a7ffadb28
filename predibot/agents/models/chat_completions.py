"""A light client for any server that speaks the chat-completions dialect, at any address the user set."""

from collections.abc import Mapping
from dataclasses import replace

import httpx

from predibot.agents.budget.price import Price, cost_of
from predibot.agents.models.chat_stream import streamed_object
from predibot.agents.models.chat_wire import Unreadable, error_of, has_usage, read_answer, request_body
from predibot.agents.models.endpoint import TRY_SECONDS, Endpoint
from predibot.agents.models.failures import AnswerUnusable, asked_otherwise, failure_of_status
from predibot.agents.models.manners import Manners, error_words
from predibot.agents.models.retry import Retry
from predibot.domain.chat import ChatReply, ChatRequest
from predibot.net.api_keys import Key
from predibot.net.failures import AnswerLost, one_line

_PATH = "/chat/completions"


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
        extra_body: Mapping[str, object] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Open the client; connections are made when they are needed.

        Args:
            name: As recipes call it.
            base_url: For example `http://localhost:11434/v1`.
            retry: The retry layer.
            key: Sent as a bearer token; None sends none.
            price: As the recipe states it.
            extra_body: What else stands in each request, as the recipe states it.
            transport: Replaces the network in tests.

        Raises:
            UsageError: If the base URL is none.
        """
        self.name = name
        self._endpoint = Endpoint(base_url, key=key, transport=transport)
        self._retry = retry
        self._sent_name = name.removeprefix("openai/")
        self._price = price
        self._extra_body = extra_body or {}
        self._manners = Manners.of(self._sent_name)

    def __repr__(self) -> str:
        """Return name and place, and no key."""
        return f"OpenAICompatibleModel({self.name!r})"

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
        manners = self._manners
        fitting, left_out = manners.fit(request)
        body = {**self._extra_body, **request_body(fitting, self._sent_name, manners)}
        received = self._endpoint.ask("POST", _PATH, body, seconds=min(seconds, TRY_SECONDS))
        if not received.is_success:
            failure, text = self._endpoint.failure(received), received.text()
            learned = manners.learned(error_words(text), request, status=received.status)
            # What may have been paid for is no refusal.
            if learned is None or isinstance(failure, AnswerUnusable | AnswerLost):
                raise failure
            self._manners = learned
            raise asked_otherwise(f"{received.asked} refused a parameter: {one_line(text)}")
        value = streamed_object(received)
        if (failed := error_of(value)) is not None:
            # An error that comes as a success.
            status, words = failed
            raise failure_of_status(
                502 if status is None else status,
                f"{received.asked} answered an error: {one_line(words)}",
                key_name=self._endpoint.key_name,
                # One without a status came while the model was at work, such as a gateway's time-out.
                is_charged=status is None or has_usage(value),
            )
        try:
            answer = read_answer(value, self._sent_name)
        except Unreadable as error:
            raise AnswerLost(f"{received.asked} answered what is no chat completion: {error}") from None
        if not answer.message.tool_calls and answer.finish_reason == "stop":
            self._manners = manners.unheeded(request) or self._manners
        reply = answer.reply(cost_of(answer.usage, provider_usd=answer.provider_usd, price=self._price))
        return replace(reply, refused_settings=left_out, most_tokens=manners.lowered(request))
