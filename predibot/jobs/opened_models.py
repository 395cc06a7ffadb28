"""The models one decision opens: those its strategy declares, and no other."""

from collections.abc import Callable

from predibot.contracts import ChatModel, no_model
from predibot.errors import PluginError
from predibot.plugins import StrategySpec


class OpenedModels:
    """Opens models by name for one decision, and knows which it opened; for one thread.

    What is not declared is refused: nobody would have priced it, counted it in
    the worst case, or kept it from the future.
    """

    def __init__(self, strategy: StrategySpec, open_model: Callable[[str], ChatModel] = no_model) -> None:
        """Open none yet.

        Args:
            strategy: Whose decision it is.
            open_model: Returns a model priced, limited and traced.
        """
        self._strategy = strategy
        self._open_model = open_model
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
        declared = dict.fromkeys(need.name for need in self._strategy.needs.models)
        if name not in declared:
            raise PluginError(
                f"strategy {self._strategy.name!r} opens model {name!r}, and the models it declares are: "
                f"{', '.join(declared) or 'none'}. Declare it, as docs/strategies.md shows: "
                f"needs = Needs(models=({name!r},)), with Needs from predibot.contracts"
            )
        model = self._open_model(name)
        self._names[name] = None
        return model
