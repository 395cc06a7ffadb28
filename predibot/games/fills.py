"""Fill models: the price, the amount and the fee at which an order is filled; pure."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from predibot.domain.decision import Fill, Order
from predibot.domain.price import Price
from predibot.errors import UsageError

FILL_NAMES = ("mid", "quote", "book")


@dataclass(frozen=True, slots=True)
class FillModel:
    """Turns an order into a fill: any amount at the `mid`; any amount at the `quote`, which is the ask for buying and
    the bid for selling; or from the recorded levels of the `book`, the best first, and no share beyond them. Raises
    `UsageError` if there is no such model.
    """

    basis: str = "mid"
    fee_bps: float = 0.0
    """A fee besides the venue's, in hundredths of a percent of a trade's money."""
    spread_bps: float = 0.0
    """Between buying and selling, in hundredths of a percent of the price."""

    def __post_init__(self) -> None:
        """Refuse an unknown model."""
        if self.basis not in FILL_NAMES:
            raise UsageError(f"{self.basis!r} is no fill model; take one of {', '.join(FILL_NAMES)}")

    @property
    def name(self) -> str:
        """Return the name stored with each fill."""
        costs = f", fee {self.fee_bps:g} bp, spread {self.spread_bps:g} bp"
        return f"{self.basis}{costs if self.fee_bps or self.spread_bps else ''}"

    def fill(self, order: Order, price: Price) -> Fill | None:
        """Return the fill of an order of dollars or shares at a price, None where nothing can be filled.

        Dollars are before the fee. A fill may be smaller than its order. A sale that would bring less than its fees is
        not filled. Raises `ValueError` if the order is a weight, or its amount is not above 0.
        """
        is_buy, most = order.side == "buy", order.instrument.price_bound[1]
        if self.basis == "book":
            offered = [(each.price, each.shares) for each in (price.asks if is_buy else price.bids)]
        else:
            best = price.mid if self.basis == "mid" else price.ask if is_buy else price.bid
            offered = [(best, math.inf)] if best else []
        if self.spread_bps:
            step = self.spread_bps / 2e4 * (1.0 if is_buy else -1.0)
            offered = [(min(at * (1.0 + step), most), shares) for at, shares in offered]
        filled = _fill(order, price, offered, self.name)
        if filled is None:
            return None
        fee_usd = filled.fee_usd + abs(filled.cash_usd) * self.fee_bps / 1e4
        return None if not is_buy and fee_usd > filled.cash_usd else replace(filled, fee_usd=fee_usd)


def explain_unfilled(order: Order, price: Price, model: FillModel) -> str:
    """Return why a model filled nothing of an order of dollars or shares."""
    if price.fees is not None and model.fill(order, replace(price, fees=None)) is not None:
        return "its fee is more than it would bring"
    return "nobody offered any"


_SAME_AMOUNT = 1e-12
"""A filled amount this close to the order, as a part of it, is the whole order: the rest is rounding."""
_Traded = tuple[float, float, float]
"""A price, the shares traded at it, and their cost there in dollars."""


def _fill(order: Order, price: Price, offered: Sequence[tuple[float, float]], model: str) -> Fill | None:
    if order.unit == "weight":
        raise ValueError("a weight is no amount to fill; turn it into dollars or shares of the account first")
    if not 0.0 < order.amount < math.inf:
        raise ValueError(f"an order of {order.amount:g} {order.unit} asks for nothing")
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
