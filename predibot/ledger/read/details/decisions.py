"""Details of decisions: orders, fills, sources, labels, and the reason for a forecast."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Integer, Row, Select, Text, bindparam, case, cast, func, select

from predibot.domain.price import EQUITY
from predibot.ledger.read.row_filter import RowFilter, is_bot
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots, decisions, fills, forecasts, labels, orders, sources
from predibot.ledger.write.events import events, instruments, markets
from predibot.ledger.write.runs import runs, with_decisions
from predibot.rows import grouped


@dataclass(frozen=True, slots=True)
class DecisionDetails:
    """Parts of a decision besides its forecasts, with the columns of their tables."""

    orders: tuple[Row[Any], ...]
    """Bets on an event, else weights, dollars or shares; `question` is empty without a market."""
    fills: tuple[Row[Any], ...]
    sources: tuple[Row[Any], ...]
    labels: tuple[Row[Any], ...]


def decision_details(connection: Connection, run: str, bot: str, subject: str) -> DecisionDetails:
    """Return the details of a decision of a run that counts; empty ones if there is none."""
    found = details_of(connection, RowFilter(run=run, bots=(bot,), subject=subject))
    return found.get((run, bot, subject), DecisionDetails((), (), (), ()))


def details_of(connection: Connection, row_filter: RowFilter) -> Mapping[tuple[str, str, str], DecisionDetails]:
    """Return the details of decisions by run, bot and subject."""
    named = with_decisions(decisions.c.id, runs.c.key, bots.c.name, subjects.c.subject_id).where(
        *row_filter.conditions(connection)
    )
    keys = {id: (run, bot, subject) for id, run, bot, subject in connection.execute(named)}
    stored = [
        grouped((row.decision_id, row) for row in connection.execute(statement, {"ids": list(keys)}))
        for statement in (_ORDERS, _FILLS, _SOURCES, _LABELS)
        if keys
    ]
    return {key: DecisionDetails(*(tuple(found[id]) for found in stored)) for id, key in keys.items()}


_OUTCOME = case(
    (instruments.c.kind == EQUITY, None),
    (instruments.c.side.is_not(None), instruments.c.side),
    else_=cast(instruments.c.outcome + 1, Text),
)
_IDS = bindparam("ids", expanding=True, literal_execute=True, type_=Integer())
_ORDERS: Select[Any] = (
    select(orders, func.coalesce(markets.c.question, "").label("question"))
    .add_columns(instruments.c.instrument_id.label("instrument"), func.coalesce(_OUTCOME, "").label("outcome"))
    .join(instruments, instruments.c.id == orders.c.instrument_row)
    .outerjoin(markets, markets.c.id == instruments.c.market_row)
    .where(orders.c.decision_id.in_(_IDS))
    .order_by(orders.c.decision_id, orders.c.number)
)
_FILLS, _SOURCES, _LABELS = (
    select(table).where(table.c.decision_id.in_(_IDS)).order_by(table.c.decision_id, table.c.number)
    for table in (fills, sources, labels)
)


def list_markets(connection: Connection, venue: str) -> Sequence[Row[Any]]:
    """Return a venue's markets in the order of a track record."""
    statement: Select[Any] = (
        select(markets.c.market_id, markets.c.question, events.c.event_id, events.c.title)
        .join(events, events.c.id == markets.c.event_row)
        .where(markets.c.venue == venue)
        .order_by(markets.c.id)
    )
    return connection.execute(statement).all()


def market_of(connection: Connection, venue: str, instrument_id: str) -> Row[Any]:
    """Return the `market_id` and `question` of the market that an instrument is of."""
    statement: Select[Any] = select(markets.c.market_id, func.coalesce(markets.c.question, "").label("question")).join(
        instruments, instruments.c.market_row == markets.c.id
    )
    of = (instruments.c.venue == venue, instruments.c.instrument_id == instrument_id)
    return connection.execute(statement.where(*of)).one()


def reason_of(connection: Connection, *, bot: str, market_row: int, decided_at: datetime) -> Row[Any] | None:
    """Return why a bot forecast as it did on a market, by row and exact instant; None without such a decision."""
    # A forecast without a reason has the whole decision's.
    own = func.coalesce(func.nullif(forecasts.c.rationale, ""), decisions.c.rationale).label("rationale")
    return connection.execute(
        with_decisions(runs.c.key.label("run"), events.c.event_id, events.c.title, markets.c.question, own)
        .join(events, events.c.id == subjects.c.event_row)
        .join(markets, markets.c.event_row == events.c.id)
        .outerjoin(forecasts, (forecasts.c.decision_id == decisions.c.id) & (forecasts.c.market_row == markets.c.id))
        .where(
            is_bot(bots.c.name, (bot,)),
            decisions.c.decided_at == decided_at,
            markets.c.id == market_row,
            runs.c.voided_at.is_(None),
        )
        .order_by(decisions.c.id)
    ).first()
