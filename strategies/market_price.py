"""The baseline that believes the market."""

from dataclasses import dataclass
from typing import Literal

from predibot.contracts import FIRST_GAME, Context
from predibot.domain.decision import Decision, Forecast
from predibot.domain.event import Event


@dataclass(frozen=True, slots=True)
class MarketPrice:
    """Forecast the price itself, bet the dollar on the side each market favours."""

    stake: Literal["equal", "top_volume"] = "equal"
    """`equal` splits the dollar over the markets, `top_volume` puts it on the most traded of the week."""

    games = (FIRST_GAME,)

    def decide(self, context: Context) -> Decision:
        """Return the prices as probabilities; YES is the favoured side from 0.5 on."""
        priced = [
            (m, m.quote.price) for m in context.event.markets if m.quote is not None and m.quote.price is not None
        ]
        stakes, notes = self._stakes_usd(context.event, context.game.stake_usd)
        forecasts = tuple(Forecast(market.id, price.yes) for market, price in priced)
        bets = {market.id: stakes[market.id] if price.yes >= 0.5 else -stakes[market.id] for market, price in priced}
        return Decision(forecasts, context.orders(bets), notes=notes)

    def _stakes_usd(self, event: Event, stake_usd: float) -> tuple[dict[str, float], tuple[str, ...]]:
        """Return dollars by market, and a note where they are not split as asked."""
        equal = {market.id: stake_usd / len(event.markets) for market in event.markets}
        if self.stake == "equal":
            return equal, ()
        traded = [(market.volume_1wk_usd, market.id) for market in event.markets if market.volume_1wk_usd is not None]
        if not traded:
            return equal, ("no market states its one-week volume, so the dollar is split equally",)
        # `max` keeps the first of equals, so ties go by the order of the markets.
        _, most_traded = max(traded, key=lambda volume_and_id: volume_and_id[0])
        return {market.id: stake_usd if market.id == most_traded else 0.0 for market in event.markets}, ()
