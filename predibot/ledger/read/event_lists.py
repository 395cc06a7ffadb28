"""Lists of events: what each market cost when bots came to it, what it costs now, and what it paid."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import Connection, Select, func, or_, select

from predibot.domain.price import EQUITY, highest_price
from predibot.ledger.read.outcomes import payouts
from predibot.ledger.schema.column_types import bind_list
from predibot.ledger.schema.packed_points import unpack_points
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bets, bots, decisions, forecasts, orders
from predibot.ledger.write.events import instruments, markets
from predibot.ledger.write.prices_and_resolutions import price_paths
from predibot.ledger.write.runs import runs, with_decisions


@dataclass(frozen=True, slots=True)
class ListedMarket:
    """A market that bots forecast."""

    question: str
    price_then: float | None
    """The price of YES at the first decision; None if no price was booked."""
    price_now: float | None
    """The last price that is stored."""
    payout_yes: float | None
    """In [0, 1]; None while it is open, and where stakes were given back."""
    settled_at: datetime | None
    """None while it is open."""

    @property
    def weight(self) -> tuple[float, ...]:
        """Return by what the leading market of an event is chosen: what it paid, then its prices."""
        return tuple(-1.0 if each is None else each for each in (self.payout_yes, self.price_now, self.price_then))


@dataclass(frozen=True, slots=True)
class ListedEvent:
    """What bots did on an event."""

    bots: int
    """Number of bots with a decision on it."""
    markets: tuple[ListedMarket, ...]
    """Those with a forecast, the leading one first."""

    @property
    def settled(self) -> int:
        """Return the number of its markets that are settled."""
        return sum(each.settled_at is not None for each in self.markets)


def list_events(connection: Connection, events: Sequence[int]) -> Mapping[int, ListedEvent]:
    """Return what bots did on some events, by their row numbers."""
    counted = (subjects.c.event_row.in_(bind_list(events)), runs.c.voided_at.is_(None))
    who = with_decisions(subjects.c.event_row, func.count(bots.c.name.distinct())).where(
        *counted, decisions.c.status == "recorded"
    )
    number = {event: n for event, n in connection.execute(who.group_by(subjects.c.event_row))}
    first = (
        with_decisions(forecasts.c.market_row, func.min(decisions.c.id).label("decision_id"))
        .join(forecasts, forecasts.c.decision_id == decisions.c.id)
        .where(*counted)
        .group_by(forecasts.c.market_row)
        .subquery("first")
    )
    # Else the database would read all bets of the ledger.
    own = cast(Select[tuple[object, ...]], bets.element).where(orders.c.decision_id.in_(select(first.c.decision_id)))
    booked = own.subquery("booked")
    statement = (
        select(markets.c.id, markets.c.event_row, markets.c.question, booked.c.price_yes)
        .add_columns(payouts.c.payout_yes, payouts.c.settled_at)
        .join(first, first.c.market_row == markets.c.id)
        .outerjoin(
            booked,
            (booked.c.decision_id == first.c.decision_id) & (booked.c.market_row == markets.c.id),
        )
        .outerjoin(payouts, payouts.c.market_row == markets.c.id)
        .order_by(markets.c.id)
    )
    prices = last_prices(connection, events)
    found = defaultdict[int, list[ListedMarket]](list)
    for market, event, question, then, payout, settled_at in connection.execute(statement):
        found[event].append(ListedMarket(question, then, prices.get(market), payout, settled_at))
    return {
        event: ListedEvent(
            number.get(event, 0), tuple(sorted(found[event], key=lambda each: each.weight, reverse=True))
        )
        for event in events
    }


def last_prices(connection: Connection, events: Sequence[int]) -> Mapping[int, float]:
    """Return the last stored price of YES, or of the stock, by the row of each market of some events."""
    chosen = (
        select(markets.c.id, instruments.c.kind, price_paths.c.points)
        .join(instruments, instruments.c.id == price_paths.c.instrument_row)
        .join(markets, markets.c.id == instruments.c.market_row)
        .where(
            markets.c.event_row.in_(bind_list(events)), or_(instruments.c.side == "YES", instruments.c.kind == EQUITY)
        )
        .order_by(price_paths.c.instrument_row)
    )
    found = dict[int, float]()
    for market, kind, blob in connection.execute(chosen):
        points, _ = unpack_points([blob], highest=highest_price(kind))
        if len(points):
            # Points lie in order of time.
            found[market] = float(points["price"][-1])
    return found
