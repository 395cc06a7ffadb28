"""The baseline of chance in a cohort."""

from dataclasses import dataclass

from predibot.contracts import Context
from predibot.domain.decision import Decision, Order


@dataclass(frozen=True, slots=True)
class RandomTrade:
    """Draw every week whether to bet, to sell or to hold, and on what and how much."""

    games = ("weekly_cohort",)

    def decide(self, context: Context) -> Decision:
        """Return a bet of a drawn amount, the sale of a drawn position, or nothing, each as often as the others."""
        view, rng = context.view, context.rng
        # All are drawn, so that what one week has changes nothing of what another one draws.
        action, place, share = rng.randrange(3), rng.random(), rng.random()
        if action == 0 and view.bet_range_usd is not None:
            least_usd, most_usd = view.bet_range_usd
            offered = [
                outcome.instrument
                for market in view.markets
                if market.in_universe
                for outcome in market.outcomes
                if outcome.is_buyable
            ]
            if offered:
                amount_usd = least_usd + share * (most_usd - least_usd)
                return Decision(orders=(Order(offered[int(place * len(offered))], amount_usd),))
        held = [each for each in view.positions if not each.is_closed and each.outcome.price is not None]
        sellable = [each for each in held if each.outcome.price.mid > 0.0]
        if action == 1 and sellable:
            sold = sellable[int(place * len(sellable))]
            return Decision(orders=(Order(sold.outcome.instrument, sold.shares, "shares", "sell"),))
        return Decision()
