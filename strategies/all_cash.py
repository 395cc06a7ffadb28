"""The baseline that holds nothing."""

from dataclasses import dataclass

from predibot.contracts import Context
from predibot.domain.decision import Decision


@dataclass(frozen=True, slots=True)
class AllCash:
    """Keep the whole portfolio in cash, so that it is worth its deposit for ever."""

    games = ("portfolio_weights",)

    def decide(self, context: Context) -> Decision:
        """Return no weight for anything; what is held is sold."""
        return Decision(orders=context.view.orders({}))
