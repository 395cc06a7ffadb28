"""The baseline that bets on what is least likely."""

from dataclasses import dataclass

from predibot.contracts import FIRST_GAME, Context
from predibot.domain.decision import Decision, Forecast
from predibot.domain.price import SIDES

MIN_PRICE = 0.01


@dataclass(frozen=True, slots=True)
class Underdog:
    """Forecast the price itself, bet the dollar on the event's cheapest outcome of at least a cent."""

    games = (FIRST_GAME,)

    def decide(self, context: Context) -> Decision:
        """Return the whole dollar on the lowest side price that is at least 0.01.

        Ties go by market order, then YES first. There always is such a side:
        one of the two of every market costs at least 0.50.
        """
        priced = [
            (m, m.quote.price) for m in context.event.markets if m.quote is not None and m.quote.price is not None
        ]
        outcomes = [(market.id, side, price.of(side)) for market, price in priced for side in SIDES]
        # `min` keeps the first of equals.
        affordable = [outcome for outcome in outcomes if outcome[2] >= MIN_PRICE]
        best_id, best_side, _ = min(affordable, key=lambda outcome: outcome[2])
        stake_usd = context.game.stake_usd
        bets = {best_id: stake_usd if best_side == "YES" else -stake_usd}
        return Decision(tuple(Forecast(market.id, price.yes) for market, price in priced), context.orders(bets))
