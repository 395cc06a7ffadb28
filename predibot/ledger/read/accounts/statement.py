"""Statements of accounts: holdings, pending orders, bookings and allocations; and the reasons of all accounts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from sqlalchemy import Connection, Row, Text, and_, case, cast, func, or_, select

from predibot.domain.account import Account, JournalRow
from predibot.domain.account_past import asset_name
from predibot.domain.price import EQUITY, Side
from predibot.ledger.read.accounts.as_of import AccountAsOf, accounts_as_of
from predibot.ledger.read.accounts.cohort_statement import CohortAccountPositions
from predibot.ledger.read.accounts.scoring import decisions_by
from predibot.ledger.read.row_filter import is_bot
from predibot.ledger.write.accounts import accounts, journal, valuations
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots, decisions, fills, orders
from predibot.ledger.write.events import instruments, markets
from predibot.ledger.write.prices_and_resolutions import CAUSE_OF_BOOKING, paid_by, resolutions
from predibot.ledger.write.runs import runs
from predibot.ledger.write.turns import turns
from predibot.rows import grouped
from predibot.scoring.accounts.rationale import Factor, FactorShares, factor_shares, factors_named


@dataclass(frozen=True, slots=True)
class StatementPosition:
    """Shares of one instrument, and their last mark."""

    asset: str
    question: str
    shares: float
    cost_usd: float
    price: float | None
    """None if it was bought after the last valuation, as the next two."""
    priced_at: datetime | None
    state: str | None
    """`quoted`, `stale`, `closed` or `settled`, at its last valuation."""

    @property
    def value_usd(self) -> float | None:
        """Return its value at the last mark."""
        return None if self.price is None else self.shares * self.price


@dataclass(frozen=True, slots=True)
class Allocation:
    """A bot's decision at a slot, and what became of it."""

    run: str
    slot_at: datetime
    status: str
    message: str
    rationale: str
    notes: tuple[str, ...]
    orders: tuple[Row[Any], ...]
    """Each with its end and the sum of its fills; `asked` is what the bot wanted, if a rule changed it."""
    value_usd: float | None
    """Value of the account before its orders."""
    trace_sha256: str | None
    judged: frozenset[Factor] | None = None
    """Factors in its rationale as a model reads it; None without a model."""

    @property
    def factors(self) -> frozenset[Factor]:
        """Return the factors in its rationale, by rules."""
        return factors_named(self.rationale)

    @property
    def pending(self) -> tuple[Row[Any], ...]:
        """Return the orders that wait for the next slot."""
        return tuple(order for order in self.orders if order.status == "pending")


@dataclass(frozen=True, slots=True)
class JournalLine:
    """A row of the journal, with names."""

    number: int
    at: datetime
    kind: str
    asset: str
    question: str
    shares: float
    cash_usd: float
    run: str | None
    """The run of its decision; None where it follows from none."""
    revision: int | None
    """The resolution's, as the next two."""
    payout_yes: float | None
    """Payout of a share of YES; None where there is no YES."""
    payout: float | None


@dataclass(frozen=True, slots=True)
class AccountStatement:
    """All that is known of an account as of an instant, with payouts since the last booking."""

    name: Row[Any]
    """The account's `row` and what names it; `methodology` is empty where a game has only one."""
    account: Account
    valued_at: datetime | None
    value_usd: float | None
    positions: tuple[StatementPosition, ...]
    allocations: tuple[Allocation, ...]
    journal: tuple[JournalLine, ...]
    valuations: tuple[Row[Any], ...]
    """Every valuation in its last revision: instant, cash, value, and the number of the last journal row in it."""
    cohort: CohortAccountPositions | None = None
    """Its positions with their states, if it is of a cohort."""

    @property
    def factors(self) -> FactorShares:
        """Return how often its rationales refer to each factor."""
        return factor_shares([(each.factors, each.judged) for each in self.allocations if each.rationale])


def find_accounts(
    connection: Connection, bot: str, recipe: str | None, subject: str | None = None
) -> tuple[Row[Any], ...]:
    """Return the accounts of a bot or of its replicates, of one recipe or game instance or of all, oldest first."""
    filters = {accounts.c.recipe: recipe, subjects.c.subject_id: subject}
    columns = accounts.c["recipe", "game", "mode", "bot", "methodology"]
    statement = (
        select(accounts.c.id.label("row"), *columns, subjects.c.subject_id.label("subject"), subjects.c.venue)
        .join(subjects, subjects.c.id == accounts.c.subject_row)
        .where(
            is_bot(accounts.c.bot, (bot,)), *(column == value for column, value in filters.items() if value is not None)
        )
        .order_by(accounts.c.id)
    )
    return tuple(connection.execute(statement))


def names_of_accounts(connection: Connection) -> tuple[str, ...]:
    """Return the names of bots with accounts, each once, in order."""
    return tuple(connection.execute(select(accounts.c.bot).distinct().order_by(accounts.c.bot)).scalars())


def statement_of(connection: Connection, name: Row[Any], as_of: datetime) -> AccountStatement:
    """Return the statement of an account, without later bookings and decisions."""
    # An account that is opened later has nothing.
    nothing = AccountAsOf((), 0, Account(), None, None, {})
    known = accounts_as_of(connection, [name.row], as_of).get(name.row, nothing)
    account, further = known.account, known.rows[known.booked :]
    valued = _read_valuations(connection, name.row, as_of)
    wanted = [*account.positions, *(row.instrument for row in further if row.instrument is not None)]
    named = _asset_names(connection, [instrument.id for instrument in wanted])
    positions = []
    for each, held in account.positions.items():
        mark = known.marks.get(each)
        seen = (None, None, None) if mark is None else (mark.price, mark.priced_at, mark.state)
        positions.append(StatementPosition(*named.get(each.id, (each.id, "")), held.shares, held.cost_usd, *seen))
    booked = _read_journal(connection, name.row, as_of)
    return AccountStatement(
        name=name,
        account=account,
        valued_at=known.valued_at,
        value_usd=known.value_usd,
        positions=tuple(positions),
        allocations=_read_allocations(connection, name, as_of, {row.at: row.value_usd for row in valued}),
        journal=(*booked, *_pending_settlements(further, named, len(booked))),
        valuations=valued,
    )


def _asset_name() -> Any:
    """Return the SQL of an instrument's name for bots, as `asset_name`; more than two outcomes are numbered from 1."""
    number = "#" + cast(instruments.c.outcome + 1, Text)
    side = case({side: asset_name("", side) for side in get_args(Side)}, value=instruments.c.side, else_=number)
    has_no_side = or_(markets.c.market_id.is_(None), instruments.c.kind == EQUITY)
    return case((has_no_side, instruments.c.instrument_id), else_=markets.c.market_id + side)


def _read_valuations(connection: Connection, account: int, as_of: datetime) -> tuple[Row[Any], ...]:
    statement = (
        select(*(valuations.c[name] for name in ("at", "cash_usd", "value_usd", "journal_number")))
        .where(valuations.c.account_id == account, valuations.c.at <= as_of)
        .order_by(valuations.c.at, valuations.c.revision)
    )
    # The last revision stays.
    return tuple({row.at: row for row in connection.execute(statement)}.values())


def _pending_settlements(
    rows: Sequence[JournalRow], named: Mapping[str, tuple[str, str]], booked: int
) -> Iterator[JournalLine]:
    for number, row in enumerate(rows, start=booked + 1):
        asset = "" if row.instrument is None else row.instrument.id
        paid = None if row.kind != "settlement" or not row.shares else -row.cash_usd / row.shares
        words = named.get(asset, (asset, ""))
        yield JournalLine(number, row.at, row.kind, *words, row.shares, row.cash_usd, None, row.revision, None, paid)


def _asset_names(connection: Connection, instrument_ids: Sequence[str]) -> Mapping[str, tuple[str, str]]:
    statement = (
        select(instruments.c.instrument_id, _asset_name(), markets.c.question)
        .join(markets, markets.c.id == instruments.c.market_row)
        .where(instruments.c.instrument_id.in_(instrument_ids))
    )
    return {name: (asset, question) for name, asset, question in connection.execute(statement)}


def _read_allocations(
    connection: Connection, name: Row[Any], as_of: datetime, values: Mapping[datetime, float]
) -> tuple[Allocation, ...]:
    columns = decisions.c["id", "status", "message", "rationale", "notes_json", "trace_sha256"]
    statement = decisions_by(as_of, *runs.c["key", "slot_at"], turns.c.at, *columns).where(accounts.c.id == name.row)
    found = connection.execute(statement.order_by(runs.c.slot_at)).all()
    ordered = _read_orders(connection, [row.id for row in found], as_of)
    valued = sorted(values)
    return tuple(
        Allocation(
            run=row.key,
            slot_at=row.slot_at,
            status=row.status,
            message=row.message,
            rationale=row.rationale,
            notes=tuple(json.loads(row.notes_json)),
            orders=tuple(ordered.get(row.id, ())),
            value_usd=next((values[at] for at in reversed(valued) if at <= row.at), None),
            trace_sha256=row.trace_sha256,
        )
        for row in found
    )


def _read_orders(connection: Connection, own: Sequence[int], as_of: datetime) -> Mapping[int, Sequence[Row[Any]]]:
    """Return the orders of decisions, by decision, with the sum of their fills.

    An order that ended after the instant counts as pending, without its fills and note.
    """
    has_ended = or_(orders.c.ended_at.is_(None), orders.c.ended_at <= as_of)
    of_order = fills.c["decision_id", "order_number"]
    totals = (func.sum(fills.c[name]).label(name) for name in ("shares", "cash_usd"))
    filled = select(*of_order, *totals).group_by(*of_order).subquery()
    question = func.coalesce(markets.c.question, "").label("question")
    became: tuple[Any, ...] = (
        (orders.c.status, "pending"),
        (filled.c.shares, 0.0),
        (filled.c.cash_usd, 0.0),
        (orders.c.note, ""),
    )
    statement = (
        select(orders.c.decision_id, _asset_name().label("asset"), question, *orders.c["unit", "amount", "asked"])
        .add_columns(*(func.coalesce(case((has_ended, each)), before).label(each.name) for each, before in became))
        .join(instruments, instruments.c.id == orders.c.instrument_row)
        .outerjoin(markets, markets.c.id == instruments.c.market_row)
        .outerjoin(filled, and_(filled.c.decision_id == orders.c.decision_id, filled.c.order_number == orders.c.number))
        .where(orders.c.decision_id.in_(own))
        .order_by(orders.c.decision_id, orders.c.number)
    )
    return grouped((row.decision_id, row) for row in connection.execute(statement))


def _read_journal(connection: Connection, account: int, as_of: datetime) -> tuple[JournalLine, ...]:
    statement = (
        select(*journal.c["number", "at", "kind"], func.coalesce(_asset_name(), ""))
        .add_columns(func.coalesce(markets.c.question, ""), journal.c.shares, journal.c.cash_usd)
        .add_columns(runs.c.key, journal.c.revision, resolutions, instruments.c.side, instruments.c.outcome)
        .outerjoin(instruments, instruments.c.id == journal.c.instrument_row)
        .outerjoin(markets, markets.c.id == instruments.c.market_row)
        .outerjoin(decisions, decisions.c.id == journal.c.decision_id)
        .outerjoin(runs, runs.c.id == decisions.c.run_id)
        .outerjoin(resolutions, CAUSE_OF_BOOKING)
        .where(journal.c.account_id == account, journal.c.at <= as_of)
        .order_by(journal.c.number)
    )
    return tuple(
        JournalLine(*(*row[:9], None if row.outcome is not None else row.payout_yes, paid_by(row)))
        for row in connection.execute(statement)
    )


def list_rationales(
    connection: Connection, recipe: str | None, subject: str | None, as_of: datetime
) -> Sequence[Row[Any]]:
    """Return what bots with accounts said by an instant, by recipe, game, mode, venue, bot and slot; void runs apart.

    `subject` is a game instance, such as a week's cohort; None takes all.
    """
    wanted = {accounts.c.recipe: recipe, subjects.c.subject_id: subject}
    columns = (*accounts.c["recipe", "game", "mode"], subjects.c.venue, accounts.c.bot)
    statement = (
        decisions_by(as_of, *columns, bots.c.strategy, decisions.c.rationale)
        .join(subjects, subjects.c.id == accounts.c.subject_row)
        .where(decisions.c.rationale != "")
        .where(*(column == value for column, value in wanted.items() if value is not None))
        .order_by(*columns, runs.c.slot_at, decisions.c.id)
    )
    return connection.execute(statement).all()
