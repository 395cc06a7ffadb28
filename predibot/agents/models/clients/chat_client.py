"""The base class of clients: it learns from refusals, reads answers and prices them; a subclass sends requests."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace

from predibot.agents.budget.price import TokenPrice, cost_of
from predibot.agents.models.clients.chat_wire import NoCompletion, error_of, has_usage, read_answer
from predibot.agents.models.clients.litellm_library import table_usd
from predibot.agents.models.failures import AnswerUnusable, Refusal, failure_of_status
from predibot.agents.models.manners import ANY_CALL, BY_NAME, Manners
from predibot.agents.models.retry import Retry
from predibot.domain.chat import ChatReply, ChatRequest
from predibot.errors import ModelRefused
from predibot.net.failures import MAX_ASKED_TRIES, LostAnswer, TryAgain, one_line

TRY_SECONDS = 300.0
"""The longest time for a single try."""
_SPOILT = re.compile("failed_generation|Failed to call a function")
"""Groq's 400 for a malformed call of its model; the next try may succeed: agno-agi/agno#4090."""


@dataclass(eq=False, repr=False)
class ChatClient(ABC):
    """A `ChatModel`; thread-safe. Connections are opened when they are needed."""

    name: str
    _: KW_ONLY
    retry: Retry
    price: TokenPrice | None = None
    extra_body: Mapping[str, object] | None = None
    """Further fields of each request, by the recipe."""
    sent_name: str = ""
    """As the provider names it; by default the name without `openai/`."""
    table_name: str = field(default="", init=False)
    """As litellm's table of prices names it; empty for a server of the user's own."""
    manners: Manners = field(init=False)

    def __post_init__(self) -> None:
        """Start with what the provider documents about the model."""
        self.sent_name = self.sent_name or self.name.removeprefix("openai/")
        self.manners = Manners.of(self.sent_name)

    def __repr__(self) -> str:
        """Return class and name, without a key."""
        return f"{type(self).__name__}({self.name!r})"

    @property
    @abstractmethod
    def _provider(self) -> str:
        """Return the provider, whose failures count together."""

    @property
    @abstractmethod
    def _key_name(self) -> str: ...

    @abstractmethod
    def _send(self, request: ChatRequest, manners: Manners, seconds: float) -> object:
        """Make a single try; return the decoded JSON of the answer, or a `Refusal`. Raises `TryAgain` if there may be
        an answer later, else `ModelRefused`.
        """

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the model's reply to a conversation.

        Raises `ModelUnavailable` and `ModelRefused` as `ChatModel.chat` does, and `UsageError` if the named key is not
        set, or may not be sent there.
        """
        return self.retry.call(
            lambda seconds: self._try_once(request, seconds), provider=self._provider, deadline_seconds=deadline_seconds
        )

    def _try_once(self, request: ChatRequest, seconds: float) -> ChatReply:
        manners = self.manners
        fitting, left_out = manners.fit(request)
        value = self._send(fitting, manners, seconds)
        if (failed := error_of(value)) is not None:
            status, words = failed
            message = f"{self.name} answered an error: {one_line(words)}"
            # An error without a status, such as a gateway's time-out, came while the model was at work.
            is_charged = status is None or has_usage(value)
            failure = failure_of_status(status or 502, message, key_name=self._key_name, is_charged=is_charged)
            value = Refusal(failure, words, status or 502)
        if isinstance(value, Refusal):
            raise self._learn(value, request, manners)
        try:
            reply = read_answer(value, self.sent_name)
        except NoCompletion as error:
            raise LostAnswer(f"{self.name} answered what is no chat completion: {error}") from None
        is_unheeded = request.forced_tool is not None and not reply.message.tool_calls and reply.finish_reason == "stop"
        if is_unheeded and manners.choice == BY_NAME:
            # llama.cpp ignores a choice that is an object.
            self.manners = replace(manners, choice=ANY_CALL)
        by_table = table_usd(self.table_name, reply.usage) if self.table_name else None
        cost = cost_of(reply.usage, provider_usd=reply.cost.usd, table_usd=by_table, price=self.price)
        return replace(reply, cost=cost, refused_settings=left_out, most_tokens=manners.own_token_limit(request))

    def _learn(self, refused: Refusal, request: ChatRequest, manners: Manners) -> TryAgain | ModelRefused:
        """Return the error for a refusal; a retry at once if it names something that can be changed."""
        # An answer that may have been paid for is no refusal.
        if isinstance(refused.failure, AnswerUnusable | LostAnswer):
            return refused.failure
        learned = manners.learn(refused.words, request, status=refused.status)
        if learned is None:
            is_spoilt = _SPOILT.search(refused.words) is not None
            return LostAnswer(str(refused.failure), ill=False) if is_spoilt else refused.failure
        self.manners = learned
        return TryAgain(str(refused.failure), wait_seconds=0.0, tries=MAX_ASKED_TRIES, ill=False)
