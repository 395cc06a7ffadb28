"""The baseline that knows nothing and bets against the market."""

from dataclasses import dataclass

from predibot.contracts import FIRST_GAME, Context
from predibot.domain.decision import Decision, Forecast
from predibot.domain.price import MIN_SIDE_PRICE, Side


@dataclass(frozen=True, slots=True)
class AlwaysHalf:
    """Forecast 0.5 everywhere, split the dollar equally on the sides that market_price does not take."""

    games = (FIRST_GAME,)

    def decide(self, context: Context) -> Decision:
        """Return a half for every market; NO is bet on where YES is favoured, and YES elsewhere.

        A side that costs less than a tenth of a cent may not be bet on: its
        market gets no bet, the others share the dollar, and a note names it.
        """
        priced = [
            (m, m.quote.price) for m in context.event.markets if m.quote is not None and m.quote.price is not None
        ]
        sides: dict[str, Side] = {}
        too_cheap = []
        for market, price in priced:
            side: Side = "NO" if price.yes >= 0.5 else "YES"
            if price.of(side) >= MIN_SIDE_PRICE:
                sides[market.id] = side
            else:
                too_cheap.append(market.id)
        stake_usd = context.game.stake_usd / max(1, len(sides))
        bets = {market_id: stake_usd if side == "YES" else -stake_usd for market_id, side in sides.items()}
        forecasts = tuple(Forecast(market.id, 0.5) for market, _ in priced)
        notes = (f"no bet on a side too cheap to bet on: {', '.join(too_cheap)}",) if too_cheap else ()
        return Decision(forecasts, context.orders(bets), notes=notes)
