"""One decision: the orders it gave, what they were filled at, and the sources it rests on."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Text, case, cast, func, select

from predibot.domain.price import EQUITY
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
    """A search that was made or a page that was read; its texts are strangers'."""

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
    named = (runs.c.key == run, runs.c.voided_at.is_(None), bots.c.name == bot, subjects.c.subject_id == subject)
    found = connection.execute(with_decisions(decisions.c.id).where(*named)).scalar()
    outcome = case(
        (instruments.c.kind == EQUITY, None),
        (instruments.c.side.is_not(None), instruments.c.side),
        else_=cast(instruments.c.outcome + 1, Text),
    )
    about: tuple[ColumnElement[Any], ...] = (
        func.coalesce(markets.c.question, ""),
        instruments.c.instrument_id,
        func.coalesce(outcome, ""),
    )
    names = ("side", "unit", "asked", "amount", "status", "price", "price_source", "note", "ended_at")
    given = (
        select(orders.c.number, *about, *(orders.c[name] for name in names))
        .join(instruments, instruments.c.id == orders.c.instrument_row)
        .outerjoin(markets, markets.c.id == instruments.c.market_row)
        .where(orders.c.decision_id == found)
        .order_by(orders.c.number)
    )
    columns = (fills.c.order_number, fills.c.shares, fills.c.price, fills.c.fee_usd, fills.c.cash_usd, fills.c.model)
    made = select(*columns).where(fills.c.decision_id == found).order_by(fills.c.number)
    read = (
        select(*(sources.c[name] for name in UsedSource.__slots__))
        .where(sources.c.decision_id == found)
        .order_by(sources.c.number)
    )
    return DecisionDetails(
        tuple(GivenOrder(*row) for row in connection.execute(given)),
        tuple(MadeFill(*row) for row in connection.execute(made)),
        tuple(UsedSource(*row) for row in connection.execute(read)),
    )
