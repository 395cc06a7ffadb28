"""Rebalancing: the trades that bring an account to target weights, sales first and never on credit; pure."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from predibot.domain.account import ROUNDING_USD, Account
from predibot.domain.decision import BookedOrder, Booking, Fill, Order, OrderSide
from predibot.domain.price import Instrument, Price
from predibot.games.accounts import journal_of_fills
from predibot.games.fills import FillModel, explain_unfilled

_SAME_SHARES = 1e-12
"""A target this close to the position, as a part of it, changes nothing: the difference is rounding."""
_HALVINGS = 60
"""Steps of the bisection for the factor of the buys, where a book makes cost nonlinear."""
NO_FROZEN: Mapping[Instrument, float] = MappingProxyType({})


def rebalance(
    account: Account,
    targets: Mapping[Instrument, float],
    prices: Mapping[Instrument, Price],
    fills: FillModel,
    *,
    at: datetime,
    follows_from: str = "",
    frozen: Mapping[Instrument, float] = NO_FROZEN,
) -> Booking:
    """Return the trades that bring an account to target weights, if prices and cash allow.

    Weights are shares of the account's value at the mid. Positions without a target are sold. Sales come first; then
    one factor scales all buys to the cash there is, fees included. Positions without a price stay. An account that owes
    only sells. Each target and each other position has one order in weight: filled unless its note says less, expired
    where nothing was filled. `scale` is the factor of the buys, `unallocated_usd` the remaining cash.

    Args:
        targets: Weights by instrument, each in [0, 1], together at most 1; the rest is cash.
        prices: Of the instruments that can be traded now.
        frozen: The last price in dollars of each position that has none now.

    Raises:
        ValueError: If the targets are no weights, or a position has neither a price nor a last one.
    """
    _check_targets(targets)
    value = _value_usd(account, prices, frozen)
    wanted = {**dict.fromkeys(account.positions, 0.0), **targets}
    trades = [
        _Trade(instrument, weight, _change(account.position(instrument).shares, weight * value, prices.get(instrument)))
        for instrument, weight in wanted.items()
    ]
    sales = [Order(each.instrument, -each.shares, "shares", "sell") for each in trades if each.shares < 0.0]
    sold = {order.instrument: fills.fill(order, prices[order.instrument]) for order in sales}
    cash_usd = math.fsum((account.cash_usd, *map(_cash_usd, sold.values())))
    buys = [each for each in trades if each.shares > 0.0]
    scale, bought = (0.0, {}) if account.owing and buys else _buys(buys, cash_usd, prices, fills)
    done = {**sold, **bought}
    orders = tuple(
        _book_order(each, done.get(each.instrument), scale, account, prices.get(each.instrument), fills)
        for each in trades
    )
    made = sorted((fill for order in orders for fill in order.fills), key=lambda fill: fill.shares > 0.0)
    journal = tuple(journal_of_fills(made, at, follows_from))
    left_usd = math.fsum((account.cash_usd, *(row.cash_usd for row in journal)))
    return Booking(orders=orders, journal=journal, unallocated_usd=left_usd, scale=scale)


@dataclass(frozen=True, slots=True)
class _Trade:
    """A target, and the change of shares that it takes; NaN where there is no price for it."""

    instrument: Instrument
    weight: float
    shares: float


def _check_targets(targets: Mapping[Instrument, float]) -> None:
    for instrument, weight in targets.items():
        if not 0.0 <= weight <= 1.0:
            raise ValueError(f"the weight of {instrument.id} is {weight!r}; a weight is in [0, 1]")
    if (total := math.fsum(targets.values())) > 1.0 + ROUNDING_USD:
        raise ValueError(f"the weights add up to {total!r}; money is never borrowed")


def _value_usd(account: Account, prices: Mapping[Instrument, Price], frozen: Mapping[Instrument, float]) -> float:
    lost = [each.id for each in account.positions if each not in prices and each not in frozen]
    if lost:
        raise ValueError(f"no price of {', '.join(lost)}, now or before, which the account holds")
    worth = (
        position.shares * (prices[each].mid if each in prices else frozen[each])
        for each, position in account.positions.items()
    )
    return math.fsum((account.cash_usd, *worth))


def _change(held_shares: float, wanted_usd: float, price: Price | None) -> float:
    wanted_usd = max(wanted_usd, 0.0)
    if price is None or (price.mid == 0.0 and wanted_usd > 0.0):
        return math.nan
    change = (wanted_usd / price.mid if wanted_usd else 0.0) - held_shares
    return 0.0 if abs(change) <= _SAME_SHARES * held_shares else change


def _buys(
    buys: Sequence[_Trade], cash_usd: float, prices: Mapping[Instrument, Price], fills: FillModel
) -> tuple[float, dict[Instrument, Fill | None]]:

    def filled(scale: float) -> dict[Instrument, Fill | None]:
        return {
            each.instrument: fills.fill(Order(each.instrument, shares, "shares"), prices[each.instrument])
            for each in buys
            if (shares := scale * each.shares) > 0.0
        }

    def spent_usd(scale: float) -> float:
        return -math.fsum(map(_cash_usd, filled(scale).values()))

    scale = _largest(spent_usd, max(cash_usd, 0.0))
    return scale, filled(scale)


def _largest(spent_usd: Callable[[float], float], cash_usd: float) -> float:
    """Return the largest factor, at most 1, whose spending the cash covers; spending grows with it."""
    enough_usd = cash_usd + ROUNDING_USD / 10
    whole_usd = spent_usd(1.0)
    if whole_usd <= enough_usd:
        return 1.0
    # With one price an instrument the cost is proportional; with a book it is not.
    low, high = 0.0, 1.0
    if cash_usd - ROUNDING_USD / 10 <= spent_usd(cash_usd / whole_usd) <= enough_usd:
        return cash_usd / whole_usd
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if spent_usd(middle) <= enough_usd else (low, middle)
    return low


def _cash_usd(fill: Fill | None) -> float:
    return 0.0 if fill is None else fill.cash_usd - fill.fee_usd


def _book_order(
    trade: _Trade, fill: Fill | None, scale: float, account: Account, price: Price | None, fills: FillModel
) -> BookedOrder:
    is_new = trade.weight > 0.0 and not account.position(trade.instrument).shares
    is_buy = trade.shares > 0.0 or (is_new and not trade.shares < 0.0)
    side: OrderSide = "buy" if is_buy else "sell"
    order = Order(trade.instrument, trade.weight, "weight", side)
    if price is None or math.isnan(trade.shares):
        note = "it has no price now" if price is None else "its price is 0"
        return BookedOrder(order, (), "expired", f"{note}: nobody offered any, and what is held is kept")
    if trade.shares == 0.0 and not is_new:
        return BookedOrder(order)
    wanted = abs(trade.shares) * (scale if is_buy else 1.0)
    if fill is None:
        return BookedOrder(order, (), "expired", _explain_unfilled(trade, scale, account, price, fills))
    note = ""
    if abs(fill.shares) < wanted * (1.0 - _SAME_SHARES):
        note = f"{abs(fill.shares):.6g} of {wanted:.6g} shares were filled; nobody offered more"
    elif is_buy and scale < 1.0:
        note = f"scaled by {scale:.6g} to the cash there was"
    return BookedOrder(order, (fill,), note=note)


def _explain_unfilled(trade: _Trade, scale: float, account: Account, price: Price, fills: FillModel) -> str:
    is_sale = trade.shares < 0.0
    if account.owing and not is_sale:
        return "the account owes what a reversal took back; it only sells"
    if trade.shares == 0.0:
        return "the account is worth nothing, which buys none"
    if scale == 0.0 and not is_sale:
        return "there was no cash for it"
    order = Order(trade.instrument, abs(trade.shares), "shares", "sell" if is_sale else "buy")
    return explain_unfilled(order, price, fills)
