"""Reasons: why a bot said what it said about a market, in its own words and under the names of things."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select

from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots, decisions, forecasts
from predibot.ledger.write.events import events, markets
from predibot.ledger.write.runs import runs, with_decisions


def named_markets(connection: Connection, venue: str) -> Sequence[Row[Any]]:
    """Return a venue's markets in the order in which a track record numbers them."""
    statement: Select[Any] = (
        select(markets.c.market_id, markets.c.question, events.c.event_id, events.c.title)
        .join(events, events.c.id == markets.c.event_row)
        .where(markets.c.venue == venue)
        .order_by(markets.c.id)
    )
    return connection.execute(statement).all()


def reason_of(connection: Connection, *, bot: str, market_row: int, decided_at: datetime) -> Row[Any] | None:
    """Return why a bot decided as it did on a market; None where no such decision is stored.

    Args:
        connection: A reading transaction.
        bot: Its name.
        market_row: Of the ledger's markets.
        decided_at: When, to the microsecond.
    """
    # Of the forecast, else of the whole decision.
    own = func.coalesce(func.nullif(forecasts.c.rationale, ""), decisions.c.rationale).label("rationale")
    return connection.execute(
        with_decisions(runs.c.key.label("run"), events.c.event_id, events.c.title, markets.c.question, own)
        .join(events, events.c.id == subjects.c.event_row)
        .join(markets, markets.c.event_row == events.c.id)
        .outerjoin(forecasts, (forecasts.c.decision_id == decisions.c.id) & (forecasts.c.market_row == markets.c.id))
        .where(
            bots.c.name == bot,
            decisions.c.decided_at == decided_at,
            markets.c.id == market_row,
            runs.c.voided_at.is_(None),
        )
        .order_by(decisions.c.id)
    ).first()
