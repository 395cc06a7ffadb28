"""The price, moved as far toward another bot's forecasts as those have earned so far; bets follow from it."""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from predibot.contracts import Context, Needs
from predibot.domain.decision import Abstention, Decision, Forecast
from predibot.domain.sizing import SizingRule, bets_usd
from predibot.errors import PluginError
from predibot.scoring.metrics.price_step import PRICE_RANGE, fit_step, step_from_price


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Step from the price toward what another bot says, by the one share that its settled forecasts have earned.

    The other bot decides first, and its decision is reused at no cost. Without settled forecasts this is the market.
    """

    bot: str
    """A bot of the same recipe."""
    lowest_price: Annotated[float, Field(ge=0, le=1)] = PRICE_RANGE[0]
    """A lower price of YES is repeated."""
    highest_price: Annotated[float, Field(ge=0, le=1)] = PRICE_RANGE[1]
    """A higher price of YES is repeated."""
    sizing: SizingRule = "fractional_kelly"
    """How bets are sized: `kelly`, `half_kelly`, `fractional_kelly` or `flat`."""

    games = ("dollar_per_event",)

    def __post_init__(self) -> None:
        """Refuse prices that make no range."""
        if self.lowest_price > self.highest_price:
            raise PluginError("strategy 'calibrated': lowest_price is above highest_price")

    @property
    def needs(self) -> Needs:
        """Return the bot it waits for, whose settled forecasts it learns from."""
        return Needs(members=(self.bot,), settled=True)

    def decide(self, context: Context) -> Decision | Abstention:
        """Return a forecast for every market; an abstention where the other bot abstained or a price is missing.

        Raises:
            PluginError: If the other bot has no decision for another reason, which the message repeats.
        """
        decision = context.members.get(self.bot)
        if decision is None:
            status, reason = context.undecided.get(self.bot, ("abstained", "it does not play in this run"))
            if status == "abstained":
                return Abstention(f"bot {self.bot!r} has no decision: {reason}", "members")
            raise PluginError(f"bot {self.bot!r} has no decision, it {status}: {reason}")
        markets = context.event.markets
        quotes = [market.quote.price for market in markets if market.quote is not None]
        prices = [price for price in quotes if price is not None]
        if len(prices) < len(markets):
            return Abstention("a market has no price to begin at")
        stated = {each.market_id: each.probability for each in decision.forecasts}
        if any(market.id not in stated for market in markets):
            return Abstention(f"bot {self.bot!r} says nothing about some market", "members")
        step, events = self._fit(context)
        at, believed = [price.yes for price in prices], [stated[market.id] for market in markets]
        moved = step_from_price(at, believed, step, price_range=(self.lowest_price, self.highest_price))
        forecasts = tuple(
            Forecast(market.id, float(p), rationale=f"from {price:.3g} toward {belief:.3g} by {step:.3g}")
            for market, p, price, belief in zip(markets, moved, at, believed, strict=True)
        )
        bettable = [
            price.yes if price.usable and not market.closed else None
            for market, price in zip(markets, prices, strict=True)
        ]
        bets = bets_usd(self.sizing, [each.probability for each in forecasts], bettable, context.game.stake_usd)
        orders = context.orders({market.id: bet for market, bet in zip(markets, bets, strict=True)})
        note = f"step {step:.4g} from n = {events:,} settled events of {self.bot}"
        return Decision(forecasts, orders, notes=(note,))

    def _fit(self, context: Context) -> tuple[float, int]:
        """Return the step that settled forecasts have earned, and how many events they are on."""
        earlier = context.settled(self.bot)
        rows = Counter(each.event_id for each in earlier)
        step = fit_step(
            [each.price_yes for each in earlier],
            [each.probability for each in earlier],
            [each.outcome for each in earlier],
            [1.0 / rows[each.event_id] for each in earlier],
        )
        return step, len(rows)
