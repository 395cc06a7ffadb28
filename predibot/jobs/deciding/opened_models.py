"""The models one decision opens: those its strategy declares, and no other."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from predibot.contracts import MOST_ANSWER_TOKENS, THINKING_TOKENS, ChatModel, no_model
from predibot.domain.chat import SETTINGS, ChatReply, ChatRequest
from predibot.domain.terms import ModelSettings
from predibot.errors import BudgetSpent, NoAnswer, PluginError
from predibot.plugins.strategies import StrategySpec

MAX_CUTS = 3
"""Answers in a row that are cut off end a decision."""


@dataclass(slots=True)
class Room:
    """How long a model's answers may be, as far as it has shown; shared by all that ask it."""

    most_tokens: int | None = None
    """The longest that its provider lets anybody ask for; None where that is unknown."""
    thinks: bool = False


class OpenedModels:
    """Opens models by name for one decision, and knows which it opened; for one thread.

    What is not declared is refused: nobody would have priced it, counted it in
    the worst case, or kept it from the future.
    """

    def __init__(
        self,
        strategy: StrategySpec,
        open_model: Callable[[str], ChatModel] = no_model,
        settings: ModelSettings | None = None,
        room_of: Callable[[str], Room] = lambda _: Room(),
    ) -> None:
        """Open none yet.

        Args:
            strategy: Whose decision it is.
            open_model: Returns a model priced, limited and traced.
            room_of: Returns how long a model's answers may be.
        """
        self._strategy = strategy
        self._open_model = open_model
        self._settings = settings or ModelSettings()
        self._room_of = room_of
        self._names: dict[str, None] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Return those that were opened, each once, in the order in which they were."""
        return tuple(self._names)

    def __call__(self, name: str) -> ChatModel:
        """Return a model that can be talked to.

        Raises:
            PluginError: If the strategy does not declare it.
            UsageError: If its spending could not be held to a limit.
        """
        declared = {need.name: need for need in self._strategy.needs.models}
        if name not in declared:
            raise PluginError(
                f"strategy {self._strategy.name!r} opens model {name!r}, and the models it declares are: "
                f"{', '.join(declared) or 'none'}. Declare it, as docs/strategies.md shows: "
                f"needs = Needs(models={(*declared, name)!r}), with Needs from predibot.contracts"
            )
        model = _SettledModel(
            self._open_model(name), self._settings, self._room_of(name), declared[name].max_searches or None
        )
        self._names[name] = None
        return model


@dataclass(slots=True)
class _SettledModel:
    """A model that is asked with the settings of the recipe, and given the room it needs to think; for one thread."""

    model: ChatModel
    settings: ModelSettings
    room: Room
    max_searches: int | None = None
    """Of one that searches by itself, which is told how often each time it is asked: else nothing bounds its cost."""
    _longest_tokens: int = 0
    """That the strategy asked for so far."""
    _grown_tokens: int = 0
    """What was cut off may be as long as this when it is asked for again."""
    _cuts: int = 0
    """Answers in a row that were cut off."""
    _cut_tokens: int = 0
    """The longest of these."""

    @property
    def name(self) -> str:
        """Return the name recipes use."""
        return self.model.name

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the model's answer.

        Raises:
            PluginError: If the request does not say how often it may search, or more often than is declared.
            NoAnswer: If it was the third in a row that was cut off.
        """
        most_searches = self.max_searches
        if most_searches and (request.max_searches is None or request.max_searches > most_searches):
            raise PluginError(
                f"model {self.name!r} is declared with max_searches = {most_searches}, and a request says "
                f"{request.max_searches}; say a number up to that in each request"
            )
        stated: dict[str, Any] = {name: value for name, value in self.settings.stated.items() if name in SETTINGS}
        asked = replace(request, **stated)
        self._longest_tokens = max(self._longest_tokens, request.max_output_tokens)
        tokens, ends = self._tokens(asked), time.monotonic() + deadline_seconds
        try:
            reply = self.model.chat(replace(asked, max_output_tokens=tokens), deadline_seconds=deadline_seconds)
        except BudgetSpent:
            # What was cut off needs more than it had; else what the strategy asks for may do.
            less = (tokens + self._cut_tokens) // 2 if self._cut_tokens else request.max_output_tokens
            if not self._cut_tokens < less < tokens or self.settings.max_tokens is not None:
                raise
            tokens = less
            # It may have waited for what others had set aside.
            left_seconds = max(0.0, ends - time.monotonic())
            reply = self.model.chat(replace(asked, max_output_tokens=tokens), deadline_seconds=left_seconds)
        self.room.thinks = self.room.thinks or reply.thought
        if reply.most_tokens is not None:
            tokens = self.room.most_tokens = reply.most_tokens
        # What asked does not know it, and tells the model when an answer is cut off.
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
        return replace(reply, most_tokens=most, more_room=self._tokens(asked) > tokens)

    def _tokens(self, request: ChatRequest) -> int:
        """Return how long the answer to a request may be."""
        tokens, most = request.max_output_tokens, self.settings.max_tokens
        # A strategy that asks for less than before is short of budget, and means it.
        is_short = tokens < self._longest_tokens
        if most is not None or is_short:
            return min(tokens, most or tokens) if is_short else most or tokens
        thinks = self.room.thinks or request.reasoning_effort not in (None, "none")
        wanted = max(tokens, self._grown_tokens, THINKING_TOKENS if thinks else 0)
        return min(wanted, self.room.most_tokens or wanted)
