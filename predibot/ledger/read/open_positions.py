"""Open positions: the bets on events whose markets are not settled, joined by market and side."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, case, func

from predibot.ledger.read.event_lists import last_prices
from predibot.ledger.read.outcomes import payouts
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bets, decisions
from predibot.ledger.write.events import events, markets
from predibot.ledger.write.runs import is_late, with_decisions


@dataclass(frozen=True, slots=True)
class OpenPosition:
    """What bots hold of one side of a market that is open."""

    event_id: str
    question: str
    side: str
    """YES or NO."""
    bets: int
    staked_usd: float
    shares: float
    """What the stakes bought at the booked prices, without fees."""
    price_now: float | None
    """The last stored price of this side, in [0, 1]."""

    @property
    def price_then(self) -> float:
        """Return the mean price that was paid for a share of this side, in (0, 1)."""
        return self.staked_usd / self.shares

    @property
    def gain_usd(self) -> float | None:
        """Return what the bets have gained by the last price; None without one."""
        return None if self.price_now is None else self.shares * self.price_now - self.staked_usd


def open_positions(connection: Connection, row_filter: RowFilter) -> Sequence[OpenPosition]:
    """Return the open positions of some decisions that are in scores, the largest stake first."""
    cost = case((bets.c.sign > 0.0, bets.c.price_yes), else_=1.0 - bets.c.price_yes)
    staked = func.abs(bets.c.booked_usd)
    statement = (
        with_decisions(events.c.id, events.c.event_id, markets.c.id, markets.c.question, bets.c.sign)
        .add_columns(func.count(), func.sum(staked), func.sum(staked / func.nullif(cost, 0.0)))
        .join(bets, bets.c.decision_id == decisions.c.id)
        .join(markets, markets.c.id == bets.c.market_row)
        .join(events, events.c.id == markets.c.event_row)
        .outerjoin(payouts, payouts.c.market_row == markets.c.id)
        .where(*row_filter.conditions(connection), subjects.c.kind == "event", payouts.c.market_row.is_(None))
        .where(bets.c.booked_usd != 0.0, cost > 0.0, ~is_late())
        .group_by(events.c.id, events.c.event_id, markets.c.id, markets.c.question, bets.c.sign)
    )
    rows = connection.execute(statement).all()
    prices = last_prices(connection, sorted({event for event, *_ in rows}))
    found = []
    for _, event_id, market, question, sign, n, staked_usd, shares in rows:
        price = prices.get(market)
        now = price if price is None or sign > 0.0 else 1.0 - price
        found.append(OpenPosition(event_id, question, "YES" if sign > 0.0 else "NO", n, staked_usd, shares, now))
    return sorted(found, key=lambda each: (-each.staked_usd, each.event_id, each.question))
