"""The models of one decision: those its strategy declares, and no other."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from predibot.contracts import MOST_ANSWER_TOKENS, THINKING_TOKENS, ChatModel, no_model
from predibot.domain.chat import SETTINGS, ChatReply, ChatRequest
from predibot.domain.terms import ModelSettings
from predibot.errors import BudgetSpent, NoAnswer, PluginError
from predibot.plugins.strategies import StrategySpec

MAX_CUTS = 3
"""So many cut-off answers in a row end a decision."""


@dataclass(slots=True)
class AnswerRoom:
    """The longest known answers of a model; shared by all its users."""

    most_tokens: int | None = None
    """The provider's limit; None where that is unknown."""
    thinks: bool = False


@dataclass(eq=False, slots=True)
class DeclaredModels:
    """Opens models by name for one decision and remembers which; for one thread.

    Undeclared models are refused: they would have no price, be missing in the cost estimate, and might see the future.
    """

    strategy: StrategySpec
    open_model: Callable[[str], ChatModel] = no_model
    """Returns one that is priced, limited and traced."""
    settings: ModelSettings = field(default_factory=ModelSettings)
    room_of: Callable[[str], AnswerRoom] = lambda _: AnswerRoom()
    _names: dict[str, None] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the opened models, each once, in order of opening."""
        return tuple(self._names)

    def __call__(self, name: str) -> ChatModel:
        """Return a model to talk to."""
        declared = {need.name: need for need in self.strategy.needs.models}
        if name not in declared:
            raise PluginError(
                f"strategy {self.strategy.name!r} opens model {name!r}, and the models it declares are: "
                f"{', '.join(declared) or 'none'}. Declare it, as docs/strategies.md shows: "
                f"needs = Needs(models={(*declared, name)!r}), with Needs from predibot.contracts"
            )
        most_searches = declared[name].max_searches or None
        model = _ConfiguredModel(self.open_model(name), self.settings, self.room_of(name), most_searches)
        self._names[name] = None
        return model


@dataclass(slots=True)
class _ConfiguredModel:
    """A model with the recipe's settings and room to think; for one thread."""

    model: ChatModel
    settings: ModelSettings
    room: AnswerRoom
    max_searches: int | None = None
    """The most searches of a model that searches by itself; each request states it, or nothing would bound its cost."""
    _longest_tokens: int = 0
    """The longest answer that the strategy has requested."""
    _grown_tokens: int = 0
    """How long an answer may be after one was cut off."""
    _cuts: int = 0
    """Cut-off answers in a row."""
    _cut_tokens: int = 0
    """The longest of these."""

    @property
    def name(self) -> str:
        return self.model.name

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        most_searches = self.max_searches
        if most_searches and (request.max_searches is None or request.max_searches > most_searches):
            raise PluginError(
                f"model {self.name!r} is declared with max_searches = {most_searches}, and a request says "
                f"{request.max_searches}; say a number up to that in each request"
            )
        stated: dict[str, Any] = {name: value for name, value in self.settings.explicit.items() if name in SETTINGS}
        complete = replace(request, **stated)
        self._longest_tokens = max(self._longest_tokens, request.max_output_tokens)
        tokens, ends = self._output_tokens(complete), time.monotonic() + deadline_seconds
        try:
            reply = self.model.chat(replace(complete, max_output_tokens=tokens), deadline_seconds=deadline_seconds)
        except BudgetSpent:
            # After a cut an answer needs more than before; else the strategy's own number may be enough.
            less = (tokens + self._cut_tokens) // 2 if self._cut_tokens else request.max_output_tokens
            if not self._cut_tokens < less < tokens or self.settings.max_tokens is not None:
                raise
            tokens = less
            # The first try may have waited for others' reservations.
            left_seconds = max(0.0, ends - time.monotonic())
            reply = self.model.chat(replace(complete, max_output_tokens=tokens), deadline_seconds=left_seconds)
        self.room.thinks = self.room.thinks or reply.has_reasoning
        if reply.most_tokens is not None:
            tokens = self.room.most_tokens = reply.most_tokens
        # The caller does not know the limit, and tells the model when an answer is cut off.
        most = reply.most_tokens if self.settings.max_tokens is None else tokens
        if reply.finish_reason != "length":
            self._cuts = self._cut_tokens = 0
            return replace(reply, most_tokens=most)
        self._cuts += 1
        self._cut_tokens = max(self._cut_tokens, tokens)
        if self._cuts == MAX_CUTS:
            raise NoAnswer(
                f"{self.name}: cut off at {tokens:,} tokens, as {MAX_CUTS} answers in a row were; give the bot "
                "max_tokens that it can think and answer in, or a lower reasoning_effort"
            )
        self._grown_tokens = MOST_ANSWER_TOKENS if self._cuts > 1 else max(2 * tokens, THINKING_TOKENS)
        return replace(reply, most_tokens=most, more_room=self._output_tokens(complete) > tokens)

    def _output_tokens(self, request: ChatRequest) -> int:
        tokens, most = request.max_output_tokens, self.settings.max_tokens
        # A strategy that requests less than before is short of budget.
        is_short = tokens < self._longest_tokens
        if most is not None or is_short:
            return min(tokens, most or tokens) if is_short else most or tokens
        thinks = self.room.thinks or request.reasoning_effort not in (None, "none")
        wanted = max(tokens, self._grown_tokens, THINKING_TOKENS if thinks else 0)
        return min(wanted, self.room.most_tokens or wanted)
