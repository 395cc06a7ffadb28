"""Rows for others: with names in place of row numbers, and never all in memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import groupby
from typing import Any

import numpy as np
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Float,
    FromClause,
    Label,
    Select,
    Text,
    case,
    cast,
    select,
    type_coerce,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

from predibot.domain.clock import format_instant
from predibot.domain.price import highest_price
from predibot.ledger.read.decided_rows import collation_of
from predibot.ledger.schema import tables
from predibot.ledger.schema.column_types import Instant, StoredText, from_microseconds
from predibot.ledger.schema.natural_keys import NamedTable, make_named_table
from predibot.ledger.schema.packed_points import SOURCES, unpack_points
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import ORDER_OF_FILL, bets, fills, orders
from predibot.ledger.write.prices_and_resolutions import price_paths
from predibot.ledger.write.runs import is_late, runs

# Clocks, costs, archive folders and first titles may differ between ledgers that hold the same.
# Columns added later stay out too, so that older canonical exports compare.
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
    # The reason matters, and not when somebody typed it.
    "cohorts": frozenset({"archived_at"}),
}
_EARLIER = (
    *("runs", "events", "markets", "run_events", "bots", "decisions", "forecasts", "bets", "orders", "fills"),
    *("quotes", "sources", "observations", "resolutions"),
)
_LATER = ("cohorts", "accounts", "journal", "valuations", "marks", "turns", "news", "labels")
_IN_NONE = (
    *("tasks", "attempts", "subjects", "instruments", "price_paths", "spending", "reservations", "paces", "permits"),
    *("schedules", "slots", "services", "receipts", "ledger_receipts", "artefacts", "changes"),
)
"""Tables that follow from others, or belong to this very ledger."""
_KNOWN = (*_EARLIER, *_LATER, *_IN_NONE)
_ADDED = (*_LATER, *(each.name for each in tables.Row.metadata.sorted_tables if each.name not in _KNOWN))
TABLES = (*_EARLIER, *_ADDED)
"""Exported tables in the order of import: a row refers to earlier tables only."""
ADDED_TABLES = frozenset({"orders", *_ADDED})
"""Absent from older exports, which know no accounts, no cohorts, or no labels."""
CANONICAL_TABLES = (
    *("runs", "run_events", "bots", "decisions", "forecasts", "bets", "fills", "sources", "quotes", "observations"),
    *("resolutions", "orders", *_ADDED),
)
"""Tables of `export --canonical`: everything on which two equal ledgers must agree."""
_SELECTED: Mapping[str, FromClause] = {
    "bets": bets,
    "fills": select(fills, orders.c.instrument_row).join(orders, ORDER_OF_FILL).subquery("fills"),
    "observations": price_paths,
}
"""Subqueries read in place of tables of the same name."""
_BEHIND_KEY: Mapping[str, str] = {
    "runs": "recipe slot_at as_of venue_name game seed digest overrides_json passed_over_json venue recipe_json "
    "notes_json code_version created_at voided_at void_reason deadline_at",
    "markets": "event_row question condition_id token_ids_json outcomes_json",
    "decisions": "status decided_at message rationale notes_json unallocated_usd stated_unallocated_usd scale cost_usd "
    "cost_known_usd seconds models_json trace_sha256 reason_kind task_id.failures task_id.next_try_at",
    "forecasts": "probability confidence rationale question_sha256 market_row.event_row.title market_row.question",
    "bets": "asked_usd booked_usd price_yes price_source market_row.event_row.title market_row.question",
    "orders": "instrument_row instrument_row.market_row.market_id instrument_row.side=outcome side unit asked amount "
    "status price price_source note ended_at",
    "fills": "instrument_row instrument_row.side shares price fee_usd cash_usd instrument_row.market_row.market_id "
    "order_number model",
    "observations": "instrument_row.market_row.market_id instrument_row.side points",
    "accounts": "slot_at",
    "journal": "instrument_row kind at shares cash_usd decision_id market_row revision",
}
"""The columns behind a table's natural key, where they are not simply all others; see `make_named_table`."""
_POINT_COLUMNS: Mapping[str, TypeEngine[Any]] = {"at": Instant(), "source": Text(), "price": Float()}
"""The columns of a point; a path is exported as a row for each."""
_PATHS_AT_ONCE = 10
_ROWS_AT_ONCE = 200
"""Few, because a row may hold a whole rationale or the reasons of a thousand events."""
_PATHS_IN_BATCH, _ROWS_IN_BATCH = 200, 10_000
_MINUTE, _SECOND = 60_000_000, 1_000_000

Row = Mapping[str, Any]
DecisionKey = tuple[str, str]
Rows = Mapping[str, list[Row]]
"""By table."""
_OF_DECISIONS = ("decisions", "forecasts", "bets", "orders", "fills", "sources", "quotes", "labels")
"""All tables with parts of a decision."""


def export_rows(
    connection: Connection, table: str, *, canonical: bool = False, run_ids: Sequence[int] | None = None
) -> Iterator[Row]:
    """Yield the rows of a table as they are needed, with instants as text; only of some runs, if these are given.

    Canonical rows come in the order of their natural key. They leave out what may differ between two ledgers that hold
    the same: wall-clock times and costs.
    """
    names = tuple(export_columns(table, canonical=canonical))
    for values in export_values(connection, table, canonical=canonical, run_ids=run_ids):
        yield dict(zip(names, values, strict=True))


def export_values(
    connection: Connection, table: str, *, canonical: bool = False, run_ids: Sequence[int] | None = None
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of `export_rows` as tuples."""
    statement = _statement(table, canonical=canonical)
    if run_ids is not None:
        statement = statement.where(runs.c.id.in_(run_ids))
    if canonical:
        collation = collation_of(connection)
        key = statement.selected_columns[: export_table(table).n_keys]
        statement = statement.order_by(None).order_by(*(term for each in key for term in _sort_keys(each, collation)))
    if table == "observations":
        for paths in connection.execute(statement.execution_options(yield_per=_PATHS_AT_ONCE)).partitions():
            yield from zip(*_point_columns(paths, canonical=canonical), strict=True)
        return
    for columns in _columns_of(connection, statement, _ROWS_AT_ONCE):
        yield from zip(*columns, strict=True)


def export_batches(connection: Connection, table: str, names: Sequence[str]) -> Iterator[list[Sequence[Any]]]:
    """Yield the values of some columns of `export_values`, thousands of rows at once; no column may hold long texts."""
    statement = _statement(table, canonical=False)
    if table == "observations":
        places = [[*export_columns(table)].index(name) for name in names]
        paths = connection.execute(statement.execution_options(yield_per=_PATHS_IN_BATCH))
        yield from ([columns[place] for place in places] for columns in map(_point_columns, paths.partitions()))
        return
    chosen = [statement.selected_columns[name] for name in names]
    statement = statement.with_only_columns(*chosen, maintain_column_froms=True)
    yield from _columns_of(connection, statement, _ROWS_IN_BATCH)


def _columns_of(connection: Connection, statement: Select[Any], rows: int) -> Iterator[list[Sequence[Any]]]:
    """Yield the columns of so many rows at once, with instants as text; raise `TypeError` for a text that is none."""
    types = [each.type for each in statement.selected_columns]
    # Values are checked and converted by column: one by one, they would take longer than reading them.
    statement = statement.with_only_columns(
        *(
            type_coerce(each, each.type.impl_instance).label(each.key) if isinstance(each.type, TypeDecorator) else each
            for each in statement.selected_columns
        ),
        maintain_column_froms=True,
    )
    for part in connection.execute(statement.execution_options(yield_per=rows)).partitions():
        columns: list[Sequence[Any]] = [*zip(*part, strict=True)]
        for index, kind in enumerate(types):
            if isinstance(kind, Instant):
                columns[index] = _instant_texts(columns[index])
            elif isinstance(kind, StoredText) and not {*map(type, columns[index])} <= {str, type(None)}:
                raise TypeError("a column of texts in the ledger holds something else")
        yield columns


def _instant_texts(column: Sequence[int | None]) -> list[str | None]:
    """Return microseconds since 1970 as text; many rows share an instant."""
    texts = {each: None if each is None else format_instant(from_microseconds(each)) for each in {*column}}
    return [texts[each] for each in column]


def decision_rows(connection: Connection, run_key: str) -> Mapping[DecisionKey, Rows]:
    """Return the canonical rows of every decision of a run by bot and event, void runs aside."""
    found: dict[DecisionKey, dict[str, list[Row]]] = {}
    run_ids = [
        *connection.execute(select(runs.c.id).where(runs.c.key == run_key, runs.c.voided_at.is_(None))).scalars()
    ]
    for table in _OF_DECISIONS:
        for row in export_rows(connection, table, canonical=True, run_ids=run_ids):
            key = (row["bot"], row["subject_id"])
            found.setdefault(key, {each: [] for each in _OF_DECISIONS})[table].append(row)
    return found


def export_columns(table: str, *, canonical: bool = False) -> Mapping[str, type]:
    """Return the names of a table's columns and the type of their values beside None."""
    columns = _statement(table, canonical=canonical).selected_columns
    kinds = {name: type_.python_type for name, type_ in _column_types(table, columns).items()}
    return {name: str if kind is datetime else kind for name, kind in kinds.items()}


def export_types(table: str) -> Mapping[str, TypeEngine[Any]]:
    """Return the names of a table's columns and their database types."""
    return _column_types(table, _statement(table, canonical=False).selected_columns)


@cache
def export_table(table: str) -> NamedTable:
    """Return a table with the names of its columns in an export."""
    own = _SELECTED.get(table)
    return make_named_table(tables.Row.metadata.tables[table] if own is None else own, _BEHIND_KEY.get(table))


def _column_types(table: str, columns: Iterable[ColumnElement[Any]]) -> Mapping[str, TypeEngine[Any]]:
    types = {each.key or "": each.type for each in columns}
    if table == "observations":
        del types["points"]
        types.update(_POINT_COLUMNS)
    return types


def _statement(table: str, *, canonical: bool) -> Select[Any]:
    statement = export_table(table).statement()
    if table == "decisions":
        statement = statement.add_columns(case((is_late(), 1), else_=0).label("late"))
    elif table in ("bets", "orders"):
        # Orders of accounts are no bets on events.
        is_event = subjects.c.event_row.is_not(None)
        statement = statement.where(is_event if table == "bets" else ~is_event)
    left_out = _NOT_CANONICAL.get(table) if canonical else None
    if not left_out:
        return statement
    return statement.with_only_columns(*(each for each in statement.selected_columns if each.name not in left_out))


def _sort_keys(column: ColumnElement[Any], collation: str) -> Iterator[ColumnElement[Any]]:
    """Yield sort keys by a column's text, nulls first, as in every canonical export so far."""
    if isinstance(column.type, Instant):
        yield from _instant_sort_keys(type_coerce(column, BigInteger))
        return
    text = column if column.type.python_type is str else cast(column, Text)
    yield text.collate(collation).nulls_first()


def _instant_sort_keys(at: Any) -> tuple[Any, ...]:
    """Return sort keys that put microseconds in the order of their instants' texts.

    The text of whole minutes has no seconds, and that of whole seconds no fraction: they come after the others.
    """
    return (at // _MINUTE, at % _MINUTE == 0, at // _SECOND, at % _SECOND == 0, at)


def decision_columns() -> tuple[Label[Any], ...]:
    """Return the columns that name a decision: run, bot and subject."""
    decision = export_table("decisions")
    return tuple(each.path[-1].label(each.name) for each in decision.columns[: decision.n_keys])


def _point_columns(paths: Sequence[Sequence[Any]], *, canonical: bool = False) -> list[Sequence[Any]]:
    """Return the columns of the points of some paths."""
    found = [
        unpack_points([blob for *_, blob in of_kind], highest=highest_price(kind))
        for kind, of_kind in groupby(paths, key=lambda each: each[1])
    ]
    points, sizes = (np.concatenate(each) for each in zip(*found, strict=True))
    path = np.repeat(np.arange(len(paths)), sizes)
    if canonical:
        points = points[np.lexsort((points["source"], *reversed(_instant_sort_keys(points["at"])), path))]
    # Most markets are observed at the same instants.
    instants, place = np.unique(points["at"], return_inverse=True)
    texts = np.array([format_instant(from_microseconds(at)) for at in instants.tolist()], dtype=object)
    named = [np.array(each, dtype=object)[path].tolist() for each in [*zip(*paths, strict=True)][:-1]]
    sources = np.array(SOURCES, dtype=object)[points["source"]].tolist()
    return [*named, texts[place].tolist(), sources, points["price"].tolist()]
