"""The baseline that buys once."""

from dataclasses import dataclass

from predibot.contracts import Context
from predibot.domain.decision import Decision


@dataclass(frozen=True, slots=True)
class BuyAndHold:
    """Give the dearer side of every market, or every stock, one weight once, then keep shares, and what they pay."""

    games = ("portfolio_weights",)

    def decide(self, context: Context) -> Decision:
        """Return one part for each market that has a price, or later no order, which leaves every share as it is."""
        view = context.view
        if view.past.pending and not view.account.positions:
            # Nothing closed since: another answer would replace what is still to be bought.
            return Decision(orders=view.past.pending)
        if view.has_begun:
            return Decision()
        sides = view.dearer_sides
        parts = {market_id: side / len(sides) for market_id, side in sides.items()}
        return Decision(orders=view.orders(view.weights(parts)))
