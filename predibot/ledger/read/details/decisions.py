"""One decision: the orders it gave, what they were filled at, and the sources it rests on."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Integer, Row, Select, Text, bindparam, case, cast, func, select

from predibot.domain.price import EQUITY
from predibot.ledger.read.rows_for_python import RowFilter
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots, decisions, fills, orders, sources
from predibot.ledger.write.events import instruments, markets
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
