"""Arrays of accounts for scoring: values and holdings slot by slot."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, Select, Table, and_, case, func, literal, or_, select

from predibot.domain.decision import STATUSES
from predibot.games.cohorts import COHORT
from predibot.ledger.read.accounts.as_of import AccountAsOf, accounts_as_of
from predibot.ledger.read.accounts.slot_prices import (
    TradedInstruments,
    add_payouts,
    market_numbers,
    observed_prices,
    read_instruments,
)
from predibot.ledger.read.columns import Columns, read_columns
from predibot.ledger.read.event_facts import read_run_markets
from predibot.ledger.read.model_knowledge import knowledge_of_decisions, run_is_live
from predibot.ledger.read.row_filter import is_bot
from predibot.ledger.schema.column_types import from_microseconds, to_microseconds
from predibot.ledger.schema.values import event_from_json
from predibot.ledger.write.accounts import accounts, journal, marks, valuations
from predibot.ledger.write.claims import subjects, tasks
from predibot.ledger.write.decisions import OPENED_MODEL, bots, decisions, orders
from predibot.ledger.write.events import markets, run_events
from predibot.ledger.write.runs import runs
from predibot.ledger.write.turns import account_decisions, turns
from predibot.rows import grouped
from predibot.scoring.accounts.record import AccountRecord, AccountsRecord, join_accounts
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.records.knowledge import KNOWLEDGE
from predibot.scoring.records.part import EVERYTHING, Part

HELD_BY_SYSTEM = len(STATUSES)
"""Status code of a decision that the system made, because the bot's answer could not be used."""


def decisions_of_accounts(connection: Connection, venue: str, own: Sequence[int], as_of: datetime) -> Columns:
    """Return the decisions of accounts, by account and then by time.

    `status` is an index into `STATUSES`, or `HELD_BY_SYSTEM`. `knowledge`, what the models behind it can have known, is
    an index into `KNOWLEDGE`. All bots are read for it, because one may pool another.
    """
    status = case(
        # Recorded without a usable answer: the system held.
        (and_(decisions.c.reason_kind == "answer", decisions.c.status == "recorded"), HELD_BY_SYSTEM),
        *((decisions.c.status == name, number) for number, name in enumerate(STATUSES)),
    )
    columns = decisions.c["cost_usd", "cost_known_usd", "bot_id", "subject_row", "decided_at"]
    statement = (
        decisions_by(as_of, accounts.c.id.label("account_id"), status.label("status"), *columns)
        .add_columns(OPENED_MODEL.label("opened"), run_is_live(connection).label("live"), literal(0).label("knowledge"))
        .join(subjects, subjects.c.id == accounts.c.subject_row)
        .where(subjects.c.venue == venue)
        .order_by(accounts.c.id, decisions.c.decided_at)
    )
    found = read_columns(connection, statement, nullable="cost_usd")
    if len(found):
        subject, never = found["subject_row"].astype(np.int64), np.full(len(found), np.inf)
        # A portfolio never ends.
        knowledge = knowledge_of_decisions(connection, found, subject, never, is_live=found["live"] == 1.0)
        found["knowledge"] = knowledge
    return found[np.isin(found["account_id"], own)]


def count_statuses(status: Floats) -> Mapping[str, int]:
    """Return the number of decisions by status; those of the system count as failed."""
    counts = np.bincount(status.astype(np.int64), minlength=HELD_BY_SYSTEM + 1).tolist()
    found = dict(zip(STATUSES, counts, strict=False))
    return {**found, "failed": found["failed"] + counts[HELD_BY_SYSTEM]}


def sum_costs(costs_usd: Floats) -> float | None:
    """Return the cost of decisions together; None where a part is unknown."""
    return None if np.isnan(costs_usd).any() else float(costs_usd.sum())


def decisions_by(as_of: datetime, *columns: Any) -> Select[Any]:
    """Return a statement over the decisions of accounts by an instant, those of void runs apart."""
    return account_decisions(*columns).where(decisions.c.decided_at <= as_of)


_Group = tuple[str, str, str, str]
"""Recipe, game, mode and subject, within which accounts may be compared."""
_Targets = Mapping[int, tuple[Ints, Floats]]
"""Instruments and weights, by decision."""


def account_records(
    connection: Connection, venue: str, as_of: datetime, part: Part = EVERYTHING
) -> tuple[AccountsRecord, ...]:
    """Return the accounts that had a turn, by recipe, game, mode and subject, as known at the instant.

    Those of a bot's replicates are joined; only accounts of the part's recipe, bots and mode are read.

    Raises:
        ValueError, LookupError: If a row is malformed, as a ledger may be anybody's file.
    """
    named = _read_accounts(connection, venue, part)
    if not named:
        return ()
    ledger = _read_ledger(connection, venue, [each.id for each in named], as_of)
    groups = grouped(
        ((each.recipe, each.game, each.mode, each.subject_id), each)
        for each in named
        if ledger.of("turns", each.id).size and ledger.of("valuations", each.id).size
    )
    found = (_account_record_group(connection, group, of, ledger, as_of) for group, of in sorted(groups.items()))
    return tuple(join_accounts(each) for each in found)


@dataclass(frozen=True, slots=True)
class _Ledger:
    """Rows of all accounts, in the order of accounts; instants in microseconds."""

    turns: Columns
    valuations: Columns
    journal: Columns
    marks: Columns
    targets: Columns
    decisions: Columns
    answers: Columns
    pending: Mapping[int, int]
    groups: Mapping[int, tuple[int, str]]
    """Event row and name of the group of each market that excludes others, by market row."""
    known: Mapping[int, AccountAsOf]
    """With payouts and prices since the last slot."""

    def of(self, table: str, account: int) -> Columns:
        rows: Columns = getattr(self, table)
        first, last = np.searchsorted(rows["account_id"], [account, account + 1])
        return rows[first:last]


def _read_accounts(connection: Connection, venue: str, part: Part) -> Sequence[Row[Any]]:
    statement = (
        select(*accounts.c["id", "recipe", "game", "mode"], subjects.c.subject_id)
        .add_columns(accounts.c.bot, func.coalesce(bots.c.strategy, "").label("strategy"))
        .join(subjects, subjects.c.id == accounts.c.subject_row)
        .outerjoin(tasks, tasks.c.id == accounts.c.task_id)
        .outerjoin(bots, bots.c.id == tasks.c.bot_id)
        .where(
            subjects.c.venue == venue,
            # Cohorts are scored by stakes, not slots.
            subjects.c.kind != COHORT,
            *([] if part.recipe is None else [accounts.c.recipe == part.recipe]),
            *([] if part.mode is None else [accounts.c.mode == part.mode]),
            *([is_bot(accounts.c.bot, part.bots)] if part.bots else []),
        )
        .order_by(accounts.c.id)
    )
    return connection.execute(statement).all()


def _read_ledger(connection: Connection, venue: str, own: list[int], as_of: datetime) -> _Ledger:
    def select_known(table: Table, *columns: Any) -> Select[Any]:
        of_accounts = select(table.c.account_id, *columns).order_by(table.c.account_id)
        return of_accounts.where(table.c.account_id.in_(own), table.c.at <= as_of)

    turned = select_known(turns, *turns.c["slot_at", "at"]).order_by(turns.c.slot_at)
    is_fill = case((journal.c.kind.in_(("fill", "fee")), 1), else_=0).label("is_fill")
    of_booking = journal.c["number", "instrument_row", "decision_id", "shares", "cash_usd"]
    booked = select_known(journal, is_fill, *of_booking).order_by(journal.c.number)
    revised = select_known(valuations, valuations.c.at, func.max(valuations.c.revision).label("revision"))
    last = revised.group_by(*valuations.c["account_id", "at"]).subquery()
    is_last = and_(*(marks.c[name] == last.c[name] for name in ("account_id", "at", "revision")))
    is_quoted = case((marks.c.state == "quoted", 1), else_=0).label("is_quoted")
    # Only the join says which marks: asked for accounts and instants too, SQLite reads all marks for each valuation.
    marked = select(*marks.c["account_id", "at", "instrument_row", "price"], is_quoted).join(last, is_last)
    marked = marked.order_by(*marks.c["account_id", "at"])
    made = account_decisions(decisions.c.id).where(accounts.c.id.in_(own))
    weights = select(*orders.c["decision_id", "instrument_row", "amount"]).order_by(orders.c.decision_id)
    # Decisions of the system are no answers.
    answers = (
        decisions_by(as_of, accounts.c.id.label("account_id"), turns.c.slot_at, decisions.c.id.label("decision_id"))
        .where(accounts.c.id.in_(own))
        .where(decisions.c.status == "recorded", func.coalesce(decisions.c.reason_kind, "") != "answer")
        .order_by(accounts.c.id, turns.c.slot_at)
    )
    pending = (
        decisions_by(as_of, accounts.c.id, func.count())
        .join(orders, orders.c.decision_id == decisions.c.id)
        .where(accounts.c.id.in_(own))
        # An order that ended later was pending then.
        .where(or_(orders.c.status == "pending", orders.c.ended_at > as_of))
        .group_by(accounts.c.id)
    )
    return _Ledger(
        turns=read_columns(connection, turned),
        valuations=_read_valuations(connection, own, as_of),
        journal=read_columns(connection, booked, nullable="instrument_row decision_id"),
        marks=read_columns(connection, marked),
        targets=read_columns(connection, weights.where(orders.c.decision_id.in_(made), orders.c.unit == "weight")),
        decisions=decisions_of_accounts(connection, venue, own, as_of),
        answers=read_columns(connection, answers),
        pending={row: number for row, number in connection.execute(pending)},
        groups=read_run_markets(connection, venue).groups,
        known=accounts_as_of(connection, own, as_of),
    )


def _read_valuations(connection: Connection, own: list[int], as_of: datetime) -> Columns:
    """Return one row a valuation: the value of its last revision, and the first one's place in the journal."""
    statement = (
        select(*valuations.c["account_id", "at", "journal_number", "value_usd"])
        .where(valuations.c.account_id.in_(own), valuations.c.at <= as_of)
        .order_by(*valuations.c["account_id", "at", "revision"])
    )
    found = read_columns(connection, statement)
    names = found[["account_id", "at"]]
    differs, end = names[1:] != names[:-1], np.ones(min(len(found), 1), np.bool_)
    last: Columns = found[np.concatenate([differs, end])]
    last["journal_number"] = found["journal_number"][np.concatenate([end, differs])]
    return last


def _index_targets(targets: Columns, rows: Ints) -> _Targets:
    """Return each decision's instruments, as indices, and weights; an instrument without holders is below zero."""
    asked = targets["instrument_row"].astype(np.int64)
    number = np.where(np.isin(asked, rows), np.searchsorted(rows, asked), -1 - asked)
    decision, first = np.unique(targets["decision_id"], return_index=True)
    ends = np.append(first, len(targets))[1:]
    return {
        int(row): (number[start:end], targets["amount"][start:end])
        for row, start, end in zip(decision.tolist(), first.tolist(), ends.tolist(), strict=True)
    }


def _account_record_group(
    connection: Connection, group: _Group, named: Sequence[Row[Any]], ledger: _Ledger, as_of: datetime
) -> AccountsRecord:
    own = {each.id: ledger.of("turns", each.id) for each in named}
    slots, place = np.unique(np.concatenate([rows["slot_at"] for rows in own.values()]), return_inverse=True)
    # A slot has the instant of its last turn, so that no holding has a later price.
    at = np.zeros(slots.size)
    np.maximum.at(at, place, np.concatenate([rows["at"] for rows in own.values()]))
    held = np.concatenate([ledger.of("journal", each.id)["instrument_row"] for each in named])
    rows = np.unique(held[~np.isnan(held)]).astype(np.int64)
    numbered = _index_targets(ledger.targets, rows)
    traded = read_instruments(connection, rows)
    prices, settled = _prices(connection, traded, at, ledger, own, slots, as_of)
    found = tuple(_account_record(each, ledger, slots, rows, numbered) for each in named)
    instants = tuple(from_microseconds(int(slot)) for slot in slots)
    if not traded.are_shares:
        numbers = market_numbers(connection, ledger.groups, traded)
        return AccountsRecord(*group, instants, traded.names, traded.outcome, prices, found, *numbers, settled=settled)
    # Shares are counted as before all splits, so that holdings of one slot can be priced at another.
    factors = _split_factors(connection, list(own), rows, at, as_of)
    found = tuple(
        replace(
            each,
            shares=each.shares / factors[each.slot][:, each.held],
            shares_before=each.shares_before / factors[each.slot][:, each.held],
        )
        for each in found
    )
    sectors = _sectors(connection, group[0], traded.market)
    return AccountsRecord(*group, instants, traded.names, traded.outcome, prices * factors, found, sectors=sectors)


def _split_factors(connection: Connection, own: list[int], rows: Ints, at: Floats, as_of: datetime) -> Floats:
    """Return the cumulative split factor at each slot, (slots, instruments), from journals."""
    statement = (
        select(*journal.c["account_id", "instrument_row", "kind", "at", "shares"])
        .where(journal.c.account_id.in_(own), journal.c.at <= as_of, journal.c.shares != 0.0)
        .order_by(journal.c.account_id, journal.c.number)
    )
    held: defaultdict[tuple[int, int], float] = defaultdict(float)
    ratios: dict[tuple[int, datetime], float] = {}
    for account, instrument, kind, split_at, shares in connection.execute(statement):
        if kind == "split" and held[account, instrument]:
            ratios[instrument, split_at] = 1.0 + shares / held[account, instrument]
        held[account, instrument] += shares
    factors = np.ones((at.size, rows.size))
    for (instrument, split_at), ratio in ratios.items():
        factors[at >= to_microseconds(split_at), np.searchsorted(rows, instrument)] *= ratio
    return factors


def _sectors(connection: Connection, recipe: str, market: Ints) -> tuple[str, ...]:
    """Return the sector of each share, as the last run froze it; empty where none is named."""
    statement = (
        select(markets.c.id, run_events.c.event_json)
        .join(markets, markets.c.event_row == run_events.c.event_row)
        .join(runs, runs.c.id == run_events.c.run_id)
        .where(markets.c.id.in_(np.unique(market).tolist()), runs.c.recipe == recipe, runs.c.voided_at.is_(None))
        .order_by(runs.c.as_of)
    )
    last = {row: text for row, text in connection.execute(statement)}
    tags = {row: event_from_json(text, "").tags for row, text in last.items()}
    return tuple(tags[row][0].label if tags.get(row) else "" for row in market.tolist())


def _account_record(
    named: Row[Any], ledger: _Ledger, slots: Floats, instruments: Ints, asked: _Targets
) -> AccountRecord:
    """Return an account at each of its turns, before and after the fills there.

    A slot's valuation says how far the journal was before them. The fills that follow are of this slot, until
    something else is booked. Sums are made row by row, as in the account itself: a position sold whole leaves nothing.
    """
    turned, valued, rows = (ledger.of(table, named.id) for table in ("turns", "valuations", "journal"))
    place = _valuation_index(ledger, named.id)
    number, is_fill, instrument = rows["number"], rows["is_fill"] == 1.0, rows["instrument_row"]
    begin = valued["journal_number"][place]
    others = np.append(number[~is_fill], np.inf)
    # Fills behind the next slot's valuation belong to that slot.
    end = np.minimum(others[np.searchsorted(others, begin, side="right")], np.append(begin[1:], np.inf) + 1.0) - 1.0
    known = np.unique(instrument[~np.isnan(instrument)])
    before, after = np.zeros((len(begin), known.size)), np.zeros((len(begin), known.size))
    order = np.argsort(instrument, kind="stable")
    first = np.searchsorted(instrument[order], known, side="left")
    last = np.searchsorted(instrument[order], known, side="right")
    for column, (start, stop) in enumerate(zip(first, last, strict=True)):
        own = order[start:stop]
        before[:, column], after[:, column] = _running_sums(number[own], rows["shares"][own], begin, end)
    cash_before, cash_after = _running_sums(number, rows["cash_usd"], begin, end)
    slot = np.searchsorted(begin, number, side="left") - 1
    of_decision = is_fill & ~np.isnan(rows["decision_id"]) & (slot >= 0)
    filled = dict(zip(slot[of_decision].tolist(), rows["decision_id"][of_decision].tolist(), strict=True))
    decided, marked, answers = (ledger.of(table, named.id) for table in ("decisions", "marks", "answers"))
    answered = np.searchsorted(turned["slot_at"], answers["slot_at"]).tolist()
    now = ledger.known[named.id]
    return AccountRecord(
        bot=named.bot,
        strategy=named.strategy,
        slot=np.searchsorted(slots, turned["slot_at"]).astype(np.int64),
        value_usd=valued["value_usd"][place],
        held=np.searchsorted(instruments, known).astype(np.int64),
        shares_before=before,
        cash_before_usd=cash_before,
        shares=after,
        cash_usd=cash_after,
        targets={row: asked[decision] for row, decision in filled.items() if decision in asked},
        answers=dict(zip(answered, map(asked.get, answers["decision_id"].tolist()), strict=True)),
        decisions=count_statuses(decided["status"]),
        last_usd=now.account.cash_usd if now.value_usd is None else now.value_usd,
        last_cash_usd=now.account.cash_usd,
        pending=ledger.pending.get(named.id, 0),
        unpriced_marks=int((marked["is_quoted"] == 0.0).sum()),
        missed=int(slots.size - np.searchsorted(slots, turned["slot_at"][0])) - len(turned),
        cost_usd=sum_costs(decided["cost_usd"]),
        cost_known_usd=float(decided["cost_known_usd"].sum()),
        knowledge=KNOWLEDGE[int(decided["knowledge"].max(initial=0))],
    )


def _running_sums(number: Floats, amounts: Floats, *ends: Floats) -> tuple[Floats, ...]:
    sums = np.concatenate([[0.0], np.cumsum(amounts)])
    return tuple(sums[np.searchsorted(number, end, side="right")] for end in ends)


def _valuation_index(ledger: _Ledger, account: int) -> Ints:
    """Return the index of each turn's valuation: the last that is not later, as its instant is floored."""
    at, valued_at = (ledger.of(table, account)["at"] for table in ("turns", "valuations"))
    return np.maximum(np.searchsorted(valued_at, at, side="right") - 1, 0)


def _prices(
    connection: Connection,
    traded: TradedInstruments,
    at: Floats,
    ledger: _Ledger,
    own: Mapping[int, Columns],
    slots: Floats,
    as_of: datetime,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the price of each instrument at each slot, and whether it is its payout.

    A payout goes before a mark, and a mark before an observed price.
    """
    prices = observed_prices(connection, traded, at, as_of)
    sides = list(zip(traded.market.tolist(), traded.outcome.tolist(), strict=True))
    place = {each: number for number, each in enumerate(sides)}
    other = np.array([place.get((each, -side), -1) if side else -1 for each, side in sides], dtype=np.int64)
    seen = []
    for account, turned in own.items():
        marked = ledger.of("marks", account)
        valued_at = ledger.of("valuations", account)["at"][_valuation_index(ledger, account)]
        marked = marked[(marked["is_quoted"] == 1.0) & np.isin(marked["at"], valued_at)]
        turn = np.searchsorted(valued_at, marked["at"])
        slot = np.searchsorted(slots, turned["slot_at"][turn])
        seen.append((slot, np.searchsorted(traded.rows, marked["instrument_row"]), marked["price"]))
    # A quote of one side also prices the other, whose last observation is older.
    for slot, column, price in seen:
        both = other[column] >= 0
        prices[slot[both], other[column[both]]] = 1.0 - price[both]
    for slot, column, price in seen:
        prices[slot, column] = price
    return add_payouts(connection, prices, traded, at, as_of)
