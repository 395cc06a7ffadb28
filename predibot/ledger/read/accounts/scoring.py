"""What scoring reads of accounts: values and holdings slot by slot as plain arrays, straight from the cursor."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, and_, case, func, literal, or_, select

from predibot.domain.account import JournalRow
from predibot.domain.decision import STATUSES
from predibot.domain.price import EQUITY, Instrument
from predibot.games.cohorts import COHORT
from predibot.ledger.read.accounts.as_of import AccountAsOf, accounts_as_of
from predibot.ledger.read.columns import Columns, columns
from predibot.ledger.read.event_facts import asked_markets
from predibot.ledger.read.model_knowledge import Deciders, knowledge_of_decisions, run_is_live
from predibot.ledger.schema.column_types import from_microseconds, to_microseconds
from predibot.ledger.schema.packed_points import unpacked_points
from predibot.ledger.schema.tables import TurnRow
from predibot.ledger.schema.upsert import table_of
from predibot.ledger.schema.values import event_from_json
from predibot.ledger.write.accounts import accounts, journal, marks, valuations
from predibot.ledger.write.claims import subjects, tasks
from predibot.ledger.write.decisions import OPENED_MODEL, bots, decisions, orders
from predibot.ledger.write.events import instruments, markets, run_events
from predibot.ledger.write.prices_and_resolutions import price_paths, resolutions
from predibot.ledger.write.runs import runs
from predibot.scoring.accounts.implied import implied
from predibot.scoring.accounts.record import AccountRecord, AccountsRecord
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.price_lookup import MAX_GAP_SECONDS, as_of_prices
from predibot.scoring.records.knowledge import KNOWLEDGE
from predibot.scoring.records.part import EVERYTHING, Part

turns = table_of(TurnRow)

_MICROSECONDS = 1e6
_LONGEST = timedelta(days=730)
"""Prices are looked at every day for so long after something was last booked."""

HELD_BY_SYSTEM = len(STATUSES)
"""Stands for the status of a decision that the system made, because no answer of the bot could be taken."""


_Name = TypeVar("_Name")
_Group = tuple[str, str, str, str]
"""Recipe, game, mode and subject: what may be compared."""
_Targets = Mapping[int, tuple[Ints, Floats]]
"""Instruments and weights, by decision."""


def account_records(
    connection: Connection,
    venue: str,
    as_of: datetime,
    part: Part = EVERYTHING,
) -> tuple[AccountsRecord, ...]:
    """Return the accounts that had a turn, by recipe, game, mode and subject, as they were known at the instant.

    Args:
        connection: A reading transaction.
        venue: Whose subjects, as runs name it.
        as_of: Nothing that was booked, valued, observed or settled later is read.
        part: Only accounts of its recipe, bots and mode.

    Raises:
        LedgerUnusable: If prices are not as predibot writes them.
        ValueError, LookupError: If something else is not: a ledger may be anybody's file.
    """
    named = _named(connection, venue, part)
    if not named:
        return ()
    own = [each.id for each in named]
    ledger = _Ledger(
        turns=_turns(connection, own, as_of),
        valuations=_valuations(connection, own, as_of),
        journal=_journal(connection, own, as_of),
        marks=_marks(connection, own, as_of),
        targets=_targets(connection, own),
        decisions=decisions_of_accounts(connection, venue, own, as_of),
        pending=_pending(connection, own, as_of),
        groups=asked_markets(connection, venue).groups,
        known=accounts_as_of(connection, own, as_of),
    )
    groups: defaultdict[_Group, list[Row[Any]]] = defaultdict(list)
    for each in named:
        if ledger.of("turns", each.id).size and ledger.of("valuations", each.id).size:
            groups[each.recipe, each.game, each.mode, each.subject_id].append(each)
    return tuple(_record(connection, group, of, ledger, as_of) for group, of in sorted(groups.items()))


@dataclass(frozen=True, slots=True)
class _Ledger:
    """Rows of all accounts, in the order of accounts; instants in microseconds."""

    turns: Columns
    valuations: Columns
    journal: Columns
    marks: Columns
    targets: Columns
    """The weights asked for, in the order of decisions."""
    decisions: Columns
    pending: Mapping[int, int]
    groups: Mapping[int, tuple[int, str]]
    """The row of the event, and the group, of each market of which the venue says that it excludes others."""
    known: Mapping[int, AccountAsOf]
    """With what was paid and seen since the last slot."""

    def of(self, table: str, account: int) -> Columns:
        """Return the rows of an account."""
        rows: Columns = getattr(self, table)
        first, last = np.searchsorted(rows["account_id"], [account, account + 1])
        return rows[first:last]


def _named(connection: Connection, venue: str, part: Part) -> Sequence[Row[Any]]:
    """Return accounts and what they are called."""
    statement = (
        select(accounts.c.id, accounts.c.recipe, accounts.c.game, accounts.c.mode, subjects.c.subject_id)
        .add_columns(accounts.c.bot, func.coalesce(bots.c.strategy, "").label("strategy"))
        .join(subjects, subjects.c.id == accounts.c.subject_row)
        .outerjoin(tasks, tasks.c.id == accounts.c.task_id)
        .outerjoin(bots, bots.c.id == tasks.c.bot_id)
        .where(
            subjects.c.venue == venue,
            # Of cohorts the stakes are scored, not the slots.
            subjects.c.kind != COHORT,
            *([] if part.recipe is None else [accounts.c.recipe == part.recipe]),
            *([] if part.mode is None else [accounts.c.mode == part.mode]),
            *([accounts.c.bot.in_(part.bots)] if part.bots else []),
        )
        .order_by(accounts.c.id)
    )
    return connection.execute(statement).all()


def _turns(connection: Connection, own: list[int], as_of: datetime) -> Columns:
    statement = (
        select(turns.c.account_id, turns.c.slot_at, turns.c.at)
        .where(turns.c.account_id.in_(own), turns.c.at <= as_of)
        .order_by(turns.c.account_id, turns.c.slot_at)
    )
    return columns(connection, statement)


def _valuations(connection: Connection, own: list[int], as_of: datetime) -> Columns:
    """Return one row a valuation: its value is the last revision's, its place in the journal the first one's."""
    statement = (
        select(valuations.c.account_id, valuations.c.at, valuations.c.journal_number, valuations.c.value_usd)
        .where(valuations.c.account_id.in_(own), valuations.c.at <= as_of)
        .order_by(valuations.c.account_id, valuations.c.at, valuations.c.revision)
    )
    found = columns(connection, statement)
    names = found[["account_id", "at"]]
    differs, end = names[1:] != names[:-1], np.ones(min(len(found), 1), np.bool_)
    last: Columns = found[np.concatenate([differs, end])]
    last["journal_number"] = found["journal_number"][np.concatenate([end, differs])]
    return last


def _journal(connection: Connection, own: list[int], as_of: datetime) -> Columns:
    is_fill = case((journal.c.kind.in_(("fill", "fee")), 1), else_=0).label("is_fill")
    statement = (
        select(journal.c.account_id, journal.c.number, is_fill, journal.c.instrument_row, journal.c.decision_id)
        .add_columns(journal.c.shares, journal.c.cash_usd)
        .where(journal.c.account_id.in_(own), journal.c.at <= as_of)
        .order_by(journal.c.account_id, journal.c.number)
    )
    return columns(connection, statement, nullable="instrument_row decision_id")


def _marks(connection: Connection, own: list[int], as_of: datetime) -> Columns:
    """Return the marks of each valuation's last revision."""
    last = (
        select(valuations.c.account_id, valuations.c.at, func.max(valuations.c.revision).label("revision"))
        .where(valuations.c.account_id.in_(own), valuations.c.at <= as_of)
        .group_by(valuations.c.account_id, valuations.c.at)
        .subquery()
    )
    same = and_(*(marks.c[name] == last.c[name] for name in ("account_id", "at", "revision")))
    is_quoted = case((marks.c.state == "quoted", 1), else_=0).label("is_quoted")
    statement = (
        select(marks.c.account_id, marks.c.at, marks.c.instrument_row, marks.c.price, is_quoted)
        .join(last, same)
        .order_by(marks.c.account_id, marks.c.at)
    )
    return columns(connection, statement)


def _targets(connection: Connection, own: list[int]) -> Columns:
    """Return the weights that decisions asked for of which something was filled."""
    filled = select(journal.c.decision_id).where(journal.c.account_id.in_(own), journal.c.kind == "fill").distinct()
    statement = (
        select(orders.c.decision_id, orders.c.instrument_row, orders.c.amount)
        .where(orders.c.decision_id.in_(filled), orders.c.unit == "weight")
        .order_by(orders.c.decision_id)
    )
    return columns(connection, statement)


def _numbered(targets: Columns, rows: Ints) -> _Targets:
    """Return instruments and weights by decision; what nobody holds has a number of its own, below zero."""
    asked = targets["instrument_row"].astype(np.int64)
    number = np.where(np.isin(asked, rows), np.searchsorted(rows, asked), -1 - asked)
    decision, first = np.unique(targets["decision_id"], return_index=True)
    ends = np.append(first, len(targets))[1:]
    return {
        int(row): (number[start:end], targets["amount"][start:end])
        for row, start, end in zip(decision.tolist(), first.tolist(), ends.tolist(), strict=True)
    }


def decisions_of_accounts(connection: Connection, venue: str, own: Sequence[int], as_of: datetime) -> Columns:
    """Return the decisions of accounts, in the order of accounts and then as they were made.

    `status` is an index into `STATUSES`, or `HELD_BY_SYSTEM`; `knowledge`, what the models behind it can have known, is
    one into `KNOWLEDGE`. What the models of all bots know is asked for, because one may pool another.
    """
    status = case(
        # No answer could be taken, and something is recorded all the same: the system held.
        (and_(decisions.c.reason_kind == "answer", decisions.c.status == "recorded"), HELD_BY_SYSTEM),
        *((decisions.c.status == name, number) for number, name in enumerate(STATUSES)),
    )
    statement = (
        select(accounts.c.id.label("account_id"), status.label("status"), decisions.c.cost_usd)
        .add_columns(decisions.c.cost_known_usd, decisions.c.bot_id, decisions.c.subject_row, decisions.c.decided_at)
        .add_columns(OPENED_MODEL.label("opened"), run_is_live(connection).label("live"), literal(0).label("knowledge"))
        .select_from(decided_accounts().join(subjects, subjects.c.id == accounts.c.subject_row))
        .where(subjects.c.venue == venue, decisions.c.decided_at <= as_of, runs.c.voided_at.is_(None))
        .order_by(accounts.c.id, decisions.c.decided_at)
    )
    found = columns(connection, statement, nullable="cost_usd")
    made = Deciders(
        bot_row=found["bot_id"].astype(np.int64),
        event=found["subject_row"].astype(np.int64),
        opened_model=found["opened"] == 1.0,
        is_live=found["live"] == 1.0,
        decided_at=found["decided_at"] / _MICROSECONDS,
        # A portfolio goes on.
        event_settled_at=np.full(len(found), np.inf),
    )
    if len(found):
        found["knowledge"] = knowledge_of_decisions(connection, made)
    return found[np.isin(found["account_id"], own)]


def counted_statuses(status: Floats) -> Mapping[str, int]:
    """Return how many decisions ended with each status of `decisions_of_accounts`; what the system held has failed."""
    counts = np.bincount(status.astype(np.int64), minlength=HELD_BY_SYSTEM + 1).tolist()
    found = dict(zip(STATUSES, counts, strict=False))
    return {**found, "failed": found["failed"] + counts[HELD_BY_SYSTEM]}


def known_sum(costs_usd: Floats) -> float | None:
    """Return what decisions cost together; None where a part of one is not known."""
    return None if np.isnan(costs_usd).any() else float(costs_usd.sum())


def _pending(connection: Connection, own: list[int], as_of: datetime) -> Mapping[int, int]:
    statement = (
        select(accounts.c.id, func.count())
        .select_from(decided_accounts().join(orders, orders.c.decision_id == decisions.c.id))
        .where(accounts.c.id.in_(own), decisions.c.decided_at <= as_of, runs.c.voided_at.is_(None))
        # What ended later was pending then.
        .where(or_(orders.c.status == "pending", orders.c.ended_at > as_of))
        .group_by(accounts.c.id)
    )
    return {row: number for row, number in connection.execute(statement)}


def decided_accounts() -> Any:
    """Return accounts with their decisions: what their bot decided on their subject in the runs they had turns in."""
    return (
        accounts.join(turns, turns.c.account_id == accounts.c.id)
        .join(runs, runs.c.id == turns.c.run_id)
        .join(bots, and_(bots.c.run_id == runs.c.id, bots.c.name == accounts.c.bot))
        .join(
            decisions,
            and_(
                decisions.c.run_id == runs.c.id,
                decisions.c.bot_id == bots.c.id,
                decisions.c.subject_row == accounts.c.subject_row,
            ),
        )
    )


def _record(
    connection: Connection,
    group: _Group,
    named: Sequence[Row[Any]],
    ledger: _Ledger,
    as_of: datetime,
) -> AccountsRecord:
    own = {each.id: ledger.of("turns", each.id) for each in named}
    slots, place = np.unique(np.concatenate([rows["slot_at"] for rows in own.values()]), return_inverse=True)
    # Of several bots the last comes to a slot last: nobody held anything at a price of later.
    at = np.zeros(slots.size)
    np.maximum.at(at, place, np.concatenate([rows["at"] for rows in own.values()]))
    folded = {each.id: _folded(ledger, each.id) for each in named}
    rows = np.unique(np.concatenate([found.instruments for found in folded.values()]))
    numbered = _numbered(ledger.targets, rows)
    names, outcome, market, is_share = _instruments(connection, rows)
    prices, settled = _prices(connection, rows, market, outcome, at, ledger, own, slots, as_of)
    found = tuple(_account(each, ledger, folded[each.id], slots, rows, numbered) for each in named)
    recipe, game, mode, subject = group
    instants = tuple(from_microseconds(int(slot)) for slot in slots)
    if not is_share:
        behind = _behind(connection, ledger.groups, market, outcome)
        return AccountsRecord(
            recipe, game, mode, subject, instants, names, outcome, prices, found, *behind, settled=settled
        )
    # In shares of before all splits, so that holdings of one slot can be priced at another.
    factors = _split_factors(connection, list(own), rows, at, as_of)
    found = tuple(
        replace(
            each,
            shares=each.shares / factors[each.slot][:, each.held],
            shares_before=each.shares_before / factors[each.slot][:, each.held],
        )
        for each in found
    )
    sectors = _sectors(connection, recipe, market)
    return AccountsRecord(
        recipe, game, mode, subject, instants, names, outcome, prices * factors, found, sectors=sectors
    )


def _split_factors(connection: Connection, own: list[int], rows: Ints, at: Floats, as_of: datetime) -> Floats:
    """Return into how many shares one had been split by each slot, (slots, instruments), as journals say it."""
    statement = (
        select(journal.c.account_id, journal.c.instrument_row, journal.c.kind, journal.c.at, journal.c.shares)
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


@dataclass(frozen=True, slots=True)
class _Folded:
    """What a journal comes to at each slot."""

    instruments: Ints
    shares_before: Floats
    cash_before_usd: Floats
    shares: Floats
    cash_usd: Floats
    value_usd: Floats
    filled: Mapping[int, int]
    """The decision whose orders were filled at a slot, by its place."""


def _folded(ledger: _Ledger, account: int) -> _Folded:
    """Return the fold of an account's journal at each of its turns, before and after the fills there.

    The valuation of a slot says how far the journal was before them; the fills that follow it are of this slot, until
    something else is booked. Sums are made row by row, as in the account itself: what is sold whole leaves nothing.
    """
    valued, place = ledger.of("valuations", account), _valued(ledger, account)
    rows = ledger.of("journal", account)
    number, is_fill, instrument = rows["number"], rows["is_fill"] == 1.0, rows["instrument_row"]
    begin = valued["journal_number"][place]
    others = np.append(number[~is_fill], np.inf)
    # Before the next slot is valued, too: where nothing else was booked its own fills are not of this one.
    end = np.minimum(others[np.searchsorted(others, begin, side="right")], np.append(begin[1:], np.inf) + 1.0) - 1.0
    known = np.unique(instrument[~np.isnan(instrument)])
    before, after = np.zeros((len(begin), known.size)), np.zeros((len(begin), known.size))
    order = np.argsort(instrument, kind="stable")
    first = np.searchsorted(instrument[order], known, side="left")
    last = np.searchsorted(instrument[order], known, side="right")
    for column, (start, stop) in enumerate(zip(first, last, strict=True)):
        own = order[start:stop]
        before[:, column], after[:, column] = _running(number[own], rows["shares"][own], begin, end)
    cash_before, cash_after = _running(number, rows["cash_usd"], begin, end)
    slot = np.searchsorted(begin, number, side="left") - 1
    of_decision = is_fill & ~np.isnan(rows["decision_id"]) & (slot >= 0)
    filled = dict(
        zip(slot[of_decision].tolist(), rows["decision_id"][of_decision].astype(np.int64).tolist(), strict=True)
    )
    return _Folded(known.astype(np.int64), before, cash_before, after, cash_after, valued["value_usd"][place], filled)


def _running(number: Floats, amounts: Floats, *ends: Floats) -> tuple[Floats, ...]:
    """Return what rows of a journal come to, in their order, up to each of some numbers."""
    sums = np.concatenate([[0.0], np.cumsum(amounts)])
    return tuple(sums[np.searchsorted(number, end, side="right")] for end in ends)


def _valued(ledger: _Ledger, account: int) -> Ints:
    """Return which valuation is that of each turn: the last that is not later, its instant being floored."""
    at, valued_at = (ledger.of(table, account)["at"] for table in ("turns", "valuations"))
    return np.maximum(np.searchsorted(valued_at, at, side="right") - 1, 0)


def _account(
    named: Row[Any], ledger: _Ledger, folded: _Folded, slots: Floats, rows: Ints, asked: _Targets
) -> AccountRecord:
    turned = ledger.of("turns", named.id)
    slot = np.searchsorted(slots, turned["slot_at"]).astype(np.int64)
    decided = ledger.of("decisions", named.id)
    last, marked = ledger.known[named.id], ledger.of("marks", named.id)
    targets = {row: asked[decision] for row, decision in folded.filled.items() if decision in asked}
    return AccountRecord(
        bot=named.bot,
        strategy=named.strategy,
        slot=slot,
        value_usd=folded.value_usd,
        held=np.searchsorted(rows, folded.instruments).astype(np.int64),
        shares_before=folded.shares_before,
        cash_before_usd=folded.cash_before_usd,
        shares=folded.shares,
        cash_usd=folded.cash_usd,
        targets=targets,
        decisions=counted_statuses(decided["status"]),
        last_usd=last.account.cash_usd if last.value_usd is None else last.value_usd,
        last_cash_usd=last.account.cash_usd,
        pending=ledger.pending.get(named.id, 0),
        unpriced_marks=int((marked["is_quoted"] == 0.0).sum()),
        missed=int(slots.size - np.searchsorted(slots, turned["slot_at"][0])) - len(turned),
        cost_usd=known_sum(decided["cost_usd"]),
        cost_known_usd=float(decided["cost_known_usd"].sum()),
        knowledge=KNOWLEDGE[int(decided["knowledge"].max(initial=0))],
    )


def _instruments(connection: Connection, rows: Ints) -> tuple[tuple[str, ...], Ints, Ints, bool]:
    """Return id, outcome and market row of each instrument, -1 for what has no market, and whether they are shares."""
    named = (instruments.c.instrument_id, instruments.c.side, instruments.c.market_row, instruments.c.kind)
    statement = select(instruments.c.id, *named)
    found = {row: each for row, *each in connection.execute(statement.where(instruments.c.id.in_(rows.tolist())))}
    listed = [found[row] for row in rows.tolist()]
    outcome = np.array([{"YES": 1, "NO": -1}.get(side or "", 0) for _, side, *_ in listed], dtype=np.int64)
    market = np.array([-1 if row is None else row for *_, row, _ in listed], dtype=np.int64)
    return tuple(name for name, *_ in listed), outcome, market, any(kind == EQUITY for *_, kind in listed)


def implied_by_prices(
    connection: Connection,
    venue: str,
    journals: Mapping[_Name, Sequence[tuple[Sequence[JournalRow], float]]],
    as_of: datetime,
) -> Mapping[_Name, float]:
    """Return how far what some bots made may come out otherwise by the prices of what they held, by name.

    Args:
        connection: A reading transaction.
        venue: Whose markets they hold.
        journals: Of each bot those of its accounts, each with what a dollar of it counts for.
        as_of: Nothing later is read.
    """
    rows = [
        row for of in journals.values() for own, _ in of for row in own if row.instrument is not None and row.shares
    ]
    if not rows:
        return dict.fromkeys(journals, 0.0)
    held = {row.instrument for row in rows}
    named = (instruments.c.id, instruments.c.venue, instruments.c.kind, instruments.c.instrument_id)
    statement = select(*named).where(instruments.c.venue == venue)
    row_of = {name: row for row, *of in connection.execute(statement) if (name := Instrument(*of)) in held}
    ids = np.array(sorted(row_of.values()), dtype=np.int64)
    column = {name: int(np.searchsorted(ids, row)) for name, row in row_of.items()}
    at = _instants([row.at for row in rows], as_of)
    place = {instant: number for number, instant in enumerate(at)}
    micro = np.array([to_microseconds(instant) for instant in at], dtype=np.float64)
    names, outcome, market, _ = _instruments(connection, ids)
    prices, settled = _paid(
        connection, _observed(connection, market, outcome, micro, as_of), market, outcome, micro, as_of
    )
    for row in rows:
        if row.kind == "fill" and row.instrument in column and np.isnan(prices[place[row.at], column[row.instrument]]):
            prices[place[row.at], column[row.instrument]] = abs(row.cash_usd / row.shares)
    behind = _behind(connection, asked_markets(connection, venue).groups, market, outcome)
    record = AccountsRecord("", "", "", "", at, names, outcome, prices, (), *behind, settled=settled)
    found = {}
    for bot, of in journals.items():
        added = np.zeros(prices.shape)
        for own, part in of:
            for row in own:
                if row.instrument in column and row.shares:
                    added[place[row.at], column[row.instrument]] += row.shares * part
        shares = np.cumsum(added, axis=0)
        # As one account that is worth a dollar throughout.
        cash = 1.0 - (shares * np.nan_to_num(record.known_prices)).sum(axis=1)
        every, nothing = np.arange(len(at)), np.zeros(len(at))
        as_one = AccountRecord("", "", every, nothing, np.arange(ids.size), shares, cash, shares, cash)
        found[bot] = implied(record, as_one).deviation
    return found


def _instants(booked: Sequence[datetime], as_of: datetime) -> tuple[datetime, ...]:
    """Return when something was booked, and every midnight from the first one on."""
    first, days = min(booked), set(booked)
    at = first.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    while at <= min(as_of, max(booked) + _LONGEST):
        days.add(at)
        at += timedelta(days=1)
    return tuple(sorted({*days, *([as_of] if as_of > max(booked) else [])}))


def _behind(
    connection: Connection, groups: Mapping[int, tuple[int, str]], market: Ints, outcome: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return the numbers of the market, the event and the group of exclusive ones of each instrument, (i,) each.

    An outcome that is none of two sides has a number of its own for a market, and those of its market exclude each
    other.
    """
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


def _prices(
    connection: Connection,
    rows: Ints,
    market: Ints,
    outcome: Ints,
    at: Floats,
    ledger: _Ledger,
    own: Mapping[int, Columns],
    slots: Floats,
    as_of: datetime,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the price of each instrument at each slot: its payout, else its mark, else what was observed.

    And whether it is its payout.
    """
    prices = _observed(connection, market, outcome, at, as_of)
    sides = list(zip(market.tolist(), outcome.tolist(), strict=True))
    place = {each: number for number, each in enumerate(sides)}
    other = np.array([place.get((each, -side), -1) if side else -1 for each, side in sides], dtype=np.int64)
    seen = []
    for account, turned in own.items():
        marked = ledger.of("marks", account)
        valued_at = ledger.of("valuations", account)["at"][_valued(ledger, account)]
        marked = marked[(marked["is_quoted"] == 1.0) & np.isin(marked["at"], valued_at)]
        turn = np.searchsorted(valued_at, marked["at"])
        slot = np.searchsorted(slots, turned["slot_at"][turn])
        seen.append((slot, np.searchsorted(rows, marked["instrument_row"]), marked["price"]))
    # A quote of one side is one of the other, which was last observed before it.
    for slot, column, price in seen:
        both = other[column] >= 0
        prices[slot[both], other[column[both]]] = 1.0 - price[both]
    for slot, column, price in seen:
        prices[slot, column] = price
    return _paid(connection, prices, market, outcome, at, as_of)


def _observed(connection: Connection, market: Ints, outcome: Ints, at: Floats, as_of: datetime) -> Floats:
    prices = np.full((at.size, market.size), np.nan)
    listed = np.unique(market[market >= 0])
    statement = (
        select(instruments.c.market_row, price_paths.c.points)
        .join(instruments, instruments.c.id == price_paths.c.instrument_row)
        .where(instruments.c.side == "YES", instruments.c.market_row.in_(listed.tolist()))
        .order_by(price_paths.c.instrument_row)
    )
    paths = connection.execute(statement).all()
    points, sizes = unpacked_points([path.points for path in paths])
    known = points["at"] <= to_microseconds(as_of)
    of_market = np.repeat(np.array([path.market_row for path in paths], dtype=np.int64), sizes)[known]
    asked = np.flatnonzero(market >= 0)
    yes = as_of_prices(
        of_market,
        points["at"][known] / _MICROSECONDS,
        points["price"][known].astype(np.float64),
        np.tile(market[asked], at.size),
        np.repeat(at / _MICROSECONDS, asked.size),
        max_gap_seconds=MAX_GAP_SECONDS,
    ).reshape(at.size, asked.size)
    prices[:, asked] = np.where(outcome[asked] < 0, 1.0 - yes, yes)
    return prices


def _paid(
    connection: Connection, prices: Floats, market: Ints, outcome: Ints, at: Floats, as_of: datetime
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return prices with the payout from each slot on at which a revision was effective; later ones take its place.

    And where they are payouts.
    """
    settled = np.zeros(prices.shape, np.bool_)
    listed = np.unique(market[market >= 0]).tolist()
    statement = (
        select(resolutions.c.market_row, resolutions.c.effective_at, resolutions.c.payout_yes)
        .where(resolutions.c.market_row.in_(listed), resolutions.c.effective_at <= as_of)
        .order_by(resolutions.c.effective_at, resolutions.c.revision)
    )
    numbers: defaultdict[int, list[int]] = defaultdict(list)
    for number, row in enumerate(market.tolist()):
        numbers[row].append(number)
    for row, effective_at, payout in columns(connection, statement, nullable="payout_yes").tolist():
        for number in numbers[int(row)]:
            # Where the cost is given back, nothing was paid that a share is worth.
            prices[at >= effective_at, number] = 1.0 - payout if outcome[number] < 0 else payout
            settled[at >= effective_at, number] = True
    return prices, settled
