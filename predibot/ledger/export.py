"""The ledger as rows for others: by the names things have, not by our row numbers."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Label, Select, case, func, select

from predibot.domain.clock import format_instant
from predibot.ledger.catalogue import events, instruments, markets, run_events
from predibot.ledger.decisions import bets, bots, decisions, fills, forecasts, quotes, sources
from predibot.ledger.marks import observations, resolutions
from predibot.ledger.runs import runs

TABLES = ("decisions", "forecasts", "bets", "fills", "sources", "observations", "resolutions")
"""What `export` writes."""
CANONICAL_TABLES = ("runs", "run_events", "bots", *TABLES[:5], "quotes", *TABLES[5:])
"""What `export --canonical` writes: everything that two equal ledgers must agree on."""

_NOT_CANONICAL = frozenset({"cost_usd", "cost_known_usd", "seconds", "seen_at"})
Row = Mapping[str, Any]


def export_rows(
    connection: Connection, table: str, *, canonical: bool = False, run_key: str | None = None
) -> Iterator[Row]:
    """Yield the rows of a table, instants as text.

    Canonical rows come in the order of their natural key and leave out what may
    differ between two ledgers that hold the same: wall-clock times and costs.

    Args:
        connection: To the ledger.
        table: Its name.
        canonical: Whether the rows are canonical.
        run_key: Only rows of runs that hold or held this key; for tables that belong to runs.
    """
    statement = _STATEMENTS[table]()
    if run_key is not None:
        statement = statement.where(runs.c.key == run_key)
    found = ({name: _plain(value) for name, value in row.items()} for row in connection.execute(statement).mappings())
    if not canonical:
        yield from found
        return
    kept = [{name: value for name, value in row.items() if name not in _NOT_CANONICAL} for row in found]
    yield from sorted(kept, key=lambda row: [(value is not None, str(value)) for value in row.values()])


def export_columns(table: str, *, canonical: bool = False) -> tuple[str, ...]:
    """Return the names of a table's columns, also where it has no rows."""
    names = (column.name for column in _STATEMENTS[table]().selected_columns)
    return tuple(name for name in names if not (canonical and name in _NOT_CANONICAL))


def _plain(value: Any) -> Any:
    return format_instant(value) if isinstance(value, datetime) else value


def _run() -> tuple[Label[Any], Label[Any]]:
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
        *_run(),
        runs.c.recipe,
        runs.c.slot_at,
        runs.c.as_of,
        # Where an archive lies on this machine is not part of what was decided.
        runs.c.venue_name,
        runs.c.game,
        runs.c.seed,
        runs.c.digest,
        runs.c.overrides_json,
        runs.c.passed_over_json,
    )


def _run_events() -> Select[Any]:
    return (
        select(*_run(), run_events.c.position, events.c.event_id, run_events.c.event_json)
        .join(runs, runs.c.id == run_events.c.run_id)
        .join(events, events.c.id == run_events.c.event_row)
        .order_by(run_events.c.run_id, run_events.c.position)
    )


def _bots() -> Select[Any]:
    kept = (bots.c.strategy, bots.c.arguments_json, bots.c.source_sha256, bots.c.model, bots.c.knowledge_cutoff)
    columns = (bots.c.name.label("bot"), *kept)
    return select(*_run(), *columns).join(runs, runs.c.id == bots.c.run_id).order_by(bots.c.id)


def _decision() -> tuple[Any, ...]:
    return (*_run(), bots.c.name.label("bot"), decisions.c.subject_kind, decisions.c.subject_id)


def _decisions() -> Select[Any]:
    return (
        select(
            *_decision(),
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
        )
        .join(runs, runs.c.id == decisions.c.run_id)
        .join(bots, bots.c.id == decisions.c.bot_id)
        .order_by(decisions.c.id)
    )


def _of_decision(table: Any, *columns: Any) -> Select[Any]:
    """Return the statement of a table whose rows belong to a decision."""
    return (
        select(*_decision(), *columns)
        .select_from(table)
        .join(decisions, decisions.c.id == table.c.decision_id)
        .join(runs, runs.c.id == decisions.c.run_id)
        .join(bots, bots.c.id == decisions.c.bot_id)
        .order_by(table.c.decision_id)
    )


def _forecasts() -> Select[Any]:
    columns = (forecasts.c.probability, forecasts.c.confidence, forecasts.c.rationale, forecasts.c.question_sha256)
    return _of_decision(forecasts, markets.c.market_id, *columns).join(markets, markets.c.id == forecasts.c.market_row)


def _bets() -> Select[Any]:
    columns = (bets.c.asked_usd, bets.c.booked_usd, bets.c.price_yes, bets.c.price_source)
    return _of_decision(bets, markets.c.market_id, *columns).join(markets, markets.c.id == bets.c.market_row)


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
    )
    return _of_decision(fills, *columns).join(instruments, instruments.c.id == fills.c.instrument_row)


def _quotes() -> Select[Any]:
    columns = [column for column in quotes.c if column.name not in ("decision_id", "market_row")]
    return _of_decision(quotes, markets.c.market_id, *columns).join(markets, markets.c.id == quotes.c.market_row)


def _sources() -> Select[Any]:
    columns = [column for column in sources.c if column.name != "decision_id"]
    return _of_decision(sources, *columns).order_by(sources.c.number)


def _observations() -> Select[Any]:
    return (
        select(
            instruments.c.venue,
            instruments.c.kind.label("instrument_kind"),
            instruments.c.instrument_id,
            markets.c.market_id,
            instruments.c.side,
            observations.c.at,
            observations.c.source,
            observations.c.price,
        )
        .join(instruments, instruments.c.id == observations.c.instrument_row)
        .outerjoin(markets, markets.c.id == instruments.c.market_row)
        .order_by(observations.c.instrument_row, observations.c.at, observations.c.source)
    )


def _resolutions() -> Select[Any]:
    columns = [column for column in resolutions.c if column.name != "market_row"]
    return (
        select(markets.c.venue, markets.c.market_id, *columns)
        .join(markets, markets.c.id == resolutions.c.market_row)
        .order_by(resolutions.c.market_row, resolutions.c.revision)
    )


_STATEMENTS: Mapping[str, Callable[[], Select[Any]]] = {
    "runs": _runs,
    "run_events": _run_events,
    "bots": _bots,
    "decisions": _decisions,
    "forecasts": _forecasts,
    "bets": _bets,
    "fills": _fills,
    "quotes": _quotes,
    "sources": _sources,
    "observations": _observations,
    "resolutions": _resolutions,
}
