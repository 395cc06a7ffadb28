"""An account over time: its cash and its positions' values at each valuation."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Text, case, cast, func, or_, select

from predibot.domain.price import EQUITY
from predibot.ledger.write.accounts import journal, marks, valuations
from predibot.ledger.write.events import instruments, markets


@dataclass(frozen=True, slots=True)
class AccountHoldings:
    """An account at a valuation."""

    at: datetime
    cash_usd: float
    value_usd: float
    worth: tuple[tuple[str, float], ...]
    """Name and dollars of each position; closed ones are absent."""


def holdings_over_time(connection: Connection, account: int, most: int) -> tuple[AccountHoldings, ...]:
    """Return an account at its valuations, oldest first, each in its last revision.

    Of more than `most` valuations, evenly spread ones are returned, the last one among them.
    """
    statement = (
        select(valuations.c.at, valuations.c.revision, valuations.c.journal_number)
        .add_columns(valuations.c.cash_usd, valuations.c.value_usd)
        .where(valuations.c.account_id == account)
        .order_by(valuations.c.at, valuations.c.revision)
    )
    valued = list({row.at: row for row in connection.execute(statement)}.values())
    if len(valued) > most:
        valued = [valued[(place + 1) * len(valued) // most - 1] for place in range(most)]
    prices = defaultdict[tuple[datetime, int], dict[int, float]](dict)
    marked = select(marks.c.at, marks.c.revision, marks.c.instrument_row, marks.c.price)
    for at, revision, instrument, price in connection.execute(marked.where(marks.c.account_id == account)):
        prices[at, revision][instrument] = price
    booked = connection.execute(
        select(journal.c.number, journal.c.instrument_row, journal.c.shares)
        .where(journal.c.account_id == account, journal.c.instrument_row.is_not(None))
        .order_by(journal.c.number)
    ).all()
    names = _instrument_names(connection, sorted({row.instrument_row for row in booked}))
    held, place, found = defaultdict[int, float](float), 0, []
    for row in valued:
        # Valuations and journal rows go on together.
        while place < len(booked) and booked[place].number <= row.journal_number:
            held[booked[place].instrument_row] += booked[place].shares
            place += 1
        known = prices[row.at, row.revision]
        worth = tuple(
            (names[instrument], shares * known[instrument])
            for instrument, shares in held.items()
            if instrument in known and abs(shares) > 1e-9
        )
        found.append(AccountHoldings(row.at, row.cash_usd, row.value_usd, worth))
    return tuple(found)


def _instrument_names(connection: Connection, rows: Sequence[int]) -> dict[int, str]:
    """Return names of instruments: outcome and question of a market, else the id, as for shares."""
    outcome = func.coalesce(instruments.c.side, cast(instruments.c.outcome + 1, Text), "")
    is_alone = or_(markets.c.id.is_(None), instruments.c.kind == EQUITY)
    name = case((is_alone, instruments.c.instrument_id), else_=outcome + ": " + markets.c.question)
    statement = (
        select(instruments.c.id, name)
        .outerjoin(markets, markets.c.id == instruments.c.market_row)
        .where(instruments.c.id.in_(rows))
    )
    return {row: str(name) for row, name in connection.execute(statement)}
