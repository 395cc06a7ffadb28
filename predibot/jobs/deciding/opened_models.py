"""The models one decision opens: those its strategy declares, and no other."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from predibot.contracts import ChatModel, no_model
from predibot.domain.chat import SETTINGS, ChatReply, ChatRequest
from predibot.domain.terms import ModelSettings
from predibot.errors import PluginError
from predibot.plugins.strategies import StrategySpec


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
    ) -> None:
        """Open none yet.

        Args:
            strategy: Whose decision it is.
            open_model: Returns a model priced, limited and traced.
            settings: What the recipe says of how it answers, which stands above what the strategy says.
        """
        self._strategy = strategy
        self._open_model = open_model
        self._settings = settings or ModelSettings()
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
        model = self._open_model(name)
        self._names[name] = None
        if self._settings.stated:
            model = _SettledModel(model, self._settings)
        most = declared[name].max_searches
        return _SearchingModel(model, most) if most else model


@dataclass(slots=True)
class _SettledModel:
    """A model that is asked with the settings of the recipe; for one thread."""

    model: ChatModel
    settings: ModelSettings
    _longest_tokens: int = 0
    """That the strategy asked for so far."""

    @property
    def name(self) -> str:
        """Return the name recipes use."""
        return self.model.name

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the model's answer."""
        stated: dict[str, Any] = {name: value for name, value in self.settings.stated.items() if name in SETTINGS}
        tokens, most = request.max_output_tokens, self.settings.max_tokens
        self._longest_tokens = max(self._longest_tokens, tokens)
        if most is not None:
            # A strategy that asks for less than before is short of budget, and means it.
            tokens = most if tokens == self._longest_tokens else min(tokens, most)
        asked = replace(request, max_output_tokens=tokens, **stated)
        reply = self.model.chat(asked, deadline_seconds=deadline_seconds)
        # What asked does not know it, and tells the model when an answer is cut off.
        return reply if most is None else replace(reply, most_tokens=tokens)


@dataclass(frozen=True, slots=True)
class _SearchingModel:
    """A model that searches by itself, and is told how often each time it is asked: else nothing bounds its cost."""

    model: ChatModel
    max_searches: int

    @property
    def name(self) -> str:
        """Return the name recipes use."""
        return self.model.name

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the model's answer.

        Raises:
            PluginError: If the request does not say how often it may search, or more often than is declared.
        """
        if request.max_searches is None or request.max_searches > self.max_searches:
            raise PluginError(
                f"model {self.name!r} is declared with max_searches = {self.max_searches}, and a request says "
                f"{request.max_searches}; say a number up to that in each request"
            )
        return self.model.chat(request, deadline_seconds=deadline_seconds)
