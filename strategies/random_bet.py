"""The baseline without any knowledge: everything is drawn."""

from dataclasses import dataclass

from predibot.contracts import FIRST_GAME, Context
from predibot.domain.decision import Decision, Forecast
from predibot.domain.price import MIN_SIDE_PRICE, EntryPrice, Side


@dataclass(frozen=True, slots=True)
class RandomBet:
    """Draw probabilities evenly, bet the whole dollar in random parts on random sides."""

    games = (FIRST_GAME,)

    def decide(self, context: Context) -> Decision:
        """Return a drawn decision: sizes Dirichlet(1, ..., 1), sides fair and independent of the probability.

        A side that may not be bet on, because it costs less than a tenth of a
        cent, is exchanged for the other one; a note names the market.
        """
        rng = context.rng
        priced = [
            (m, m.quote.price) for m in context.event.markets if m.quote is not None and m.quote.price is not None
        ]
        # Exponentials divided by their sum are Dirichlet(1, ..., 1).
        draws = [(rng.random(), rng.expovariate(1.0), rng.random() < 0.5) for _ in priced]
        total = sum(size for _, size, _ in draws)
        forecasts, bets, exchanged = [], {}, []
        for (market, price), (probability, size, draws_yes) in zip(priced, draws, strict=True):
            drawn: Side = "YES" if draws_yes else "NO"
            side = _allowed(drawn, price)
            if side != drawn:
                exchanged.append(market.id)
            bet_usd = context.game.stake_usd * (size / total)
            forecasts.append(Forecast(market.id, probability))
            bets[market.id] = bet_usd if side == "YES" else -bet_usd
        notes = (f"drew a side too cheap to bet on, took the other: {', '.join(exchanged)}",) if exchanged else ()
        return Decision(tuple(forecasts), context.orders(bets), notes=notes)


def _allowed(side: Side, price: EntryPrice) -> Side:
    if price.of(side) >= MIN_SIDE_PRICE:
        return side
    return "NO" if side == "YES" else "YES"
