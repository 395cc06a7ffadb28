"""Both model clients, pointed at a server on loopback; time passes only by waiting."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from predibot.agents.budget.price import TokenPrice
from predibot.agents.models.clients.chat_completions import Endpoint, OpenAICompatibleModel
from predibot.agents.models.clients.litellm_model import LiteLLMModel
from predibot.agents.models.retry import Retry
from predibot.contracts import ChatModel
from predibot.domain.chat import ChatReply, ChatRequest, Cost, Message, ToolSchema, Usage
from predibot.net.api_keys import ApiKeys, Key
from predibot.net.circuit_breaker import Breaker
from predibot.net.retry import RetryPolicy
from tests.agents.chat_server import ChatServer

SECRET = "sk-planted-0123456789abcdef"
KEY_NAME = "PLANTED_API_KEY"
HELLO = ChatRequest((Message("user", "Will it rain?"),))
PING = ToolSchema("ping", "Say pong.", {"type": "object", "properties": {"word": {"type": "string"}}})


@dataclass(slots=True)
class Clock:
    """A clock that is moved by those who wait on it."""

    seconds: float = 0.0
    waits: list[float] = field(default_factory=list)

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.seconds += seconds


def retry_of(clock: Clock, *, failures: int = 100) -> Retry:
    """Return a retry layer on that clock, whose breakers open late."""
    policy = RetryPolicy(monotonic=clock.monotonic, sleep=clock.sleep, rng=random.Random(1))
    return Retry(policy, lambda: Breaker(failures=failures, monotonic=clock.monotonic))


def light(server: ChatServer, retry: Retry, *, price: TokenPrice | None = None, name: str = "openai/tiny") -> ChatModel:
    return OpenAICompatibleModel(name, Endpoint(server.base_url, key=Key(KEY_NAME, SECRET)), retry=retry, price=price)


def heavy(server: ChatServer, retry: Retry, *, price: TokenPrice | None = None, name: str = "openai/tiny") -> ChatModel:
    keys = ApiKeys({KEY_NAME: SECRET})
    return LiteLLMModel(name, base_url=server.base_url, keys=keys, key_name=KEY_NAME, retry=retry, price=price)


Client = Callable[..., ChatModel]
CLIENTS: Mapping[str, Client] = {"light": light, "litellm": heavy}


@dataclass(slots=True)
class Scripted:
    """A model that says what it is told to, or raises it."""

    replies: list[ChatReply | Exception]
    name: str = "scripted/model"
    asked: list[tuple[ChatRequest, float]] = field(default_factory=list)

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        self.asked.append((request, deadline_seconds))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def reply_of(
    text: str = "yes", *, input_tokens: int | None = 20, output_tokens: int | None = 5, usd: float | None = None
) -> ChatReply:
    cost = Cost(usd, "unknown" if usd is None else "provider")
    usage = Usage(input_tokens, output_tokens, {"prompt_tokens": input_tokens})
    return ChatReply(Message("assistant", text), "stop", usage, cost, model="scripted-1", seconds=0.5)
