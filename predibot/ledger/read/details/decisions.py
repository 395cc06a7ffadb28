"""One decision: the orders it gave, what they were filled at, and the sources it rests on."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Integer, Row, Select, Text, bindparam, case, cast, func, select

from predibot.domain.price import EQUITY
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots, decisions, fills, forecasts, orders, sources
from predibot.ledger.write.events import events, instruments, markets
from predibot.ledger.write.runs import runs, with_decisions


@dataclass(frozen=True, slots=True)
class DecisionDetails:
    """What is stored of a decision besides its forecasts, under the names of its tables' columns."""

    orders: tuple[Row[Any], ...]
    """On an event bets, in an account weights, dollars or shares; `question` is empty of what is no market's."""
    fills: tuple[Row[Any], ...]
    """What orders came to, or a part of one."""
    sources: tuple[Row[Any], ...]
    """The searches that were made and the pages that were read; their texts are others'."""


def decision_details(connection: Connection, run: str, bot: str, subject: str) -> DecisionDetails:
    """Return the details of a decision of a run that counts; those of one that is not there are empty."""
    found = details_of(connection, RowFilter(run=run, bots=(bot,), subject=subject))
    return found.get((run, bot, subject), DecisionDetails((), (), ()))


def details_of(connection: Connection, asked: RowFilter) -> Mapping[tuple[str, str, str], DecisionDetails]:
    """Return the details of all decisions that are asked for, by run, bot and subject."""
    named = with_decisions(decisions.c.id, runs.c.key, bots.c.name, subjects.c.subject_id).where(
        *asked.conditions(connection)
    )
    keys = {id: (run, bot, subject) for id, run, bot, subject in connection.execute(named)}
    stored = [defaultdict[int, list[Row[Any]]](list) for _ in range(3)]
    for found, statement in zip(stored, (_ORDERS, _FILLS, _SOURCES), strict=True):
        for row in connection.execute(statement, {"ids": list(keys)}) if keys else ():
            found[row.decision_id].append(row)
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
_FILLS, _SOURCES = (
    select(table).where(table.c.decision_id.in_(_IDS)).order_by(table.c.decision_id, table.c.number)
    for table in (fills, sources)
)


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
