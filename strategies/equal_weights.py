"""The baseline that spreads itself evenly over the dearer sides."""

from dataclasses import dataclass

from predibot.contracts import Context
from predibot.domain.decision import Decision


@dataclass(frozen=True, slots=True)
class EqualWeights:
    """Give the dearer side of every market, or every stock, the same weight, anew at every step."""

    games = ("portfolio_weights",)

    def decide(self, context: Context) -> Decision:
        """Return one part for each market that has a price; YES is the dearer side from 0.5 on."""
        view = context.view
        sides = view.dearer_sides
        parts = {market_id: side / len(sides) for market_id, side in sides.items()}
        return Decision(orders=view.orders(view.weights(parts)))
