"""The price, moved a small part of the way to what other bots of the recipe believe; bets follow from it."""

import math
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from predibot.contracts import Context, Needs
from predibot.domain.decision import Abstention, Decision, Forecast
from predibot.domain.sizing import SizingRule, bets_usd
from predibot.errors import PluginError
from predibot.scoring.metrics.pooling import pool_probabilities
from predibot.scoring.metrics.price_step import MEMBER_CLIP, PRICE_RANGE, step_from_price


@dataclass(frozen=True, slots=True)
class Anchored:
    """Step from the price toward the mean log-odds of members, whose decisions are reused and cost nothing again.

    The price is that of the instant at which this bot decides, after its members.
    """

    members: tuple[str, ...]
    """Bots of the same recipe, which decide before this one."""
    step: Annotated[float, Field(ge=0, le=1)] = 0.1
    """How far, as a share of the distance in log-odds."""
    lowest_price: Annotated[float, Field(ge=0, le=1)] = PRICE_RANGE[0]
    """A lower price of YES is repeated."""
    highest_price: Annotated[float, Field(ge=0, le=1)] = PRICE_RANGE[1]
    """A higher price of YES is repeated."""
    sizing: SizingRule = "fractional_kelly"
    """How bets are sized: `kelly`, `half_kelly`, `fractional_kelly` or `flat`."""
    min_share: Annotated[float, Field(gt=0, le=1)] = 0.5
    """The share of members that must have a decision."""

    games = ("dollar_per_event",)

    def __post_init__(self) -> None:
        """Refuse members and prices that make no pool and no range."""
        if not self.members or len(set(self.members)) < len(self.members):
            raise PluginError("strategy 'anchored' takes members, each named once")
        if self.lowest_price > self.highest_price:
            raise PluginError("strategy 'anchored': lowest_price is above highest_price")

    @property
    def needs(self) -> Needs:
        """Return the members it starts from."""
        return Needs(members=self.members)

    def decide(self, context: Context) -> Decision | Abstention:
        """Return a forecast for every market, or an abstention where too few members have them all."""
        markets = context.event.markets
        quotes = [market.quote.price for market in markets if market.quote is not None]
        prices = [price for price in quotes if price is not None]
        if len(prices) < len(markets):
            return Abstention("a market has no price to begin at")
        beliefs = []
        for name in self.members:
            decision = context.members.get(name)
            stated = {} if decision is None else {each.market_id: each.probability for each in decision.forecasts}
            if all(0.0 <= stated.get(market.id, math.nan) <= 1.0 for market in markets):
                beliefs.append([stated[market.id] for market in markets])
        wanted = max(1, math.ceil(self.min_share * len(self.members) - 1e-9))
        if len(beliefs) < wanted:
            reason = f"{len(beliefs)} of {len(self.members)} members have a decision on all markets, {wanted} must"
            return Abstention(f"{reason}. Members have to play in the same run", "members")
        clipped = [[min(max(p, MEMBER_CLIP), 1.0 - MEMBER_CLIP) for p in belief] for belief in beliefs]
        pooled = pool_probabilities(list(zip(*clipped, strict=True)), method="log_odds")
        at = [price.yes for price in prices]
        stepped = [
            float(p)
            for p in step_from_price(at, pooled, self.step, price_range=(self.lowest_price, self.highest_price))
        ]
        forecasts = tuple(
            Forecast(market.id, p, rationale=f"from {price:.3g} toward {belief:.3g} by {self.step:g}")
            for market, p, price, belief in zip(markets, stepped, at, pooled, strict=True)
        )
        bettable = [
            price.yes if price.usable and not market.closed else None
            for market, price in zip(markets, prices, strict=True)
        ]
        bets = bets_usd(self.sizing, stepped, bettable, context.game.stake_usd)
        orders = context.orders({market.id: bet for market, bet in zip(markets, bets, strict=True)})
        return Decision(forecasts, orders, notes=(f"step {self.step:g} from {len(beliefs)} members",))
