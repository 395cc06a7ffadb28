"""Runs, decisions and forecasts as objects, with the names of the export's columns."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Row, Select, Table, case, func, or_, select

from predibot.domain.decision import STATUSES, ReasonKind, Status
from predibot.domain.price import EQUITY, highest_price
from predibot.ledger.read.columns import read_columns
from predibot.ledger.read.export import decision_columns
from predibot.ledger.read.model_knowledge import knowledge_of_decisions, run_is_live
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.schema.column_types import bind_list, from_microseconds
from predibot.ledger.schema.natural_keys import VOID
from predibot.ledger.schema.packed_points import unpack_points
from predibot.ledger.write.claims import subjects, tasks
from predibot.ledger.write.decisions import OPENED_MODEL, bets_of, bots, decisions, forecasts, of_same_market
from predibot.ledger.write.events import events, instruments, markets, run_events
from predibot.ledger.write.prices_and_resolutions import price_paths, resolutions
from predibot.ledger.write.runs import NEWEST_FIRST, is_late, runs, with_decisions
from predibot.scoring.records.knowledge import KNOWLEDGE, Knowledge


@dataclass(frozen=True, slots=True)
class LedgerRun:
    """A run: one pass of a recipe."""

    run: str
    void: int
    """0 for a run that counts; else the ordinal among void runs with its key."""
    recipe: str
    slot_at: datetime
    as_of: datetime
    """The instant as of which it decided."""
    venue: str
    """As the user named it, such as `archive:<folder>`."""
    venue_name: str
    """The name of the venue itself, which instruments have."""
    game: str
    seed: int
    digest: str
    bots: int
    events: int
    recorded: int
    """Number of decisions with this status, as the next three."""
    refused: int
    failed: int
    abstained: int
    notes: tuple[str, ...]
    voided_at: datetime | None
    void_reason: str | None
    deadline_at: datetime | None
    """Later decisions are in no score; None for no deadline."""
    late: int
    number: int = 0
    """The run's number in this ledger; a copy of the ledger may number it differently."""


@dataclass(frozen=True, slots=True)
class LedgerDecision:
    """A bot's decision on one event, or why there is none."""

    run: str
    void: int
    bot: str
    subject_kind: str
    subject_id: str
    """For an event, its id at the venue."""
    title: str | None
    status: Status
    decided_at: datetime
    """When the answer was accepted, or the attempt ended."""
    message: str
    """Why it was refused, failed or abstained."""
    reason_kind: ReasonKind | None
    rationale: str
    notes: tuple[str, ...]
    unallocated_usd: float | None
    stated_unallocated_usd: float | None
    scale: float
    """Factor between asked and booked bets."""
    cost_usd: float | None
    """Cost of all its tries; None where a part is unknown."""
    cost_known_usd: float
    seconds: float
    models: tuple[str, ...] | None
    """Models opened for it; None where unknown."""
    trace_sha256: str | None
    failures: int
    next_try_at: datetime | None
    """A failed one is not tried again unasked before; None for at once."""
    strategy: str
    model: str | None
    knowledge_cutoff: date | None
    knowledge: Knowledge
    """What the models behind it can have known of the event's outcome."""
    recipe: str
    slot_at: datetime
    late: bool
    """Whether it was made after the run's deadline, and is in no score."""


@dataclass(frozen=True, slots=True)
class LedgerForecast:
    """A bot's forecast and bet on one market, and the market's payout."""

    run: str
    void: int
    bot: str
    subject_kind: str
    subject_id: str
    """For an event, its id at the venue."""
    market_id: str
    title: str
    question: str
    probability: float
    """The probability of YES, in [0, 1]."""
    confidence: float | None
    """0 to 10, if stated."""
    rationale: str
    question_sha256: str
    asked_usd: float | None
    """The bet the bot wanted: positive on YES, negative on NO; zero is a bet too."""
    booked_usd: float | None
    price_yes: float | None
    """p0, the booked price of YES, strictly between 0 and 1."""
    price_source: str | None
    decided_at: datetime
    settled_at: datetime | None
    """None without a payout, as the next one: while the market is open, and where stakes were given back."""
    payout_yes: float | None
    """Payout of a share of YES, in [0, 1]; neither 0 nor 1 for a void market."""
    knowledge: Knowledge
    """What the models behind the decision can have known of the event's outcome."""
    recipe: str
    slot_at: datetime
    late: bool
    """Whether it was made after the run's deadline, and is in no score."""
    refunded: bool
    """Whether the market was cancelled and stakes were given back: it has no payout, and is not open."""


def select_runs(connection: Connection) -> tuple[LedgerRun, ...]:
    """Return all runs, void ones too, oldest slot first."""

    def count(table: Table, *which: ColumnElement[bool]) -> Any:
        return select(func.count()).select_from(table).where(table.c.run_id == runs.c.id, *which).scalar_subquery()

    counts = {"bots": count(bots), "events": count(run_events), "late": count(decisions, is_late())}
    counts |= {status: count(decisions, decisions.c.status == status) for status in STATUSES}
    named = [runs.c[name] for name in LedgerRun.__slots__ if name in runs.c]
    statement = (
        select(
            runs.c.key.label("run"),
            runs.c.id.label("number"),
            VOID.label("void"),
            *named,
            runs.c.notes_json.label("notes"),
        )
        .add_columns(*(counted.label(name) for name, counted in counts.items()))
        .order_by(runs.c.slot_at, runs.c.id)
    )
    return tuple(
        LedgerRun(**{**row, "notes": tuple(json.loads(row["notes"]))})
        for row in connection.execute(statement).mappings()
    )


def select_decisions(connection: Connection, row_filter: RowFilter) -> tuple[LedgerDecision, ...]:
    """Return decisions by slot, bot and event."""
    return tuple(_numbered_decisions(connection, row_filter).values())


def select_with_forecasts(
    connection: Connection, row_filter: RowFilter
) -> tuple[tuple[LedgerDecision, ...], tuple[LedgerForecast, ...]]:
    """Return decisions and their forecasts, as `select_decisions` and `select_forecasts` do."""
    told = _numbered_decisions(connection, row_filter)
    knowledge = {row: each.knowledge for row, each in told.items()}
    return tuple(told.values()), _forecasts(connection, row_filter, knowledge)


def _numbered_decisions(connection: Connection, row_filter: RowFilter) -> Mapping[int, LedgerDecision]:
    knowledge = _knowledge(connection, row_filter)
    of_decision = decisions.c[(*_OF_DECISION, "notes_json", "models_json")]
    of_bot = bots.c["strategy", "model", "knowledge_cutoff"]
    statement = (
        _select_decisions(*of_decision, *tasks.c[_OF_TASK], events.c.title, *of_bot)
        .join(tasks, tasks.c.id == decisions.c.task_id)
        .outerjoin(events, events.c.id == subjects.c.event_row)
        .where(*row_filter.conditions(connection))
    )
    names = (*_KEY, *_OF_DECISION, *_OF_TASK, "title", "strategy", "model")
    values_of, rest_of = _by_name(statement, names, ("id", "late", "notes_json", "models_json", "knowledge_cutoff"))
    return {
        id: LedgerDecision(
            **dict(zip(names, values_of(row), strict=True)),
            notes=tuple(json.loads(notes)),
            models=None if models is None else tuple(json.loads(models)),
            knowledge_cutoff=None if cutoff is None else date.fromisoformat(cutoff),
            knowledge=knowledge[id],
            late=bool(late),
        )
        for row in connection.execute(statement)
        for id, late, notes, models, cutoff in [rest_of(row)]
    }


SORTED_BY: Mapping[str, Any] = {
    "slot": runs.c.slot_at,
    "bot": bots.c.name,
    "about": func.coalesce(events.c.title, subjects.c.subject_id),
    "status": decisions.c.status,
    "cost": decisions.c.cost_usd,
    "seconds": decisions.c.seconds,
}
"""Sort columns of a list of decisions."""


def sort_decisions(
    connection: Connection, row_filter: RowFilter, *, limit: int, skip: int = 0, by: str = "slot", rising: bool = False
) -> tuple[LedgerDecision, ...]:
    """Return a page of a sorted list of decisions; the arguments are those of `sort_rows`."""
    rows = sort_rows(connection, row_filter, limit=limit, skip=skip, by=by, rising=rising)
    return read_in_order(connection, row_filter, rows)


def sort_rows(
    connection: Connection, row_filter: RowFilter, *, limit: int, skip: int = 0, by: str = "slot", rising: bool = False
) -> Sequence[int]:
    """Return the row numbers of a page of a sorted list of decisions.

    Args:
        by: One of `SORTED_BY`; missing values stand last, and equal ones newest first.
        rising: Whether the smallest stands first.
    """
    column = SORTED_BY[by]
    # Only sorting by title needs events.
    statement = with_decisions(decisions.c.id).where(*row_filter.conditions(connection))
    if by == "about":
        statement = statement.outerjoin(events, events.c.id == subjects.c.event_row)
    order = (column.is_(None), column.asc() if rising else column.desc(), runs.c.slot_at.desc(), *NEWEST_FIRST)
    return connection.execute(statement.order_by(*order).limit(limit).offset(skip)).scalars().all()


def newest_decisions(
    connection: Connection, row_filter: RowFilter, *, limit: int, before: int | None = None
) -> tuple[tuple[LedgerDecision, ...], int | None]:
    """Return decisions in the order they were stored, newest first, and the `before` of the next call, None at the end.

    New decisions come before these, so that a reader of all pages misses none and gets none twice.
    """
    statement = with_decisions(decisions.c.id).where(*row_filter.conditions(connection)).order_by(decisions.c.id.desc())
    if before is not None:
        statement = statement.where(decisions.c.id < before)
    rows = connection.execute(statement.limit(limit + 1)).scalars().all()
    return read_in_order(connection, row_filter, rows[:limit]), rows[limit - 1] if len(rows) > limit else None


def count_decisions(connection: Connection, row_filter: RowFilter) -> Mapping[str, int]:
    """Return the number of decisions by status; a status without any is absent."""
    statement = with_decisions(decisions.c.status, func.count()).where(*row_filter.conditions(connection))
    return {status: count for status, count in connection.execute(statement.group_by(decisions.c.status))}


def read_in_order(connection: Connection, row_filter: RowFilter, rows: Sequence[int]) -> tuple[LedgerDecision, ...]:
    """Return the decisions of some row numbers, in their order."""
    if not rows:
        return ()
    told = _numbered_decisions(connection, RowFilter(void=row_filter.void, as_of=row_filter.as_of, rows=rows))
    return tuple(told[row] for row in rows)


def select_events(connection: Connection) -> Sequence[Row[Any]]:
    """Return the events of decisions that count, with their count, by newest slot first.

    The `number` is of the event in this ledger.
    """
    # Grouped by row number, because titles are long.
    counted = (
        select(decisions.c.subject_row, func.count().label("n"), func.max(runs.c.slot_at).label("last"))
        .add_columns(func.max(decisions.c.decided_at).label("last_decided_at"))
        .join(runs, runs.c.id == decisions.c.run_id)
        .where(runs.c.voided_at.is_(None))
        .group_by(decisions.c.subject_row)
        .subquery()
    )
    n, last = counted.c.n.label("decisions"), counted.c.last.label("last_slot_at")
    statement: Select[Any] = (
        select(events.c.id.label("number"), subjects.c.subject_id.label("event_id"))
        .add_columns(events.c.title, events.c.venue, n, last, counted.c.last_decided_at)
        .join(counted, counted.c.subject_row == subjects.c.id)
        .join(events, events.c.id == subjects.c.event_row)
        .order_by(counted.c.last.desc(), subjects.c.subject_id)
    )
    return connection.execute(statement).all()


def select_forecasts(connection: Connection, row_filter: RowFilter) -> tuple[LedgerForecast, ...]:
    """Return forecasts with their bets by slot, bot, event and market."""
    return _forecasts(connection, row_filter, _knowledge(connection, row_filter))


def _forecasts(
    connection: Connection, row_filter: RowFilter, knowledge: Mapping[int, Knowledge]
) -> tuple[LedgerForecast, ...]:
    about = with_decisions(subjects.c.event_row).where(*row_filter.conditions(connection))
    payouts = _payouts(connection, row_filter.as_of, about)
    bets = bets_of(with_decisions(decisions.c.id).where(*row_filter.conditions(connection)))
    columns = [table.c[name] for table, names in (*_OF_FORECAST.items(), (bets, _OF_BET)) for name in names]
    statement = (
        _select_decisions(forecasts.c.market_row, *columns)
        .join(forecasts, forecasts.c.decision_id == decisions.c.id)
        .join(markets, markets.c.id == forecasts.c.market_row)
        .join(events, events.c.id == markets.c.event_row)
        .outerjoin(bets, of_same_market(bets, forecasts))
        .where(*row_filter.conditions(connection))
        .order_by(markets.c.market_id)
    )
    names = (*_KEY, *(name for names in _OF_FORECAST.values() for name in names), *_OF_BET)
    values_of, rest_of = _by_name(statement, names, ("id", "late", "market_row"))
    return tuple(
        LedgerForecast(
            **dict(zip(names, values_of(row), strict=True)),
            payout_yes=payout,
            settled_at=None if payout is None else settled_at,
            knowledge=knowledge[id],
            late=bool(late),
            refunded=payout is None and settled_at is not None,
        )
        for row in connection.execute(statement)
        for id, late, market_row in [rest_of(row)]
        for payout, settled_at in [payouts.get(market_row, (None, None))]
    )


_KEY = ("run", "void", "bot", "subject_kind", "subject_id", "recipe", "slot_at", "decided_at")
_OF_DECISION = tuple(name for name in LedgerDecision.__slots__ if name in decisions.c and name not in _KEY)
_OF_TASK = ("failures", "next_try_at")
_OF_FORECAST = {
    markets: ("market_id", "question"),
    events: ("title",),
    forecasts: ("probability", "confidence", "rationale", "question_sha256"),
}
_OF_BET = ("asked_usd", "booked_usd", "price_yes", "price_source")


def _select_decisions(*columns: Any) -> Select[Any]:
    of_run = (runs.c.recipe, runs.c.slot_at, case((is_late(), 1), else_=0).label("late"))
    statement = with_decisions(decisions.c.id, *decision_columns(), *of_run, decisions.c.decided_at, *columns)
    return statement.order_by(runs.c.slot_at, runs.c.id, bots.c.id, subjects.c.subject_id)


def _by_name(statement: Select[Any], *names: Sequence[str]) -> list["itemgetter[Any]"]:
    """Return what takes the values of each of some names from a row: by place, which is faster than by name."""
    known = statement.selected_columns.keys()
    return [itemgetter(*map(known.index, each)) for each in names]


def _payouts(connection: Connection, as_of: datetime | None, about: Any) -> Mapping[int, tuple[float | None, datetime]]:
    """Return payout and end of each market of some events that ended as known at the instant; None is a refund."""
    statement = (
        select(*resolutions.c["market_row", "payout_yes", "settled_at"])
        .join(markets, markets.c.id == resolutions.c.market_row)
        .where(markets.c.event_row.in_(about))
        .order_by(*resolutions.c["market_row", "effective_at", "revision"])
    )
    if as_of is not None:
        statement = statement.where(resolutions.c.effective_at <= as_of, resolutions.c.settled_at <= as_of)
    # The last revision counts.
    return {market: (payout, settled_at) for market, payout, settled_at in connection.execute(statement)}


def _knowledge(connection: Connection, row_filter: RowFilter) -> Mapping[int, Knowledge]:
    # All bots of the run on the subject are needed, because one may pool another.
    whole = replace(row_filter, bots=(), status=None, rows=None)
    statement = with_decisions(
        *decisions.c["id", "bot_id"],
        func.coalesce(subjects.c.event_row, -decisions.c.id).label("event"),
        decisions.c.decided_at,
        OPENED_MODEL.label("opened"),
        run_is_live(connection).label("live"),
    )
    if row_filter.rows is not None:
        chosen = select(*decisions.c["run_id", "subject_row"]).where(decisions.c.id.in_(row_filter.rows)).subquery()
        statement = statement.where(
            decisions.c.run_id.in_(select(chosen.c.run_id)), decisions.c.subject_row.in_(select(chosen.c.subject_row))
        )
    decided = read_columns(connection, statement.where(*whole.conditions(connection)))
    event = decided["event"].astype(np.int64)
    # An event's last settlement is infinite while one market is open.
    ended: dict[int, float] = {}
    about = bind_list(np.unique(event[event > 0]).tolist())
    payouts = _payouts(connection, row_filter.as_of, about)
    of_events = select(markets.c.id, markets.c.event_row).where(markets.c.event_row.in_(about))
    for market, of_event in connection.execute(of_events):
        payout, settled_at = payouts.get(market, (None, None))
        at = np.inf if payout is None or settled_at is None else settled_at.timestamp()
        ended[of_event] = max(ended.get(of_event, at), at)
    ended_at = np.array([ended.get(each, np.inf) for each in event.tolist()])
    codes = knowledge_of_decisions(connection, decided, event, ended_at, is_live=decided["live"] == 1.0)
    return {row: KNOWLEDGE[code] for row, code in zip(decided["id"].astype(np.int64).tolist(), codes, strict=True)}


def select_prices(
    connection: Connection, event_ids: Sequence[str]
) -> Mapping[str, Mapping[str, tuple[tuple[datetime, float], ...]]]:
    """Return the stored prices of YES and of stocks, oldest first, by event and market id.

    Of several prices at one instant the one stored last is taken.
    """
    chosen = (
        select(events.c.event_id, markets.c.market_id, instruments.c.kind, price_paths.c.points)
        .join(instruments, instruments.c.id == price_paths.c.instrument_row)
        .join(markets, markets.c.id == instruments.c.market_row)
        .join(events, events.c.id == markets.c.event_row)
        .where(events.c.event_id.in_(event_ids), or_(instruments.c.side == "YES", instruments.c.kind == EQUITY))
        .order_by(price_paths.c.instrument_row)
    )
    found = dict[str, dict[str, tuple[tuple[datetime, float], ...]]]()
    # Most markets are observed at the same instants.
    instant_of = cache(from_microseconds)
    for event_id, market_id, kind, blob in connection.execute(chosen):
        points, _ = unpack_points([blob], highest=highest_price(kind))
        prices = dict(zip(points["at"].tolist(), points["price"].tolist(), strict=True))
        of_market = tuple((instant_of(at), price) for at, price in sorted(prices.items()))
        found.setdefault(event_id, {})[market_id] = of_market
    return found
