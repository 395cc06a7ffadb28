"""The baseline that spreads itself evenly over the dearer sides."""

from dataclasses import dataclass

from predibot.contracts import Context
from predibot.domain.decision import Decision


@dataclass(frozen=True, slots=True)
class EqualWeights:
    """Give the dearer side of every market the same weight, anew at every step."""

    games = ("portfolio_weights",)

    def decide(self, context: Context) -> Decision:
        """Return one part for each market that has a price; YES is the dearer side from 0.5 on."""
        view = context.view
        prices = view.prices_yes
        parts = {market_id: (1.0 if yes >= 0.5 else -1.0) / len(prices) for market_id, yes in prices.items()}
        return Decision(orders=view.orders(view.weights(parts)))
