"""Fill models: at which price an order is filled; pure."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from predibot.domain.decision import Fill, Order
from predibot.domain.price import Price


class FillModel(Protocol):
    """Sets the price of orders."""

    @property
    def name(self) -> str:
        """Return the word that is stored with each fill."""

    def fill(self, order: Order, price: Price) -> Fill | None:
        """Return what an order of dollars or shares comes to at a price, None where it cannot be filled."""


@dataclass(frozen=True, slots=True)
class MidFills:
    """Fill every order whole at the mid, without a fee."""

    name: ClassVar = "mid"

    def fill(self, order: Order, price: Price) -> Fill | None:
        """Return the fill of an order of dollars or shares."""
        return _filled(order, price.mid, self.name)


@dataclass(frozen=True, slots=True)
class QuoteFills:
    """Buy at the ask and sell at the bid, without a fee."""

    name: ClassVar = "quote"

    def fill(self, order: Order, price: Price) -> Fill | None:
        """Return the fill of an order of dollars or shares, None where nobody offers that side."""
        return _filled(order, price.ask if order.side == "buy" else price.bid, self.name)


def _filled(order: Order, price: float | None, model: str) -> Fill | None:
    if order.unit == "weight":
        raise ValueError("a weight is no amount to fill; turn it into dollars or shares of the account first")
    if not price:
        return None
    is_usd, sign = order.unit == "usd", 1.0 if order.side == "buy" else -1.0
    shares, cash_usd = (order.amount / price, order.amount) if is_usd else (order.amount, order.amount * price)
    return Fill(order.instrument, sign * shares, price, 0.0, -sign * cash_usd, model)
