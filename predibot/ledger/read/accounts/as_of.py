"""Accounts as of an instant: bookings, payouts of resolutions since, and holdings at their last prices.

A bot's account is settled at its next turn, or when a live venue is tracked. Resolutions are known at once: a reader
sees an account as of the same instant as everything else, and nothing is written. An account over time is read at its
stored valuations.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, Table, Text, and_, case, cast, func, or_, select

from predibot.domain.account import Account, JournalRow, MarkState
from predibot.domain.price import EQUITY, Instrument
from predibot.domain.resolution import Resolution
from predibot.games.accounts import Journal, settle
from predibot.ledger.schema.column_types import from_microseconds, to_microseconds
from predibot.ledger.schema.packed_points import unpack_points
from predibot.ledger.write.accounts import accounts, journal, marks, valuations
from predibot.ledger.write.events import NAME_OF_INSTRUMENT, instruments, markets
from predibot.ledger.write.prices_and_resolutions import price_paths, resolutions_of
from predibot.ledger.write.turns import MarketSide, outcome_number, sides_where
from predibot.rows import grouped


@dataclass(frozen=True, slots=True)
class Mark:
    """The last price of a position."""

    price: float
    priced_at: datetime
    state: MarkState


@dataclass(frozen=True, slots=True)
class AccountAsOf:
    """An account with all that was known at an instant."""

    rows: tuple[JournalRow, ...]
    """Its journal, and then payouts of resolutions since, each when it was effective."""
    booked: int
    account: Account
    valued_at: datetime | None
    value_usd: float | None
    """Value at the last prices, or at the last valuation where none is newer; None if a position never had a price."""
    marks: Mapping[Instrument, Mark]


_LastPrices = Mapping[tuple[int, int], tuple[datetime, float]]
"""Instant and last price of an outcome, by market row and number."""


def accounts_as_of(
    connection: Connection, own: Sequence[int], as_of: datetime, *, as_booked: bool = False
) -> Mapping[int, AccountAsOf]:
    """Return accounts as they were at an instant, by row; those opened later are absent.

    With `as_booked` only stored rows of the accounts count, as at a bot's turn.
    """
    journals = _read_journals(connection, own, as_of)
    valued, marked = _read_values(connection, own, as_of), _read_marks(connection, own, as_of)
    traded = instruments.c.id.in_(_traded_instruments(own, as_of))
    sides = {} if as_booked else sides_where(connection, traded, instruments.c.kind != EQUITY)
    revisions = resolutions_of(connection, select(instruments.c.market_row).where(traded)) if sides else {}
    settled = {row: _settle(booked, sides, revisions, as_of) for row, booked in journals.items()}
    held = {sides[each].market_row for of in settled.values() for each in of.account.positions if each in sides}
    seen = _read_last_prices(connection, held, own, as_of)
    found = {}
    for row, known in settled.items():
        rows, account = known.rows, known.account
        at, value_usd = valued.get(row, (None, None))
        stored, booked = marked.get(row, {}), len(journals[row].rows)
        newer = {
            each: Mark(price, priced_at, "closed" if (old := stored.get(each)) and old.state == "closed" else "quoted")
            for each in account.positions
            if each in sides and (last := _last_price(sides[each], seen)) is not None
            for priced_at, price in [last]
            if priced_at > (stored[each].priced_at if each in stored else at or rows[0].at)
        }
        if newer or len(rows) > booked:
            at = max(at or rows[0].at, rows[-1].at, *(mark.priced_at for mark in newer.values()))
            # A position without a price since is worth its cost.
            value_usd = account.cash_usd + sum(
                held.shares * mark.price if (mark := newer.get(each, stored.get(each))) else held.cost_usd
                for each, held in account.positions.items()
            )
        found[row] = AccountAsOf(rows, booked, account, at, value_usd, stored | newer)
    return found


def _settle(
    booked: Journal,
    sides: Mapping[Instrument, MarketSide],
    revisions: Mapping[int, Sequence[Resolution]],
    as_of: datetime,
) -> Journal:
    seen = {row.instrument: row.revision for row in booked.rows if row.instrument is not None}
    paid = {
        instrument: sides[instrument].paid_by(revisions[sides[instrument].market_row])
        for instrument, paid_by in seen.items()
        # An outcome paid by the last revision is done.
        if instrument in sides
        and sides[instrument].market_row in revisions
        and paid_by != len(revisions[sides[instrument].market_row])
    }
    if not paid:
        return booked
    last = booked.rows[-1].at
    further = [
        replace(each, at=max(last, dict(paid[each.instrument])[each.revision].effective_at))
        for each in settle(booked, paid, as_of=as_of)
        if each.instrument is not None and each.revision is not None
    ]
    return booked.with_rows(sorted(further, key=lambda row: row.at))


def _last_price(side: MarketSide, seen: _LastPrices) -> tuple[datetime, float] | None:
    """Return the last price of an outcome; that of NO follows from YES."""
    is_no = side.number == 1 and not side.is_named
    last = seen.get((side.market_row, 0 if is_no else side.number))
    return (last[0], 1.0 - last[1]) if is_no and last is not None else last


def _read_journals(connection: Connection, own: Sequence[int], as_of: datetime) -> Mapping[int, Journal]:
    statement: Select[Any] = (
        select(*journal.c["account_id", "kind", "at", "cash_usd", "shares", "instrument_row", "revision"])
        .where(journal.c.account_id.in_(own), journal.c.at <= as_of)
        .order_by(journal.c.account_id, journal.c.number)
    )
    rows = connection.execute(statement).all()
    named = _instruments(connection, {row.instrument_row for row in rows if row.instrument_row is not None})
    found = grouped(
        (account, JournalRow(kind, at, cash_usd, named.get(instrument), shares, revision=revision))
        for account, kind, at, cash_usd, shares, instrument, revision in rows
    )
    return {account: Journal().with_rows(entries) for account, entries in found.items()}


def _instruments(connection: Connection, rows: set[int]) -> Mapping[int, Instrument]:
    statement: Select[Any] = select(instruments.c.id, *NAME_OF_INSTRUMENT)
    if len(rows) < 10_000:
        statement = statement.where(instruments.c.id.in_(rows))
    return {row: Instrument(*name) for row, *name in connection.execute(statement)}


def _traded_instruments(own: Sequence[int], as_of: datetime) -> "Select[tuple[int | None]]":
    return select(journal.c.instrument_row).where(journal.c.account_id.in_(own), journal.c.at <= as_of).distinct()


def _read_last_prices(connection: Connection, held: set[int], own: Sequence[int], as_of: datetime) -> _LastPrices:
    if not held:
        return {}
    traded = select(instruments.c.market_row).where(instruments.c.id.in_(_traded_instruments(own, as_of)))
    statement = (
        select(*instruments.c["market_row", "side", "outcome"], price_paths.c.points)
        .join(instruments, instruments.c.id == price_paths.c.instrument_row)
        .where(instruments.c.market_row.in_(traded))
    )
    paths = [row for row in connection.execute(statement) if row.market_row in held]
    points, sizes = unpack_points([path.points for path in paths])
    ends = np.cumsum(sizes)
    found = {}
    for path, start, end in zip(paths, (ends - sizes).tolist(), ends.tolist(), strict=True):
        own_points = points[start:end]
        known = own_points[own_points["at"] <= to_microseconds(as_of)]
        if known.size:
            last = known[np.argmax(known["at"])]
            at, price = from_microseconds(int(last["at"])), float(last["price"])
            found[path.market_row, outcome_number(path.side, path.outcome)] = at, price
    return found


def _at_last_valuation(table: Table, own: Sequence[int], as_of: datetime, *names: str) -> Select[Any]:
    """Return the statement of accounts with the rows of a table at their last valuation, its last revision last."""
    earlier = valuations.alias("earlier")
    last = select(func.max(earlier.c.at)).where(earlier.c.account_id == accounts.c.id, earlier.c.at <= as_of)
    at_last = (table.c.account_id == accounts.c.id, table.c.at == last.correlate(accounts).scalar_subquery())
    found = select(accounts.c.id, *(table.c[name] for name in names)).select_from(accounts).join(table, and_(*at_last))
    return found.where(accounts.c.id.in_(own)).order_by(accounts.c.id, table.c.revision)


def _read_values(connection: Connection, own: Sequence[int], as_of: datetime) -> Mapping[int, tuple[datetime, float]]:
    statement = _at_last_valuation(valuations, own, as_of, "at", "value_usd")
    # The last revision stays.
    return {account: (at, value) for account, at, value in connection.execute(statement)}


def _read_marks(connection: Connection, own: Sequence[int], as_of: datetime) -> Mapping[int, dict[Instrument, Mark]]:
    statement = _at_last_valuation(marks, own, as_of, "instrument_row", "price", "priced_at", "state")
    rows = connection.execute(statement).all()
    named = _instruments(connection, {row.instrument_row for row in rows})
    found = defaultdict[int, dict[Instrument, Mark]](dict)
    for account, instrument, *mark in rows:
        found[account][named[instrument]] = Mark(*mark)
    return found


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
        select(*valuations.c["at", "revision", "journal_number"])
        .add_columns(valuations.c.cash_usd, valuations.c.value_usd)
        .where(valuations.c.account_id == account)
        .order_by(valuations.c.at, valuations.c.revision)
    )
    valued = list({row.at: row for row in connection.execute(statement)}.values())
    if len(valued) > most:
        valued = [valued[(place + 1) * len(valued) // most - 1] for place in range(most)]
    prices = defaultdict[tuple[datetime, int], dict[int, float]](dict)
    marked = select(*marks.c["at", "revision", "instrument_row", "price"])
    for at, revision, instrument, price in connection.execute(marked.where(marks.c.account_id == account)):
        prices[at, revision][instrument] = price
    booked = connection.execute(
        select(*journal.c["number", "instrument_row", "shares"])
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
