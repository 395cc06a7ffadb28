"""The ledger as rows for others: by the names things have, not by our row numbers, and never all at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Float,
    Label,
    Select,
    Text,
    and_,
    case,
    cast,
    func,
    select,
    type_coerce,
)
from sqlalchemy.types import TypeEngine

from predibot.domain.clock import format_instant
from predibot.domain.price import Instrument
from predibot.ledger.read.packed_runs import collation_of
from predibot.ledger.schema.column_types import Instant, from_microseconds
from predibot.ledger.schema.packed_points import SOURCES, unpacked_points
from predibot.ledger.schema.tables import CohortRow
from predibot.ledger.schema.upsert import table_of
from predibot.ledger.write.accounts import accounts, journal, marks, valuations
from predibot.ledger.write.claims import subjects, tasks
from predibot.ledger.write.decisions import (
    bets,
    bots,
    decisions,
    fills,
    forecasts,
    labels,
    orders,
    quotes,
    sources,
)
from predibot.ledger.write.events import events, instruments, markets, run_events
from predibot.ledger.write.news import news
from predibot.ledger.write.prices_and_resolutions import price_paths, resolutions
from predibot.ledger.write.runs import is_late, runs, with_decisions
from predibot.ledger.write.turns import turns

cohorts = table_of(CohortRow)

# Clocks, costs, the folders of archives and what an event was first called may differ where the rest is the same.
# What was exported later than the others stays out too, so that older canonical exports compare.
_NOT_CANONICAL: Mapping[str, frozenset[str]] = {
    "runs": frozenset(
        {"venue", "recipe_json", "notes_json", "code_version", "created_at", "voided_at", "void_reason", "deadline_at"}
    ),
    "run_events": frozenset({"payload"}),
    "bots": frozenset({"members_json"}),
    "decisions": frozenset(
        {"cost_usd", "cost_known_usd", "seconds", "trace_sha256", "reason_kind", "failures", "next_try_at", "late"}
    ),
    "forecasts": frozenset({"title", "question"}),
    "bets": frozenset({"title", "question"}),
    "fills": frozenset({"market_id", "order_number", "model"}),
    "quotes": frozenset({"depth_json"}),
    "resolutions": frozenset({"seen_at"}),
    "news": frozenset({"url"}),
    # Why one is archived matters, and not when somebody typed it.
    "cohorts": frozenset({"archived_at"}),
}
_KEY_COLUMNS: Mapping[str, int] = {
    "runs": 2,
    "run_events": 3,
    "bots": 3,
    "decisions": 5,
    "forecasts": 6,
    "bets": 6,
    "fills": 6,
    "sources": 6,
    "quotes": 7,
    "observations": 5,
    "resolutions": 3,
    "orders": 6,
    "cohorts": 6,
    "accounts": 8,
    "journal": 9,
    "valuations": 10,
    "marks": 13,
    "turns": 9,
    "news": 4,
    "labels": 6,
}
"""How many columns, from the first one on, no two rows that the database sorts have in common."""
CANONICAL_TABLES = tuple(_KEY_COLUMNS)
"""What `export --canonical` writes: everything that two equal ledgers must agree on."""
_POINT_COLUMNS: Mapping[str, TypeEngine[Any]] = {"at": Instant(), "source": Text(), "price": Float()}
"""What a path is to others: a row for each of its points."""
_PATHS_AT_ONCE = 10
_ROWS_AT_ONCE = 200
"""Few, because a row may hold a whole rationale or the reasons of a thousand events."""
_MINUTE, _SECOND = 60_000_000, 1_000_000

Row = Mapping[str, Any]
DecisionKey = tuple[str, str]
"""A bot and an event."""
Rows = Mapping[str, list[Row]]
"""The rows of one decision, by table."""
_OF_DECISIONS = ("decisions", "forecasts", "bets", "orders", "fills", "sources", "quotes", "labels")
"""Everything that is stored of a decision."""


def export_rows(
    connection: Connection, table: str, *, canonical: bool = False, run_key: str | None = None
) -> Iterator[Row]:
    """Yield the rows of a table, instants as text.

    Canonical rows come in the order of their natural key and leave out what may
    differ between two ledgers that hold the same: wall-clock times and costs.

    Args:
        connection: To the ledger; rows are read as they are asked for.
        table: Its name.
        canonical: Whether the rows are canonical.
        run_key: Only rows of runs that hold or held this key; for tables that belong to runs.
    """
    names = tuple(export_columns(table, canonical=canonical))
    for values in export_values(connection, table, canonical=canonical, run_key=run_key):
        yield dict(zip(names, values, strict=True))


def export_values(
    connection: Connection, table: str, *, canonical: bool = False, run_key: str | None = None
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table as `export_rows` does, without their names."""
    statement = _statement(table, canonical=canonical)
    if run_key is not None:
        statement = statement.where(runs.c.key == run_key)
    if canonical:
        collation = collation_of(connection)
        key = statement.selected_columns[: _KEY_COLUMNS[table]]
        statement = statement.order_by(None).order_by(*(term for each in key for term in _by_text(each, collation)))
    if table == "observations":
        paths = connection.execute(statement.execution_options(yield_per=_PATHS_AT_ONCE))
        yield from _observations(paths, canonical=canonical)
        return
    instants = [index for index, each in enumerate(statement.selected_columns) if isinstance(each.type, Instant)]
    for row in connection.execute(statement.execution_options(yield_per=_ROWS_AT_ONCE)):
        if not instants:
            yield tuple(row)
            continue
        values = list(row)
        for index in instants:
            if values[index] is not None:
                values[index] = format_instant(values[index])
        yield tuple(values)


def decision_rows(connection: Connection, run_key: str) -> Mapping[DecisionKey, Rows]:
    """Return the canonical rows of every decision of a run, by bot and event; those of a void run are left out."""
    found: dict[DecisionKey, dict[str, list[Row]]] = {}
    for table in _OF_DECISIONS:
        for row in export_rows(connection, table, canonical=True, run_key=run_key):
            if row["void"] == 0:
                key = (row["bot"], row["subject_id"])
                found.setdefault(key, {each: [] for each in _OF_DECISIONS})[table].append(row)
    return found


def export_columns(table: str, *, canonical: bool = False) -> Mapping[str, type]:
    """Return the names of a table's columns and what they hold beside None: `str`, `int` or `float`."""
    columns = _statement(table, canonical=canonical).selected_columns
    kinds = {name: type_.python_type for name, type_ in _types(table, columns).items()}
    return {name: str if kind is datetime else kind for name, kind in kinds.items()}


def export_types(table: str) -> Mapping[str, TypeEngine[Any]]:
    """Return the names of a table's columns and what the database calls that which they hold."""
    return _types(table, _statement(table, canonical=False).selected_columns)


def _types(table: str, columns: Iterable[ColumnElement[Any]]) -> Mapping[str, TypeEngine[Any]]:
    types = {each.key or "": each.type for each in columns}
    if table == "observations":
        del types["points"]
        types.update(_POINT_COLUMNS)
    return types


def _statement(table: str, *, canonical: bool) -> Select[Any]:
    statement = _STATEMENTS[table]()
    left_out = _NOT_CANONICAL.get(table) if canonical else None
    if not left_out:
        return statement
    return statement.with_only_columns(*(each for each in statement.selected_columns if each.name not in left_out))


def _by_text(column: ColumnElement[Any], collation: str) -> Iterator[ColumnElement[Any]]:
    """Yield what rows are sorted by so that they are in the order of a column's text, nothing first.

    By text, because that is the order of every canonical export so far.
    """
    if isinstance(column.type, Instant):
        yield from _by_text_of(type_coerce(column, BigInteger))
        return
    text = column if column.type.python_type is str else cast(column, Text)
    yield text.collate(collation).nulls_first()


def _by_text_of(at: Any) -> tuple[Any, ...]:
    """Return what microseconds are sorted by so that they are in the order of the text of their instant.

    Whole minutes have no seconds in their text, and whole seconds no fraction: they come after the others.
    """
    return (at // _MINUTE, at % _MINUTE == 0, at // _SECOND, at % _SECOND == 0, at)


def run_columns() -> tuple[Label[Any], Label[Any]]:
    """Return the columns that name a run: its key, and which of the void runs of that key it is, 0 for none."""
    earlier = runs.alias("earlier")
    ordinal = (
        select(func.count())
        .select_from(earlier)
        .where(earlier.c.key == runs.c.key, earlier.c.voided_at.is_not(None), earlier.c.id <= runs.c.id)
        .scalar_subquery()
    )
    void = case((runs.c.voided_at.is_(None), 0), else_=ordinal)
    return runs.c.key.label("run"), void.label("void")


def _runs() -> Select[Any]:
    return select(
        *run_columns(),
        runs.c.recipe,
        runs.c.slot_at,
        runs.c.as_of,
        runs.c.venue_name,
        runs.c.game,
        runs.c.seed,
        runs.c.digest,
        runs.c.overrides_json,
        runs.c.passed_over_json,
        runs.c.venue,
        runs.c.recipe_json,
        runs.c.notes_json,
        runs.c.code_version,
        runs.c.created_at,
        runs.c.voided_at,
        runs.c.void_reason,
        runs.c.deadline_at,
    ).order_by(runs.c.id)


def _markets() -> Select[Any]:
    return (
        select(
            markets.c.venue,
            markets.c.market_id,
            events.c.event_id,
            markets.c.question,
            markets.c.condition_id,
            markets.c.token_ids_json,
            markets.c.outcomes_json,
        )
        .join(events, events.c.id == markets.c.event_row)
        .order_by(markets.c.id)
    )


def _run_events() -> Select[Any]:
    return (
        select(*run_columns(), run_events.c.position, events.c.event_id, run_events.c.event_json, run_events.c.payload)
        .join(runs, runs.c.id == run_events.c.run_id)
        .join(events, events.c.id == run_events.c.event_row)
        .order_by(run_events.c.run_id, run_events.c.position)
    )


def _bots() -> Select[Any]:
    columns = [column for column in bots.c if column.name not in ("id", "run_id", "name")]
    return (
        select(*run_columns(), bots.c.name.label("bot"), *columns)
        .join(runs, runs.c.id == bots.c.run_id)
        .order_by(bots.c.id)
    )


def decision_columns() -> tuple[Label[Any], ...]:
    """Return the columns that name a decision: its run, its bot and its subject."""
    about = (subjects.c.kind.label("subject_kind"), subjects.c.subject_id.label("subject_id"))
    return (*run_columns(), bots.c.name.label("bot"), *about)


def _decisions() -> Select[Any]:
    return (
        with_decisions(
            *decision_columns(),
            decisions.c.status,
            decisions.c.decided_at,
            decisions.c.message,
            decisions.c.rationale,
            decisions.c.notes_json,
            decisions.c.unallocated_usd,
            decisions.c.stated_unallocated_usd,
            decisions.c.scale,
            decisions.c.cost_usd,
            decisions.c.cost_known_usd,
            decisions.c.seconds,
            decisions.c.models_json,
            decisions.c.trace_sha256,
            decisions.c.reason_kind,
            tasks.c.failures,
            tasks.c.next_try_at,
            case((is_late(), 1), else_=0).label("late"),
        )
        .join(tasks, tasks.c.id == decisions.c.task_id)
        .order_by(decisions.c.id)
    )


def _of_decision(table: Any, *columns: Any) -> Select[Any]:
    """Return the statement of a table whose rows belong to a decision."""
    order_by = (bets.c.decision_id, bets.c.number) if table is bets else table.primary_key.columns
    made = with_decisions(*decision_columns(), *columns)
    return made.join(table, table.c.decision_id == decisions.c.id).order_by(*order_by)


def _of_market(table: Any, *columns: Any) -> Select[Any]:
    """Return the statement of a table whose rows belong to a decision on a market, with what both are about."""
    return (
        _of_decision(table, markets.c.market_id, *columns, events.c.title, markets.c.question)
        .join(markets, markets.c.id == table.c.market_row)
        .join(events, events.c.id == markets.c.event_row)
    )


def _forecasts() -> Select[Any]:
    columns = (forecasts.c.probability, forecasts.c.confidence, forecasts.c.rationale, forecasts.c.question_sha256)
    return _of_market(forecasts, *columns)


def _bets() -> Select[Any]:
    """Return the bets on events; orders of an account are none."""
    columns = (bets.c.asked_usd, bets.c.booked_usd, bets.c.price_yes, bets.c.price_source)
    return _of_market(bets, *columns).where(subjects.c.event_row.is_not(None))


def _fills() -> Select[Any]:
    columns = (
        fills.c.number,
        instruments.c.venue,
        instruments.c.kind.label("instrument_kind"),
        instruments.c.instrument_id,
        instruments.c.side,
        fills.c.shares,
        fills.c.price,
        fills.c.fee_usd,
        fills.c.cash_usd,
        markets.c.market_id,
        fills.c.order_number,
        fills.c.model,
    )
    return (
        _of_decision(fills, *columns)
        .join(orders, and_(orders.c.decision_id == fills.c.decision_id, orders.c.number == fills.c.order_number))
        .join(instruments, instruments.c.id == orders.c.instrument_row)
        .outerjoin(markets, markets.c.id == instruments.c.market_row)
    )


def _orders() -> Select[Any]:
    """Return the orders into accounts; those on events are bets."""
    said = ("asked", "amount", "status", "price", "price_source", "note", "ended_at")
    columns = (
        orders.c.number,
        instruments.c.venue,
        instruments.c.kind.label("instrument_kind"),
        instruments.c.instrument_id,
        markets.c.market_id,
        instruments.c.side.label("outcome"),
        orders.c.side,
        orders.c.unit,
        *(orders.c[name] for name in said),
    )
    return (
        _of_decision(orders, *columns)
        .join(instruments, instruments.c.id == orders.c.instrument_row)
        .outerjoin(markets, markets.c.id == instruments.c.market_row)
        .where(subjects.c.event_row.is_(None))
    )


_ACCOUNT = (
    accounts.c.recipe,
    accounts.c.game,
    accounts.c.mode,
    accounts.c.methodology,
    accounts.c.bot,
    subjects.c.venue.label("account_venue"),
    subjects.c.kind.label("subject_kind"),
    subjects.c.subject_id,
)
"""What an account is known by."""


def _of_account(table: Any, *columns: Any) -> Select[Any]:
    """Return the statement of a table whose rows belong to an account."""
    made = select(*_ACCOUNT, *columns).select_from(accounts)
    if table is not accounts:
        made = made.join(table, table.c.account_id == accounts.c.id)
    return made.join(subjects, subjects.c.id == accounts.c.subject_row).order_by(*table.primary_key.columns)


def _with_instrument(statement: Select[Any], row: Any) -> Select[Any]:
    return statement.outerjoin(instruments, instruments.c.id == row)


_INSTRUMENT = (
    instruments.c.venue.label("instrument_venue"),
    instruments.c.kind.label("instrument_kind"),
    instruments.c.instrument_id,
)


def _journal() -> Select[Any]:
    key, void = run_columns()
    said = (journal.c.kind, journal.c.at, journal.c.shares, journal.c.cash_usd)
    follows_from = (
        case((journal.c.decision_id.is_not(None), key)).label("run"),
        case((journal.c.decision_id.is_not(None), void)).label("void"),
        markets.c.venue.label("market_venue"),
        markets.c.market_id,
        journal.c.revision,
    )
    statement = _of_account(journal, journal.c.number, *_INSTRUMENT, *said, *follows_from)
    return (
        _with_instrument(statement, journal.c.instrument_row)
        .outerjoin(markets, markets.c.id == journal.c.market_row)
        .outerjoin(decisions, decisions.c.id == journal.c.decision_id)
        .outerjoin(runs, runs.c.id == decisions.c.run_id)
    )


def _marks() -> Select[Any]:
    said = (marks.c.price, marks.c.priced_at, marks.c.state)
    statement = _of_account(marks, marks.c.at, marks.c.revision, *_INSTRUMENT, *said)
    return _with_instrument(statement, marks.c.instrument_row)


def _turns() -> Select[Any]:
    statement = _of_account(turns, turns.c.slot_at, *run_columns(), turns.c.at, turns.c.journal_number)
    return statement.join(runs, runs.c.id == turns.c.run_id)


def _cohorts() -> Select[Any]:
    key = (cohorts.c[name] for name in ("recipe", "game", "mode", "venue", "name", "methodology"))
    said = (cohorts.c[name] for name in ("started_at", "line_up", "archived_at", "archived_reason"))
    return select(*key, *run_columns(), *said).join(runs, runs.c.id == cohorts.c.run_id).order_by(cohorts.c.id)


def _news() -> Select[Any]:
    said = (news.c.number, news.c.title, news.c.snippet, news.c.published_at, news.c.failure, news.c.url)
    return (
        select(*run_columns(), markets.c.market_id, *said)
        .join(runs, runs.c.id == news.c.run_id)
        .join(markets, markets.c.id == news.c.market_row)
        .order_by(news.c.run_id, news.c.market_row, news.c.number)
    )


def _quotes() -> Select[Any]:
    columns = [column for column in quotes.c if column.name not in ("decision_id", "market_row")]
    return _of_decision(quotes, markets.c.market_id, *columns).join(markets, markets.c.id == quotes.c.market_row)


def _price_paths() -> Select[Any]:
    return (
        select(
            instruments.c.venue,
            instruments.c.kind.label("instrument_kind"),
            instruments.c.instrument_id,
            markets.c.market_id,
            instruments.c.side,
            price_paths.c.points,
        )
        .join(instruments, instruments.c.id == price_paths.c.instrument_row)
        .outerjoin(markets, markets.c.id == instruments.c.market_row)
        .order_by(price_paths.c.instrument_row)
    )


def _observations(paths: Iterable[Sequence[Any]], *, canonical: bool) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each point of each instrument."""
    for *named, blob in paths:
        venue, kind, instrument_id, *_ = named
        points, _ = unpacked_points([blob], highest=Instrument(venue, kind, instrument_id).price_bound[1])
        if canonical:
            points = points[np.lexsort((points["source"], *reversed(_by_text_of(points["at"]))))]
        for at, source, price in points.tolist():
            yield (*named, format_instant(from_microseconds(at)), SOURCES[source], price)


def _resolutions() -> Select[Any]:
    columns = [column for column in resolutions.c if column.name != "market_row"]
    return (
        select(markets.c.venue, markets.c.market_id, *columns)
        .join(markets, markets.c.id == resolutions.c.market_row)
        .order_by(resolutions.c.market_row, resolutions.c.revision)
    )


_STATEMENTS: Mapping[str, Callable[[], Select[Any]]] = {
    "runs": _runs,
    "events": lambda: select(events.c.venue, events.c.event_id, events.c.title).order_by(events.c.id),
    "markets": _markets,
    "run_events": _run_events,
    "bots": _bots,
    "decisions": _decisions,
    "forecasts": _forecasts,
    "bets": _bets,
    "orders": _orders,
    "fills": _fills,
    "quotes": _quotes,
    "sources": lambda: _of_decision(sources, *(column for column in sources.c if column.name != "decision_id")),
    "observations": _price_paths,
    "resolutions": _resolutions,
    "cohorts": _cohorts,
    "accounts": lambda: _of_account(accounts, accounts.c.slot_at),
    "journal": _journal,
    "valuations": lambda: _of_account(
        valuations, *(valuations.c[name] for name in ("at", "revision", "journal_number", "cash_usd", "value_usd"))
    ),
    "marks": _marks,
    "turns": _turns,
    "news": _news,
    "labels": lambda: _of_decision(labels, *(column for column in labels.c if column.name != "decision_id")),
}
TABLES = tuple(_STATEMENTS)
"""What `export` writes, and in which order `import ledger` reads it: what a row names stands before it."""
ADDED_TABLES = frozenset({"orders", "cohorts", "accounts", "journal", "valuations", "marks", "turns", "news", "labels"})
"""Absent from older exports, which know no accounts, no cohorts, or no labels."""
