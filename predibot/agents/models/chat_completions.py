"""A light client for any server that speaks the chat-completions dialect, at any address the user set."""

from dataclasses import dataclass

from predibot.agents.models.chat_client import TRY_SECONDS, ChatClient
from predibot.agents.models.chat_stream import streamed_object
from predibot.agents.models.chat_wire import request_body
from predibot.agents.models.endpoint import Endpoint
from predibot.agents.models.manners import Manners
from predibot.domain.chat import ChatRequest


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
