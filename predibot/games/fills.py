"""Fill models: at which prices an order is filled, how much of it, and what the venue charges; pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Protocol

from predibot.domain.decision import Fill, Order
from predibot.domain.price import Level, Price
from predibot.errors import UsageError


class FillModel(Protocol):
    """Sets the prices of orders."""

    @property
    def name(self) -> str:
        """Return the word that is stored with each fill."""

    def fill(self, order: Order, price: Price) -> Fill | None:
        """Return what an order of dollars or shares comes to at a price, None where nothing of it can be filled.

        Dollars are what the shares cost, or bring, without the fee. Fewer shares
        than were asked for may be filled. What would bring less than its fee is
        not sold.

        Raises:
            ValueError: If the order is a weight, or asks for no amount above 0.
        """


@dataclass(frozen=True, slots=True)
class MidFills:
    """Fill every order whole at the mid."""

    name: ClassVar = "mid"

    def fill(self, order: Order, price: Price) -> Fill | None:
        """Return the fill of an order of dollars or shares."""
        return _filled(order, price, _endless(price.mid), self.name)


@dataclass(frozen=True, slots=True)
class QuoteFills:
    """Buy at the ask and sell at the bid, however much is asked for."""

    name: ClassVar = "quote"

    def fill(self, order: Order, price: Price) -> Fill | None:
        """Return the fill of an order of dollars or shares, None where nobody offers that side."""
        return _filled(order, price, _endless(price.ask if order.side == "buy" else price.bid), self.name)


@dataclass(frozen=True, slots=True)
class BookFills:
    """Walk the recorded levels from the best one on; what is not there is not filled."""

    name: ClassVar = "book"

    def fill(self, order: Order, price: Price) -> Fill | None:
        """Return the fill of an order of dollars or shares at the average of its levels, None where there are none."""
        return _filled(order, price, price.asks if order.side == "buy" else price.bids, self.name)


FILL_MODELS: Mapping[str, FillModel] = MappingProxyType(
    {model.name: model for model in (MidFills(), QuoteFills(), BookFills())}
)


@dataclass(frozen=True, slots=True)
class CostedFills:
    """Fill as another model does, with half a spread around its prices, and a fee beside the venue's."""

    base: FillModel
    fee_bps: float = 0.0
    """Of the money of a trade, in hundredths of a percent."""
    spread_bps: float = 0.0
    """Between buying and selling, in hundredths of a percent of the price."""

    @property
    def name(self) -> str:
        """Return the word that is stored with each fill."""
        return f"{self.base.name}, fee {self.fee_bps:g} bp, spread {self.spread_bps:g} bp"

    def fill(self, order: Order, price: Price) -> Fill | None:
        """Return the fill of an order of dollars or shares; none that would bring less than its fees."""
        step = self.spread_bps / 2e4 * (1.0 if order.side == "buy" else -1.0)
        most = order.instrument.price_bound[1]

        def moved(at: float | None) -> float | None:
            return None if at is None else min(at * (1.0 + step), most)

        def walked(levels: Sequence[Level]) -> tuple[Level, ...]:
            return tuple(Level(min(each.price * (1.0 + step), most), each.shares) for each in levels)

        shifted = replace(
            price,
            mid=min(price.mid * (1.0 + step), most),
            bid=moved(price.bid),
            ask=moved(price.ask),
            bids=walked(price.bids),
            asks=walked(price.asks),
        )
        filled = self.base.fill(order, shifted)
        if filled is None:
            return None
        fee_usd = filled.fee_usd + abs(filled.cash_usd) * self.fee_bps / 1e4
        if order.side == "sell" and fee_usd > filled.cash_usd:
            return None
        return replace(filled, fee_usd=fee_usd, model=self.name)


def fill_model(name: str, *, fee_bps: float = 0.0, spread_bps: float = 0.0) -> FillModel:
    """Return the fill model of a name, with costs beside it where there are any.

    Raises:
        UsageError: If there is none of that name.
    """
    if name not in FILL_MODELS:
        raise UsageError(f"{name!r} is no fill model; take one of {', '.join(FILL_MODELS)}")
    model = FILL_MODELS[name]
    return CostedFills(model, fee_bps, spread_bps) if fee_bps or spread_bps else model


def why_unfilled(order: Order, price: Price, model: FillModel) -> str:
    """Return why a model filled nothing of an order of dollars or shares."""
    if price.fees is not None and model.fill(order, replace(price, fees=None)) is not None:
        return "its fee is more than it would bring"
    return "nobody offered any"


_SAME_AMOUNT = 1e-12
"""By this part of an order what its levels took may differ from it through rounding alone; then all of it was."""
_Traded = tuple[float, float, float]
"""A price, the shares that trade at it, and what they cost there, in dollars."""


def _endless(price: float | None) -> tuple[tuple[float, float], ...]:
    """Return the one level of a model that looks at no depth."""
    return ((price, math.inf),) if price else ()


def _filled(
    order: Order, price: Price, levels: Sequence[Level] | Sequence[tuple[float, float]], model: str
) -> Fill | None:
    if order.unit == "weight":
        raise ValueError("a weight is no amount to fill; turn it into dollars or shares of the account first")
    if not 0.0 < order.amount < math.inf:
        raise ValueError(f"an order of {order.amount:g} {order.unit} asks for nothing")
    offered = [(each.price, each.shares) if isinstance(each, Level) else each for each in levels]
    traded = list(_traded(order, offered))
    shares, cost_usd = math.fsum(each[1] for each in traded), math.fsum(each[2] for each in traded)
    if shares <= 0.0:
        return None
    # A sum of levels may be one rounding off: no more goes than there is, and nothing of it stays behind.
    if order.unit == "shares":
        shares = _as_asked(order.amount, shares)
    else:
        cost_usd = _as_asked(order.amount, cost_usd)
    fee_usd = 0.0 if price.fees is None else math.fsum(each[1] * price.fees.share_usd(each[0]) for each in traded)
    if order.side == "sell" and fee_usd > cost_usd:
        return None
    # The average of one level is its price, which dividing again might round.
    paid = traded[0][0] if len(traded) == 1 else cost_usd / shares
    sign = 1.0 if order.side == "buy" else -1.0
    return Fill(order.instrument, sign * shares, paid, fee_usd, -sign * cost_usd, model)


def _as_asked(asked: float, taken: float) -> float:
    return asked if abs(asked - taken) <= _SAME_AMOUNT * asked else taken


def _traded(order: Order, levels: Sequence[tuple[float, float]]) -> Iterator[_Traded]:
    left, is_usd = order.amount, order.unit == "usd"
    for price, shares in levels:
        # Nothing is bought or sold for nothing: what brings no money waits for its settlement.
        if left <= 0.0 or price <= 0.0:
            continue
        offered = shares * price if is_usd else shares
        taken = min(left, offered)
        left -= taken
        if taken == offered:
            yield price, shares, shares * price
        else:
            yield (price, taken / price, taken) if is_usd else (price, taken, taken * price)
