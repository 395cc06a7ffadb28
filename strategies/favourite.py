"""The baseline that bets on what is most likely."""

from dataclasses import dataclass

from predibot.contracts import Context
from predibot.domain.decision import Decision, MarketDecision
from predibot.domain.price import Side

SIDES: tuple[Side, Side] = ("YES", "NO")


@dataclass(frozen=True, slots=True)
class Favourite:
    """Forecast the price itself, bet the dollar on the event's dearest outcome."""

    def decide(self, context: Context) -> Decision:
        """Return the whole dollar on the highest side price; ties go by market order, then YES first."""
        priced = [
            (m, m.quote.price) for m in context.subject.markets if m.quote is not None and m.quote.price is not None
        ]
        outcomes = [(market.id, side, price.of(side)) for market, price in priced for side in SIDES]
        # `max` keeps the first of equals.
        best_id, best_side, _ = max(outcomes, key=lambda outcome: outcome[2])
        bets = {best_id: 1.0 if best_side == "YES" else -1.0}
        return Decision(
            tuple(MarketDecision(market.id, price.yes, bets.get(market.id, 0.0)) for market, price in priced)
        )
