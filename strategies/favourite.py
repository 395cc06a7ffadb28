"""The baseline that bets on what is most likely."""

from dataclasses import dataclass

from predibot.contracts import FIRST_GAME, Context
from predibot.domain.decision import Decision, Forecast
from predibot.domain.price import SIDES


@dataclass(frozen=True, slots=True)
class Favourite:
    """Forecast the price itself, bet the dollar on the event's dearest outcome."""

    games = (FIRST_GAME,)

    def decide(self, context: Context) -> Decision:
        """Return the whole dollar on the highest side price; ties go by market order, then YES first."""
        priced = [
            (m, m.quote.price) for m in context.event.markets if m.quote is not None and m.quote.price is not None
        ]
        outcomes = [(market.id, side, price.of(side)) for market, price in priced for side in SIDES]
        # `max` keeps the first of equals.
        best_id, best_side, _ = max(outcomes, key=lambda outcome: outcome[2])
        stake_usd = context.game.stake_usd
        bets = {best_id: stake_usd if best_side == "YES" else -stake_usd}
        return Decision(tuple(Forecast(market.id, price.yes) for market, price in priced), context.orders(bets))
