"""The baseline that puts everything on what is most likely."""

from dataclasses import dataclass

from predibot.contracts import Context
from predibot.domain.decision import Decision


@dataclass(frozen=True, slots=True)
class MarketFavourite:
    """Put the whole portfolio on the dearest side of all markets, anew at every step."""

    games = ("portfolio_weights",)

    def decide(self, context: Context) -> Decision:
        """Return one weight of 1; ties go by the order of the markets, then YES first."""
        view = context.view
        # `max` keeps the first of equals.
        best = max(view.prices_yes.items(), key=lambda priced: max(priced[1], 1.0 - priced[1]), default=None)
        if best is None:
            return Decision(orders=view.orders({}), notes=("no market has a price, so all of it is cash",))
        market_id, yes = best
        return Decision(orders=view.orders(view.weights({market_id: 1.0 if yes >= 0.5 else -1.0})))
