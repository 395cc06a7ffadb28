"""Execution: which orders of a decision keep the rules, and how they are booked; pure."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from predibot.domain.account import Account
from predibot.domain.decision import BookedOrder, Booking, Decision, Order
from predibot.domain.price import Instrument, Price
from predibot.errors import MarketClosed
from predibot.games.accounts import journal_of_fills
from predibot.games.answers import AnswerComplaint, join_complaints, mark_foreign, number_of, quoted, show_value
from predibot.games.fills import FillModel
from predibot.games.weekly_cohort.methodology import MAX_SHARE, MIN_BET_USD, Methodology
from predibot.games.weekly_cohort.view import CohortView

ROUNDING_USD = 1e-9
_LEAST_SOLD = 0.01
_SAME_SHARES = 1e-12
"""A filled amount this close to the order, as a part of it, is the whole order: the rest is rounding."""


def check(decision: Decision, view: CohortView) -> None:
    """Raise `AnswerError` for a decision that breaks a rule, whatever prices become; it names every complaint."""
    if complaints := list(_complaints(decision, view)):
        raise AnswerComplaint(join_complaints(complaints))


def most_usd(account: Account, already_usd: float, methodology: Methodology) -> float:
    """Return the most that one more bet may be, never below zero.

    `account` is that of the decision's beginning, `already_usd` the cost of the decision's earlier bets, with fees.

    Examples:
        >>> from predibot.games.weekly_cohort.methodology import methodology_of
        >>> [most_usd(Account(cash_usd=10_000.0), 1_500.0, methodology_of(version)) for version in ("v1", "v2")]
        [2125.0, 1000.0]
    """
    if methodology.cap == "leg":
        return max(0.0, MAX_SHARE * (account.cash_usd - already_usd))
    return max(0.0, MAX_SHARE * account.cash_usd - already_usd)


def execute(
    decision: Decision,
    view: CohortView,
    account: Account,
    quotes: Mapping[Instrument, Price],
    fills: FillModel,
    *,
    at: datetime,
) -> Booking:
    """Return the booking of a decision that keeps the rules, with journal rows of the instant `at`.

    Raises `MarketClosed` if nothing could be filled, or only part of a batch that is booked whole or not at all. This
    is a failure that may be tried again, not a decision.
    """
    if not decision.orders:
        return Booking(unallocated_usd=account.cash_usd)
    is_bet = decision.orders[0].side == "buy"
    legs = _bets if is_bet else _sales
    booked = tuple(legs(decision.orders, view, account, quotes, fills))
    missing = [order for order in booked if not order.fills]
    if is_bet and view.methodology.all_or_nothing:
        # The note of a fill in part says so.
        missing = [order for order in booked if order.note]
        if missing:
            raise MarketClosed(f"no bet was booked, all of them or none: {_why(missing, view)}")
    if len(missing) == len(booked):
        raise MarketClosed(f"nothing of it could be filled: {_why(missing, view)}")
    journal = tuple(journal_of_fills((fill for order in booked for fill in order.fills), at))
    left_usd = math.fsum((account.cash_usd, *(row.cash_usd for row in journal)))
    return Booking(orders=booked, journal=journal, unallocated_usd=left_usd)


def _complaints(decision: Decision, view: CohortView) -> Iterator[str]:
    if decision.labels:
        yield "it has labels, which this game has no use for; leave them out"
    sides = {order.side for order in decision.orders}
    if len(sides) > 1:
        yield "it buys and sells at once; do one of both, the other next week"
    yield from _forecast_complaints(decision, view)
    wrong = [text for order in decision.orders for text in _amount_complaints(order, view)]
    yield from wrong
    if wrong or len(sides) != 1:
        return
    yield from (_bet_complaints if sides == {"buy"} else _sale_complaints)(decision.orders, view)


def _forecast_complaints(decision: Decision, view: CohortView) -> Iterator[str]:
    known, said = view.by_id, set[str]()
    for forecast in decision.forecasts:
        name = f"the probability of market {quoted(str(forecast.market_id))}"
        if forecast.market_id not in known or len(known[forecast.market_id].outcomes) != 2:
            yield f"{name} is on none of two outcomes that is shown; take it out"
        elif forecast.market_id in said:
            yield f"{name} is given twice; keep one"
        elif number_of(forecast.probability) is None or not 0.0 <= forecast.probability <= 1.0:
            yield f"{name} is {show_value(forecast.probability)}; give a number from 0 to 1"
        said.add(str(forecast.market_id))


def _amount_complaints(order: Order, view: CohortView) -> Iterator[str]:
    found = view.outcomes.get(order.instrument)
    if found is None:
        yield f"an order is on {quoted(str(order.instrument.id))}, no outcome that is shown; take it out"
        return
    name, amount = outcome_name(order.instrument, view), number_of(order.amount)
    unit = "usd" if order.side == "buy" else "shares"
    if order.unit != unit:
        yield f"{name}: its order is to {order.side} in {order.unit}; buy for dollars or sell shares"
    elif amount is None or amount <= 0.0:
        yield f"{name}: the amount is {show_value(order.amount)}; give a number above 0"
    elif found[0].market.closed:
        yield f"{name}: the market is closed; nothing of it is bought or sold any more, leave it out"
    elif found[1].price is None:
        yield f"{name}: it has no price now, so nothing of it is bought or sold; leave it out"
    elif order.side == "buy" and not found[0].in_universe:
        yield f"{name}: the market is not among this week's; what you hold of it you may sell, bet on others"
    elif order.side == "buy" and not found[1].is_buyable:
        yield f"{name}: its price is exactly 0 or 1, and at these nothing is bought; leave it out"
    elif order.side == "sell" and not found[1].price.mid:
        yield f"{name}: a share brings nothing now; keep it until it is settled"


def _bet_complaints(orders: Sequence[Order], view: CohortView) -> Iterator[str]:
    account, methodology = view.account, view.methodology
    most = most_usd(account, 0.0, methodology)
    for order in orders:
        amount, name = float(order.amount), outcome_name(order.instrument, view)
        if amount < MIN_BET_USD - ROUNDING_USD:
            yield f"{name}: the amount is {_usd(amount)}; bet at least {_usd(MIN_BET_USD)}, or leave it out"
        elif amount > most + ROUNDING_USD:
            yield f"{name}: the amount is {_usd(amount)}; a bet is at most 25 % of your cash, {_usd(most)}"
    total = math.fsum(float(order.amount) for order in orders)
    if methodology.cap == "batch" and len(orders) > 1 and total > most + ROUNDING_USD:
        yield (
            f"the bets come to {_usd(total)}; together they are at most 25 % of your cash, {_usd(most)}, so lower "
            f"them by {_usd(total - most)}"
        )


def _sale_complaints(orders: Sequence[Order], view: CohortView) -> Iterator[str]:
    sold = defaultdict[Instrument, float](float)
    for order in orders:
        held = view.account.position(order.instrument).shares
        left, name = held - sold[order.instrument], outcome_name(order.instrument, view)
        if order.amount > left + _SAME_SHARES * held:
            yield f"{name}: {order.amount:g} shares are sold, and {max(left, 0.0):g} are held; sell at most these"
        elif order.amount < left * _LEAST_SOLD * (1.0 - 1e-9):
            yield f"{name}: {order.amount:g} shares are less than 1 % of the position; sell at least that"
        sold[order.instrument] += order.amount


def _bets(
    orders: Sequence[Order], view: CohortView, account: Account, quotes: Mapping[Instrument, Price], fills: FillModel
) -> Iterator[BookedOrder]:
    """Yield the booking of each bet in turn, with the cash that the bets before it left."""
    spent_usd = 0.0
    for order in orders:
        most = most_usd(account, spent_usd, view.methodology)
        if order.amount > most + ROUNDING_USD:
            yield BookedOrder(order, (), "expired", f"at most {_usd(most)}, 25 % of the cash there was, could be bet")
            continue
        price = quotes.get(order.instrument)
        fill = None if price is None or not 0.0 < price.mid < 1.0 else fills.fill(order, price)
        if fill is None:
            yield BookedOrder(order, (), "expired", _explain_unfilled(price, is_bet=True))
            continue
        paid_usd = -fill.cash_usd
        # The cap of a batch limits the bets alone; the cash left for a leg is less the fees too.
        spent_usd += paid_usd + (fill.fee_usd if view.methodology.cap == "leg" else 0.0)
        is_part = paid_usd < order.amount * (1.0 - _SAME_SHARES)
        note = f"{_usd(paid_usd)} of {_usd(order.amount)} were filled; nobody offered more" if is_part else ""
        yield BookedOrder(order, (fill,), note=note)


def _sales(
    orders: Sequence[Order], view: CohortView, account: Account, quotes: Mapping[Instrument, Price], fills: FillModel
) -> Iterator[BookedOrder]:
    """Yield the booking of each sale, none larger than the remaining position."""
    left = {instrument: held.shares for instrument, held in account.positions.items()}
    for order in orders:
        price, held = quotes.get(order.instrument), left.get(order.instrument, 0.0)
        wanted = held if abs(order.amount - held) <= _SAME_SHARES * held else min(order.amount, held)
        fill = None
        if price is not None and wanted > 0.0:
            fill = fills.fill(Order(order.instrument, wanted, "shares", "sell"), price)
        if fill is None:
            yield BookedOrder(order, (), "expired", _explain_unfilled(price, is_bet=False))
            continue
        left[order.instrument] = held + fill.shares
        is_part = -fill.shares < order.amount * (1.0 - _SAME_SHARES)
        note = f"{-fill.shares:.6g} of {order.amount:.6g} shares were filled; nobody offered more" if is_part else ""
        yield BookedOrder(order, (fill,), note=note)


def _explain_unfilled(price: Price | None, *, is_bet: bool) -> str:
    if price is None:
        return "it has no price now: its market is closed or takes no orders, or nobody quotes it"
    if is_bet and price.mid in (0.0, 1.0):
        return "its price is exactly 0 or 1 now, and at these nothing is bought"
    return "nobody offered any"


def _why(missing: Sequence[BookedOrder], view: CohortView) -> str:
    said = [f"{outcome_name(each.order.instrument, view)}: {each.note}" for each in missing]
    return str(AnswerComplaint(join_complaints(said)))


def outcome_name(instrument: Instrument, view: CohortView) -> str:
    """Return the name of an outcome in complaints: its market and its side."""
    found = view.outcomes.get(instrument)
    if found is None:
        return quoted(str(instrument.id))
    market, outcome = found
    side = outcome.side if outcome.side in ("YES", "NO") else quoted(outcome.side)
    return f"market {mark_foreign(repr(market.id[:80]))} {side}"


def _usd(amount_usd: float) -> str:
    in_cents = round(amount_usd, 2)
    return f"${amount_usd:,.2f}" if abs(in_cents - amount_usd) < ROUNDING_USD else f"${amount_usd:.7g}"
