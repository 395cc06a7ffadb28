"""Fill models: the price, the amount and the fee at which an order is filled; pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Protocol

from predibot.domain.decision import Fill, Order
from predibot.domain.price import Level, Price
from predibot.errors import UsageError


class FillModel(Protocol):
    """Turns an order into a fill."""

    @property
    def name(self) -> str:
        """Return the name stored with each fill."""

    def fill(self, order: Order, price: Price) -> Fill | None:
        """Return the fill of an order of dollars or shares at a price, None where nothing can be filled.

        Dollars are before the fee. A fill may be smaller than its order. A sale that would bring less than its fee is
        not filled. Raises `ValueError` if the order is a weight, or its amount is not above 0.
        """


@dataclass(frozen=True, slots=True)
class MidFills:
    """Fill every order whole at the mid."""

    name: ClassVar = "mid"

    def fill(self, order: Order, price: Price) -> Fill | None:
        """Return the fill of an order of dollars or shares."""
        return _fill(order, price, _unlimited(price.mid), self.name)


@dataclass(frozen=True, slots=True)
class QuoteFills:
    """Buy at the ask and sell at the bid, any amount."""

    name: ClassVar = "quote"

    def fill(self, order: Order, price: Price) -> Fill | None:
        """Return the fill of an order of dollars or shares, None where that side has no quote."""
        return _fill(order, price, _unlimited(price.ask if order.side == "buy" else price.bid), self.name)


@dataclass(frozen=True, slots=True)
class BookFills:
    """Fill from the recorded levels, the best first; shares beyond them are not filled."""

    name: ClassVar = "book"

    def fill(self, order: Order, price: Price) -> Fill | None:
        """Return the fill of an order of dollars or shares at the average of its levels, None where there are none."""
        return _fill(order, price, price.asks if order.side == "buy" else price.bids, self.name)


FILL_MODELS: Mapping[str, FillModel] = MappingProxyType(
    {model.name: model for model in (MidFills(), QuoteFills(), BookFills())}
)


@dataclass(frozen=True, slots=True)
class CostedFills:
    """Fill as another model does, with half a spread on its prices and a fee besides the venue's."""

    base: FillModel
    fee_bps: float = 0.0
    """In hundredths of a percent of a trade's money."""
    spread_bps: float = 0.0
    """Between buying and selling, in hundredths of a percent of the price."""

    @property
    def name(self) -> str:
        """Return the name stored with each fill."""
        return f"{self.base.name}, fee {self.fee_bps:g} bp, spread {self.spread_bps:g} bp"

    def fill(self, order: Order, price: Price) -> Fill | None:
        """Return the fill of an order of dollars or shares, None for a sale that would bring less than its fees."""
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
    """Return the fill model with a name, with any costs added; raise `UsageError` if there is none."""
    if name not in FILL_MODELS:
        raise UsageError(f"{name!r} is no fill model; take one of {', '.join(FILL_MODELS)}")
    model = FILL_MODELS[name]
    return CostedFills(model, fee_bps, spread_bps) if fee_bps or spread_bps else model


def explain_unfilled(order: Order, price: Price, model: FillModel) -> str:
    """Return why a model filled nothing of an order of dollars or shares."""
    if price.fees is not None and model.fill(order, replace(price, fees=None)) is not None:
        return "its fee is more than it would bring"
    return "nobody offered any"


_SAME_AMOUNT = 1e-12
"""A filled amount this close to the order, as a part of it, is the whole order: the rest is rounding."""
_Traded = tuple[float, float, float]
"""A price, the shares traded at it, and their cost there in dollars."""


def _unlimited(price: float | None) -> tuple[tuple[float, float], ...]:
    return ((price, math.inf),) if price else ()


def _fill(
    order: Order, price: Price, levels: Sequence[Level] | Sequence[tuple[float, float]], model: str
) -> Fill | None:
    if order.unit == "weight":
        raise ValueError("a weight is no amount to fill; turn it into dollars or shares of the account first")
    if not 0.0 < order.amount < math.inf:
        raise ValueError(f"an order of {order.amount:g} {order.unit} asks for nothing")
    offered = [(each.price, each.shares) if isinstance(each, Level) else each for each in levels]
    traded = list(_walk(order, offered))
    shares, cost_usd = math.fsum(each[1] for each in traded), math.fsum(each[2] for each in traded)
    if shares <= 0.0:
        return None
    # A sum of levels may be one rounding off the order.
    if order.unit == "shares":
        shares = _snap(order.amount, shares)
    else:
        cost_usd = _snap(order.amount, cost_usd)
    fee_usd = 0.0 if price.fees is None else math.fsum(each[1] * price.fees.share_usd(each[0]) for each in traded)
    if order.side == "sell" and fee_usd > cost_usd:
        return None
    # Dividing might round the price of a single level.
    paid = traded[0][0] if len(traded) == 1 else cost_usd / shares
    sign = 1.0 if order.side == "buy" else -1.0
    return Fill(order.instrument, sign * shares, paid, fee_usd, -sign * cost_usd, model)


def _snap(asked: float, taken: float) -> float:
    return asked if abs(asked - taken) <= _SAME_AMOUNT * asked else taken


def _walk(order: Order, levels: Sequence[tuple[float, float]]) -> Iterator[_Traded]:
    left, is_usd = order.amount, order.unit == "usd"
    for price, shares in levels:
        # Nothing trades at a price of zero: such a position waits for its settlement.
        if left <= 0.0 or price <= 0.0:
            continue
        offered = shares * price if is_usd else shares
        taken = min(left, offered)
        left -= taken
        if taken == offered:
            yield price, shares, shares * price
        else:
            yield (price, taken / price, taken) if is_usd else (price, taken, taken * price)
