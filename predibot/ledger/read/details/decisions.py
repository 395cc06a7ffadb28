"""One decision: the orders it gave, what they were filled at, and the sources it rests on."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Integer, Select, Text, bindparam, case, cast, func, select

from predibot.domain.price import EQUITY
from predibot.ledger.read.rows_for_python import Asked
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots, decisions, fills, orders, sources
from predibot.ledger.write.events import instruments, markets
from predibot.ledger.write.runs import runs, with_decisions


@dataclass(frozen=True, slots=True)
class GivenOrder:
    """An order of a decision: on an event a bet, in an account a weight, dollars or shares."""

    number: int
    question: str
    """Of the market; empty of what is no market's."""
    instrument: str
    outcome: str
    """`YES`, `NO`, or the number of one of more than two, from 1."""
    side: str
    unit: str
    asked: float | None
    """What the bot said; None where it was carried out as it was said."""
    amount: float
    status: str
    price: float | None
    price_source: str | None
    note: str | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class MadeFill:
    """What an order came to, or a part of it."""

    order: int
    """The number of the order."""
    shares: float
    price: float
    fee_usd: float
    cash_usd: float
    model: str


@dataclass(frozen=True, slots=True)
class UsedSource:
    """A search that was made or a page that was read; its texts are others'."""

    number: int
    kind: str
    text: str
    """What was searched for, or the address that was asked for."""
    final_url: str | None
    sha256: str | None
    """Of the text that was kept of a page."""
    title: str
    published_at: datetime | None
    results: int | None


@dataclass(frozen=True, slots=True)
class DecisionDetails:
    """What is stored of a decision besides its forecasts."""

    orders: tuple[GivenOrder, ...]
    fills: tuple[MadeFill, ...]
    sources: tuple[UsedSource, ...]


def decision_details(connection: Connection, run: str, bot: str, subject: str) -> DecisionDetails:
    """Return the details of a decision of a run that counts; those of one that is not there are empty."""
    found = details_of(connection, Asked(run=run, bots=(bot,), subject=subject))
    return found.get((run, bot, subject), DecisionDetails((), (), ()))


def details_of(connection: Connection, asked: Asked) -> Mapping[tuple[str, str, str], DecisionDetails]:
    """Return the details of all decisions that are asked for, by run, bot and subject."""
    named = with_decisions(decisions.c.id, runs.c.key, bots.c.name, subjects.c.subject_id).where(*asked.conditions())
    keys = {id: (run, bot, subject) for id, run, bot, subject in connection.execute(named)}
    given, made, read = (defaultdict[int, list[Any]](list) for _ in range(3))
    for found, kind, statement in (
        (given, GivenOrder, _ORDERS),
        (made, MadeFill, _FILLS),
        (read, UsedSource, _SOURCES),
    ):
        for id, *row in connection.execute(statement, {"ids": list(keys)}) if keys else ():
            found[id].append(kind(*row))
    return {key: DecisionDetails(tuple(given[id]), tuple(made[id]), tuple(read[id])) for id, key in keys.items()}


_OUTCOME = case(
    (instruments.c.kind == EQUITY, None),
    (instruments.c.side.is_not(None), instruments.c.side),
    else_=cast(instruments.c.outcome + 1, Text),
)
_IDS = bindparam("ids", expanding=True, literal_execute=True, type_=Integer())
_ORDERS: Select[Any] = (
    select(
        orders.c.decision_id,
        orders.c.number,
        func.coalesce(markets.c.question, ""),
        instruments.c.instrument_id,
        func.coalesce(_OUTCOME, ""),
        *(orders.c[name] for name in GivenOrder.__slots__[4:]),
    )
    .join(instruments, instruments.c.id == orders.c.instrument_row)
    .outerjoin(markets, markets.c.id == instruments.c.market_row)
    .where(orders.c.decision_id.in_(_IDS))
    .order_by(orders.c.decision_id, orders.c.number)
)
_FILLS: Select[Any] = (
    select(fills.c.decision_id, fills.c.order_number, *(fills.c[name] for name in MadeFill.__slots__[1:]))
    .where(fills.c.decision_id.in_(_IDS))
    .order_by(fills.c.decision_id, fills.c.number)
)
_SOURCES: Select[Any] = (
    select(sources.c.decision_id, *(sources.c[name] for name in UsedSource.__slots__))
    .where(sources.c.decision_id.in_(_IDS))
    .order_by(sources.c.decision_id, sources.c.number)
)
