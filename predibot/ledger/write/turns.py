"""Turns in the ledger: an account brought to a slot, its orders' results, and the past it may recall."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Text, bindparam, delete, func, insert, literal, select, update
from sqlmodel import SQLModel

from predibot.domain.account_past import CASH, PastAllocation, asset_name
from predibot.domain.clock import EPOCH
from predibot.domain.decision import BookedOrder, Fill, Order, OrderStatus
from predibot.domain.event import Market, MarketRef
from predibot.domain.price import SIDES, Instrument, Side
from predibot.domain.resolution import Resolution
from predibot.ledger.schema.tables import FillRow, OrderRow, TurnRow
from predibot.ledger.schema.upsert import insert_new, table_of
from predibot.ledger.write.accounts import VALUED_EVERY, accounts, journal, valuations
from predibot.ledger.write.events import NAME_OF_INSTRUMENT, events, instruments, market_ref, markets, parse_outcomes
from predibot.ledger.write.runs import bots, decisions, runs
from predibot.rows import grouped

turns, _fills, _orders = table_of(TurnRow), table_of(FillRow), table_of(OrderRow)

REMEMBERED = 10
"""How many past allocations a bot is shown."""


@dataclass(frozen=True, slots=True)
class PendingOrder:
    """A pending order of an earlier decision."""

    decision_id: int
    number: int
    order: Order
    decided_at: datetime = EPOCH


@dataclass(frozen=True, slots=True)
class MarketSide:
    """An instrument's outcome and its market."""

    market_row: int
    number: int
    """The outcome's index from 0; YES is 0 and NO is 1."""
    is_named: bool
    """Whether the market has more than two outcomes, each with its own price."""

    def paid_by(self, revisions: Sequence[Resolution]) -> list[tuple[int, Resolution]]:
        """Return what each revision pays for the outcome, with its number from 1; unknown payouts are left out."""
        paid = [(number, revision.of_outcome(self.number)) for number, revision in enumerate(revisions, start=1)]
        return [(number, known) for number, known in paid if known is not None]


@dataclass(frozen=True, slots=True)
class KnownMarket:
    """A market as it is stored, whatever became of it since."""

    row: int
    event_id: str
    title: str
    question: str
    ref: MarketRef
    outcomes: tuple[str, ...] = SIDES

    def instruments(self, venue: str) -> tuple[Instrument, ...]:
        """Return the instruments of its outcomes; a share has one."""
        return Market(self.ref, self.question, self.outcomes).instruments(venue)


def account_decisions(*columns: Any) -> Select[Any]:
    """Return a statement over the decisions of accounts: their bot's on their subject, in runs that they had turns in.

    Those of void runs are left out.
    """
    return (
        select(*columns)
        .select_from(turns)
        .join(accounts, accounts.c.id == turns.c.account_id)
        .join(decisions, decisions.c.run_id == turns.c.run_id)
        .join(bots, bots.c.id == decisions.c.bot_id)
        .join(runs, runs.c.id == turns.c.run_id)
        .where(
            bots.c.name == accounts.c.bot, decisions.c.subject_row == accounts.c.subject_row, runs.c.voided_at.is_(None)
        )
    )


# Built once, because each decision runs them several times.
_PENDING = (
    account_decisions(
        *_orders.c["decision_id", "number", "amount", "unit", "side"], decisions.c.decided_at, *NAME_OF_INSTRUMENT
    )
    .join(_orders, _orders.c.decision_id == decisions.c.id)
    .join(instruments, instruments.c.id == _orders.c.instrument_row)
    .where(_orders.c.status == "pending", turns.c.account_id == bindparam("account_id"))
    .order_by(_orders.c.decision_id, _orders.c.number)
)
_ALLOCATIONS = (
    account_decisions(decisions.c.id, turns.c.slot_at, turns.c.at)
    .where(decisions.c.status == "recorded", turns.c.slot_at < bindparam("before"))
    .where(turns.c.account_id == bindparam("account_id"))
    .order_by(turns.c.slot_at.desc())
    .limit(REMEMBERED)
)


def pending_orders(connection: Connection, account_id: int) -> tuple[PendingOrder, ...]:
    """Return the pending orders of an account, oldest decision first, each in order."""
    return tuple(
        PendingOrder(
            row.decision_id,
            row.number,
            Order(Instrument(row.venue, row.kind, row.instrument_id), row.amount, row.unit, row.side),
            decided_at=row.decided_at,
        )
        for row in connection.execute(_PENDING, {"account_id": account_id})
    )


def end_orders(connection: Connection, ended: Sequence[tuple[PendingOrder, BookedOrder]], *, at: datetime) -> None:
    """Store the end of pending orders, with their fills behind those of their decision."""
    _end_pending(connection, [(pending, booked.status, booked.note) for pending, booked in ended], at=at)
    done = ((pending.decision_id, (pending.number, fill)) for pending, booked in ended for fill in booked.fills)
    for decision_id, filled in grouped(done).items():
        last = select(func.max(_fills.c.number)).where(_fills.c.decision_id == decision_id)
        first = (connection.execute(last).scalar() or 0) + 1
        add_decision_rows(connection, FillRow, decision_id, fill_rows(filled), first=first)


def add_decision_rows(
    connection: Connection, model: type[SQLModel], decision_id: int, rows: Iterable[dict[str, Any]], *, first: int = 1
) -> None:
    """Store parts of a decision, numbered in order where the table has numbers."""
    numbered = "number" in table_of(model).c
    named = ({"decision_id": decision_id, **({"number": n} if numbered else {})} for n in count(first))
    insert_new(connection, model, [key | row for key, row in zip(named, rows, strict=False)])


def fill_rows(filled: Iterable[tuple[int, Fill]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of fills, each with the number of its order."""
    names = [name for name in Fill.__slots__ if name in _fills.c]
    return ({"order_number": order_number, **fields_of(fill, names)} for order_number, fill in filled)


def fields_of(value: object, names: Iterable[str]) -> dict[str, Any]:
    """Return attributes by name, as columns are named too."""
    return {name: getattr(value, name) for name in names}


def _end_pending(
    connection: Connection, ended: Sequence[tuple[PendingOrder, OrderStatus, str]], *, at: datetime
) -> None:
    if not ended:
        return
    same = (_orders.c.decision_id == bindparam("decision"), _orders.c.number == bindparam("order"))
    became = {"status": bindparam("became"), "note": func.coalesce(_orders.c.note, bindparam("why", type_=Text()))}
    connection.execute(
        update(_orders).where(*same, _orders.c.status == "pending").values(ended_at=at, **became),
        [
            {"decision": each.decision_id, "order": each.number, "became": status, "why": note or None}
            for each, status, note in ended
        ],
    )


def replace_pending(connection: Connection, account_id: int, *, but: int, at: datetime) -> None:
    """End an account's pending orders, except those of one decision: a new answer replaces them."""
    replaced = [each for each in pending_orders(connection, account_id) if each.decision_id != but]
    _end_pending(connection, [(each, "replaced", "a later decision replaced it") for each in replaced], at=at)


def turn_at(connection: Connection, account_id: int, slot_at: datetime) -> datetime | None:
    """Return when a run that counts brought an account to a slot, None where none did."""
    found = connection.execute(
        select(turns.c.at)
        .join(runs, runs.c.id == turns.c.run_id)
        .where(turns.c.account_id == account_id, turns.c.slot_at == slot_at, runs.c.voided_at.is_(None))
    )
    return found.scalar()


def accounts_played_at(connection: Connection, venue: str) -> Mapping[int, str]:
    """Return the bot of each account that had a turn in a run at a venue, by the account's row."""
    statement = (
        select(accounts.c.id, accounts.c.bot)
        .distinct()
        .join(turns, turns.c.account_id == accounts.c.id)
        .join(runs, runs.c.id == turns.c.run_id)
        .where(runs.c.venue == venue, runs.c.voided_at.is_(None))
        .order_by(accounts.c.id)
    )
    return {row.id: row.bot for row in connection.execute(statement)}


def add_turn(connection: Connection, account_id: int, slot_at: datetime, run_id: int, *, at: datetime) -> None:
    """Store that an account was brought to a slot, with its journal's last row; a void run's turn is replaced."""
    key = (turns.c.account_id == account_id, turns.c.slot_at == slot_at)
    connection.execute(delete(turns).where(*key))
    last = select(func.max(journal.c.number)).where(journal.c.account_id == account_id).scalar_subquery()
    row = {"account_id": account_id, "slot_at": slot_at, "run_id": run_id, "at": at, "journal_number": last}
    connection.execute(insert(turns).values(**row))


def sides_of(connection: Connection, wanted: Sequence[Instrument]) -> Mapping[Instrument, MarketSide]:
    """Return the market and outcome of each instrument; those without are absent."""
    found = sides_where(connection, instruments.c.instrument_id.in_([each.id for each in wanted]))
    return {each: found[each] for each in wanted if each in found}


def sides_where(connection: Connection, *which: ColumnElement[bool]) -> Mapping[Instrument, MarketSide]:
    """Return market and outcome of all instruments under some conditions."""
    statement: Select[Any] = select(*NAME_OF_INSTRUMENT, *instruments.c["side", "outcome", "market_row"])
    found = connection.execute(statement.where(instruments.c.market_row.is_not(None), *which))
    return {
        Instrument(venue, kind, name): MarketSide(market_row, outcome_number(side, outcome), outcome is not None)
        for venue, kind, name, side, outcome, market_row in found
    }


def outcome_number(side: Side | None, outcome: int | None) -> int:
    """Return an instrument's outcome, from 0; of two, NO is 1."""
    return outcome or 0 if side is None else SIDES.index(side)


def markets_behind(connection: Connection, wanted: Collection[Instrument]) -> Mapping[Instrument, KnownMarket]:
    """Return the market of each instrument that is an outcome, the first known first."""
    statement = (
        select(*NAME_OF_INSTRUMENT, markets, events.c.event_id, events.c.title)
        .join(markets, markets.c.id == instruments.c.market_row)
        .join(events, events.c.id == markets.c.event_row)
        .where(instruments.c.instrument_id.in_([each.id for each in wanted]))
        .order_by(markets.c.id)
    )
    return {
        instrument: KnownMarket(
            row.id, row.event_id, row.title, row.question, market_ref(row), parse_outcomes(row.outcomes_json)
        )
        for row in connection.execute(statement)
        if (instrument := Instrument(*row[:3])) in wanted
    }


def past_allocations(
    connection: Connection, account_id: int, *, before: datetime, paid_in_usd: float
) -> tuple[PastAllocation, ...]:
    """Return the last allocations of an account from slots before another one, oldest first.

    Weights are those that were applied, and the rest is cash. Without a decision there is no allocation.
    """
    made = connection.execute(_ALLOCATIONS, {"account_id": account_id, "before": before}).all()[::-1]
    weights = _weights(connection, [row.id for row in made])
    worth = _values(connection, account_id, since=made[0].at) if made else {}
    found = []
    for row in made:
        floored = row.at - (row.at - EPOCH) % VALUED_EVERY
        # Shares are valued at closes, and a decision may fall on a Sunday: the last valuation counts.
        value_usd = next((value for at, value in reversed(list(worth.items())) if at <= floored), None)
        if value_usd is not None and paid_in_usd > 0.0:
            of_all = weights.get(row.id, {})
            cash = max(0.0, 1.0 - sum(of_all.values()))
            allocation = {**of_all, **({CASH: cash} if cash > 1e-12 else {})}
            found.append(PastAllocation(row.at, allocation, value_usd, value_usd / paid_in_usd - 1.0))
    return tuple(found)


def _weights(connection: Connection, decision_ids: Sequence[int]) -> Mapping[int, dict[str, float]]:
    statement: Select[Any] = (
        select(*_orders.c["decision_id", "amount"], markets.c.market_id, *instruments.c["side", "instrument_id"])
        .join(instruments, instruments.c.id == _orders.c.instrument_row)
        .outerjoin(markets, markets.c.id == instruments.c.market_row)
        .where(_orders.c.decision_id.in_(decision_ids), _orders.c.unit == "weight")
        .order_by(_orders.c.decision_id, _orders.c.number)
    )
    found: dict[int, dict[str, float]] = {}
    for decision_id, weight, market_id, side, instrument_id in connection.execute(statement):
        name = instrument_id if market_id is None or side is None else asset_name(market_id, side)
        found.setdefault(decision_id, {})[name] = weight
    return found


def _values(connection: Connection, account_id: int, *, since: datetime) -> Mapping[datetime, float]:
    """Return an account's values at its valuations since an instant, and at the last one before, as corrected."""
    own = valuations.c.account_id == account_id
    last = select(func.max(valuations.c.at)).where(own, valuations.c.at <= since).scalar_subquery()
    first = func.coalesce(last, literal(since, valuations.c.at.type))
    worth = select(valuations.c.at, valuations.c.value_usd).where(own, valuations.c.at >= first)
    return {at: value for at, value in connection.execute(worth.order_by(valuations.c.at, valuations.c.revision))}
