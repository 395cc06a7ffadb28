"""Prices of what accounts held, slot by slot, with payouts; and how far these prices may make results deviate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, select

from predibot.domain.account import JournalRow
from predibot.domain.price import EQUITY, Instrument
from predibot.ledger.read.columns import read_columns
from predibot.ledger.read.event_facts import read_run_markets
from predibot.ledger.schema.column_types import MICROSECONDS, to_microseconds
from predibot.ledger.schema.packed_points import unpack_points
from predibot.ledger.write.events import NAME_OF_INSTRUMENT, instruments, markets
from predibot.ledger.write.prices_and_resolutions import read_yes_paths, resolutions
from predibot.rows import grouped
from predibot.scoring.accounts.implied import implied_risk
from predibot.scoring.accounts.record import AccountRecord, AccountsRecord
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.price_lookup import MAX_GAP_SECONDS, as_of_prices

_LONGEST = timedelta(days=730)
"""Prices are read for each day until this long after the last booking."""


_Name = TypeVar("_Name")


@dataclass(frozen=True, slots=True, eq=False)
class TradedInstruments:
    """Instruments in the order of their rows, (i,) each."""

    rows: Ints
    names: tuple[str, ...]
    outcome: Ints
    """1 for YES, -1 for NO, 0 for any other."""
    market: Ints
    """-1 without a market."""
    are_shares: bool


def read_instruments(connection: Connection, rows: Ints) -> TradedInstruments:
    """Return the instruments of rows, in their order."""
    named = instruments.c["instrument_id", "side", "market_row", "kind"]
    statement = select(instruments.c.id, *named).where(instruments.c.id.in_(rows.tolist()))
    by_id = {row.id: row for row in connection.execute(statement)}
    found = [by_id[row] for row in rows.tolist()]
    return TradedInstruments(
        rows,
        tuple(row.instrument_id for row in found),
        np.array([{"YES": 1, "NO": -1}.get(row.side or "", 0) for row in found], dtype=np.int64),
        np.array([-1 if row.market_row is None else row.market_row for row in found], dtype=np.int64),
        any(row.kind == EQUITY for row in found),
    )


def price_deviations(
    connection: Connection,
    venue: str,
    journals: Mapping[_Name, Sequence[tuple[Sequence[JournalRow], float]]],
    as_of: datetime,
) -> Mapping[_Name, float]:
    """Return by name how far results may deviate because of the prices of holdings.

    Args:
        journals: Journals of each bot's accounts, each with the weight of a dollar in it.
    """
    rows = [
        row for of in journals.values() for own, _ in of for row in own if row.instrument is not None and row.shares
    ]
    if not rows:
        return dict.fromkeys(journals, 0.0)
    held = {row.instrument for row in rows}
    statement: Select[Any] = select(instruments.c.id, *NAME_OF_INSTRUMENT).where(instruments.c.venue == venue)
    row_of = {name: row for row, *of in connection.execute(statement) if (name := Instrument(*of)) in held}
    ids = np.array(sorted(row_of.values()), dtype=np.int64)
    column = {name: int(np.searchsorted(ids, row)) for name, row in row_of.items()}
    at = _instants([row.at for row in rows], as_of)
    place = {instant: number for number, instant in enumerate(at)}
    micro = np.array([to_microseconds(instant) for instant in at], dtype=np.float64)
    traded = read_instruments(connection, ids)
    observed = observed_prices(connection, traded, micro, as_of)
    prices, settled = add_payouts(connection, observed, traded, micro, as_of)
    for row in rows:
        if row.kind == "fill" and row.instrument in column and np.isnan(prices[place[row.at], column[row.instrument]]):
            prices[place[row.at], column[row.instrument]] = abs(row.cash_usd / row.shares)
    numbers = market_numbers(connection, read_run_markets(connection, venue).groups, traded)
    record = AccountsRecord("", "", "", "", at, traded.names, traded.outcome, prices, (), *numbers, settled=settled)
    found = {}
    for bot, of in journals.items():
        added = np.zeros(prices.shape)
        for own, part in of:
            for row in own:
                if row.instrument in column and row.shares:
                    added[place[row.at], column[row.instrument]] += row.shares * part
        shares = np.cumsum(added, axis=0)
        # One account that is always worth a dollar.
        cash = 1.0 - (shares * np.nan_to_num(record.known_prices)).sum(axis=1)
        every, nothing = np.arange(len(at)), np.zeros(len(at))
        as_one = AccountRecord("", "", every, nothing, np.arange(ids.size), shares, cash, shares, cash)
        found[bot] = implied_risk(record, as_one).deviation
    return found


def _instants(booked: Sequence[datetime], as_of: datetime) -> tuple[datetime, ...]:
    """Return when something was booked, and every midnight after the first."""
    first, days = min(booked), set(booked)
    at = first.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    while at <= min(as_of, max(booked) + _LONGEST):
        days.add(at)
        at += timedelta(days=1)
    return tuple(sorted({*days, *([as_of] if as_of > max(booked) else [])}))


def market_numbers(
    connection: Connection, groups: Mapping[int, tuple[int, str]], traded: TradedInstruments
) -> tuple[Ints, Ints, Ints]:
    """Return the numbers of market, event and exclusive group of each instrument, (i,) each.

    An outcome that is none of two sides has its own number for a market, and the outcomes of its market exclude each
    other.
    """
    market, outcome = traded.market, traded.outcome
    statement = select(markets.c.id, markets.c.event_row).where(markets.c.id.in_(np.unique(market).tolist()))
    events = {row: event for row, event in connection.execute(statement)}
    keys = [groups.get(row) if side else (row, "") for row, side in zip(market.tolist(), outcome.tolist(), strict=True)]
    number = {each: place for place, each in enumerate(dict.fromkeys(keys)) if each is not None}
    alone = np.arange(market.size)
    return (
        np.where(outcome != 0, market, -1 - alone),
        np.array([events.get(row, -1 - place) for place, row in enumerate(market.tolist())], dtype=np.int64),
        np.array([-1 if each is None else number[each] for each in keys], dtype=np.int64),
    )


def observed_prices(connection: Connection, traded: TradedInstruments, at: Floats, as_of: datetime) -> Floats:
    """Return the last stored price of each instrument at each slot, (slots, i), NaN without a recent one."""
    market, outcome = traded.market, traded.outcome
    prices = np.full((at.size, market.size), np.nan)
    paths = read_yes_paths(connection, instruments.c.market_row.in_(np.unique(market[market >= 0]).tolist()))
    points, sizes = unpack_points([path.points for path in paths])
    known = points["at"] <= to_microseconds(as_of)
    of_market = np.repeat(np.array([path.market_row for path in paths], dtype=np.int64), sizes)[known]
    asked = np.flatnonzero(market >= 0)
    yes = as_of_prices(
        of_market,
        points["at"][known] / MICROSECONDS,
        points["price"][known].astype(np.float64),
        np.tile(market[asked], at.size),
        np.repeat(at / MICROSECONDS, asked.size),
        max_gap_seconds=MAX_GAP_SECONDS,
    ).reshape(at.size, asked.size)
    prices[:, asked] = np.where(outcome[asked] < 0, 1.0 - yes, yes)
    return prices


def add_payouts(
    connection: Connection, prices: Floats, traded: TradedInstruments, at: Floats, as_of: datetime
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return prices with payouts from the slot on at which they were effective, and where they are payouts.

    Later revisions replace earlier ones.
    """
    settled = np.zeros(prices.shape, np.bool_)
    listed = np.unique(traded.market[traded.market >= 0]).tolist()
    statement = (
        select(*resolutions.c["market_row", "effective_at", "payout_yes"])
        .where(resolutions.c.market_row.in_(listed), resolutions.c.effective_at <= as_of)
        .order_by(resolutions.c.effective_at, resolutions.c.revision)
    )
    numbers = grouped((row, number) for number, row in enumerate(traded.market.tolist()))
    for row, effective_at, payout in read_columns(connection, statement, nullable="payout_yes").tolist():
        for number in numbers[int(row)]:
            # A market voided without a payout gives a share no price.
            prices[at >= effective_at, number] = 1.0 - payout if traded.outcome[number] < 0 else payout
            settled[at >= effective_at, number] = True
    return prices, settled
