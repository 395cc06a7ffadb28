"""The baseline of chance among portfolios."""

from dataclasses import dataclass

from predibot.contracts import Context
from predibot.domain.decision import Decision


@dataclass(frozen=True, slots=True)
class RandomWeights:
    """Draw a side of every market, and the weights of all of them and of cash, Dirichlet(1, ..., 1)."""

    games = ("portfolio_weights",)

    def decide(self, context: Context) -> Decision:
        """Return a drawn allocation over the markets that have a price."""
        view, rng = context.view, context.rng
        # Exponentials divided by their sum are Dirichlet(1, ..., 1).
        shares = {each.market.id for each in view.universe if each.market.is_share}
        draws = {
            market_id: rng.expovariate(1.0) * (1.0 if market_id in shares or rng.random() < 0.5 else -1.0)
            for market_id in view.prices_yes
        }
        total = rng.expovariate(1.0) + sum(map(abs, draws.values()))
        return Decision(orders=view.orders(view.weights({name: draw / total for name, draw in draws.items()})))
