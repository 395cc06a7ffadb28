"""A light client for any server that speaks the chat-completions dialect, at any address the user set."""

from collections.abc import Mapping

import httpx

from predibot.agents.budget.price import Price
from predibot.agents.models.chat_client import TRY_SECONDS, ChatClient
from predibot.agents.models.chat_stream import streamed_object
from predibot.agents.models.chat_wire import request_body
from predibot.agents.models.endpoint import Endpoint
from predibot.agents.models.manners import Manners
from predibot.agents.models.retry import Retry
from predibot.domain.chat import ChatRequest
from predibot.net.api_keys import Key


class OpenAICompatibleModel(ChatClient):
    """A model behind a base URL, which may be on a private network because the user set it."""

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
        """Open it; see `ChatClient` and `Endpoint`."""
        super().__init__(name, retry=retry, price=price, extra_body=extra_body)
        self._endpoint = Endpoint(base_url, key=key, transport=transport)

    @property
    def _provider(self) -> str:
        return self._endpoint.host

    @property
    def _key_name(self) -> str:
        return self._endpoint.key_name

    def _sent(self, request: ChatRequest, manners: Manners, seconds: float) -> object:
        body = {**self._extra_body, **request_body(request, self._sent_name, manners)}
        received = self._endpoint.ask("POST", "/chat/completions", body, seconds=min(seconds, TRY_SECONDS))
        return streamed_object(received) if received.is_success else self._endpoint.refused(received)
