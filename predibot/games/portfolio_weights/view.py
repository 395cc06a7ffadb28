"""The view of a portfolio: an account, the markets it may hold, and what is known of both."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from predibot.domain.account import Account
from predibot.domain.account_past import AccountPast, asset_name
from predibot.domain.decision import Order
from predibot.domain.event import Market
from predibot.domain.price import SIDES, Instrument, Price, Side
from predibot.errors import PluginError
from predibot.games.accounts import value_usd


@dataclass(frozen=True, slots=True)
class MarketView:
    """A market of the view, and the instruments of its two sides."""

    event_id: str
    event_title: str
    market: Market
    yes: Instrument
    no: Instrument
    in_universe: bool = True
    """Whether the run plays it; else it is shown because something of it is held."""

    def instrument(self, side: Side) -> Instrument:
        """Return the outcome that pays where the answer is this side."""
        return self.yes if side == "YES" else self.no

    def asset(self, side: Side) -> str:
        """Return what prompts and answers call one side of it."""
        return self.market.id if self.market.is_share else asset_name(self.market.id, side)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return the sides that can be held; a share has one."""
        return SIDES[:1] if self.market.is_share else SIDES


@dataclass(frozen=True, slots=True)
class PortfolioView:
    """What a bot is shown when it decides on its weights."""

    at: datetime
    account: Account
    markets: tuple[MarketView, ...]
    past: AccountPast = field(default_factory=AccountPast)
    prices: Mapping[Instrument, Price] = field(default_factory=dict)
    """Of now, of what is quoted and open."""
    benchmarks: Mapping[str, Instrument] = field(default_factory=dict)
    """Index funds by ticker, which only a bot of an index buys."""

    @property
    def universe(self) -> tuple[MarketView, ...]:
        """Return the markets that the run plays."""
        return tuple(market for market in self.markets if market.in_universe)

    @property
    def prices_yes(self) -> dict[str, float]:
        """Return the price of YES of each market that the run plays and that has one, by market id, in their order."""
        return {each.market.id: self.prices[each.yes].mid for each in self.universe if each.yes in self.prices}

    @property
    def dearer_sides(self) -> dict[str, float]:
        """Return 1 for each market that the run plays whose YES is the dearer side, and for each share, else -1.

        By market id, in their order; at half a dollar it is YES, and what has no price is left out.
        """
        is_share = {each.market.id for each in self.universe if each.market.is_share}
        return {name: 1.0 if name in is_share or yes >= 0.5 else -1.0 for name, yes in self.prices_yes.items()}

    @property
    def has_begun(self) -> bool:
        """Return whether the bot has decided on an allocation before."""
        return bool(self.past.allocations or self.past.pending or self.account.positions or self.account.realised_usd)

    @property
    def assets(self) -> dict[str, Instrument]:
        """Return the instrument of each asset that can be given a weight, by its name; CASH is none."""
        return {market.asset(side): market.instrument(side) for market in self.markets for side in market.sides}

    @property
    def marks(self) -> dict[Instrument, Price]:
        """Return the price by which each instrument is valued: of now, else the last that is known."""
        return {**self.past.last_prices, **self.prices}

    @property
    def value_usd(self) -> float | None:
        """Return what the account is worth; None where something is held that was never priced."""
        marks = self.marks
        return value_usd(self.account, marks) if self.account.positions.keys() <= marks.keys() else None

    def weights(self, sides: Mapping[str, float]) -> dict[str, float]:
        """Return weights by asset for those by market id: positive of YES, negative of NO, and zero of neither."""
        shares = {each.market.id for each in self.markets if each.market.is_share}
        return {
            name if name in shares else asset_name(name, "YES" if weight > 0.0 else "NO"): abs(weight)
            for name, weight in sides.items()
            if weight
        }

    def order_benchmark(self, ticker: str) -> tuple[Order, ...]:
        """Return the order that puts the whole account into an index fund.

        Raises:
            PluginError: If there is none of that name.
        """
        if ticker not in self.benchmarks:
            known = ", ".join(self.benchmarks) or "none"
            raise PluginError(f"no index fund {ticker[:40]!r} is traded now; the game's benchmarks are {known}")
        return (Order(self.benchmarks[ticker], 1.0, "weight"),)

    def orders(self, weights: Mapping[str, float], asked: Mapping[str, float] | None = None) -> tuple[Order, ...]:
        """Return the orders for weights by asset; what is left of one is CASH.

        What is held and not named is given the weight 0. No order at all
        leaves every share as it is, so weights of nothing but cash are no
        order only where nothing is held.

        Args:
            weights: Shares of the account, in [0, 1].
            asked: The same as they were said, where a rule has changed them.

        Raises:
            PluginError: If one is of no asset of the view.
        """
        assets = self.assets
        if unknown := [name for name in weights if name not in assets]:
            raise PluginError(f"a weight is of asset {str(unknown[0])[:80]!r}, which is none of this portfolio")
        named = {assets[name] for name in weights}
        said = {} if asked is None else asked
        orders = [Order(assets[name], weight, "weight", asked=said.get(name)) for name, weight in weights.items()]
        orders += [Order(held, 0.0, "weight") for held in self.account.positions if held not in named]
        return tuple(orders)
