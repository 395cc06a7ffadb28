"""Size of a ledger: how many of each kind of thing, their bytes, the oldest and the newest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import OperationalError

from predibot.ledger.care.artefacts import KINDS, Kind, StoredArtefact, find_artefacts, list_named_digests
from predibot.ledger.files.content_store import artefacts
from predibot.ledger.schema.column_types import from_microseconds
from predibot.ledger.schema.packed_points import POINT
from predibot.ledger.schema.tables import Row
from predibot.ledger.store import Store
from predibot.ledger.write.claims import attempts
from predibot.ledger.write.decisions import decisions, sources
from predibot.ledger.write.prices_and_resolutions import price_paths, resolutions
from predibot.ledger.write.runs import runs

_TABLES: Mapping[str, tuple[str, ...]] = {
    "runs": ("runs", "run_events", "bots"),
    "decisions": ("decisions", "tasks", "attempts", "forecasts", "orders", "fills", "quotes", "sources", "labels"),
    "observations": ("price_paths",),
    "resolutions": ("resolutions",),
    "accounts": ("accounts", "journal", "valuations", "marks"),
    "events": ("events", "subjects"),
    "markets": ("markets", "instruments"),
}
"""The tables of each kind of thing; the first has one row for each."""
_FIRST_AT = 2
"""Where the instant of a path's first point begins, counted from 1: behind the version."""


@dataclass(frozen=True, slots=True)
class KindStats:
    """Count, size and time span of one kind of thing."""

    name: str
    rows: int
    n_bytes: int | None
    """With indexes and what belongs to them; None where the database does not tell."""
    oldest_at: datetime | None = None
    newest_at: datetime | None = None

    @property
    def bytes_each(self) -> float | None:
        """Return the bytes of one; None where there is none, or the database does not tell."""
        return None if not self.rows or self.n_bytes is None else self.n_bytes / self.rows


@dataclass(frozen=True, slots=True)
class LedgerStats:
    """The size of a ledger."""

    held: tuple[KindStats, ...]
    pruned_traces: int
    database_bytes: int
    unused_bytes: int | None
    """Within a SQLite file; None for a server, which reuses such room by itself."""


def ledger_stats(store: Store) -> LedgerStats:
    """Return the size of a ledger."""
    with store.read() as connection:
        sizes = table_bytes(connection)
        there = find_artefacts(connection, store)
        traces = list_named_digests(connection, "trace")
        known = set(connection.execute(select(artefacts.c.sha256)).scalars())
        held = [_table_stats(connection, name, sizes) for name in _TABLES]
        held[2:2] = [_artefact_stats(connection, kind, there) for kind in KINDS]
        others = [
            name for name in Row.metadata.tables if name not in {each for own in _TABLES.values() for each in own}
        ]
        own = [name for name in others if name != "artefacts"]
        held.append(
            KindStats("everything else", sum(_count_rows(connection, name) for name in own), _sum_bytes(own, sizes))
        )
        return LedgerStats(
            tuple(held),
            sum(digest in known and digest not in there for digest in traces),
            database_bytes(connection),
            unused_bytes(connection),
        )


def _table_stats(connection: Connection, name: str, sizes: Mapping[str, int] | None) -> KindStats:
    tables = _TABLES[name]
    n_bytes = _sum_bytes(tables, sizes)
    if name == "observations":
        return _observation_stats(connection, n_bytes)
    at = {"runs": runs.c.slot_at, "decisions": decisions.c.decided_at, "resolutions": resolutions.c.seen_at}.get(name)
    ends = (None, None) if at is None else connection.execute(select(func.min(at), func.max(at))).one()
    return KindStats(name, _count_rows(connection, tables[0]), n_bytes, *ends)


def _observation_stats(connection: Connection, n_bytes: int | None) -> KindStats:
    length = func.length(price_paths.c.points)
    last_at = func.substr(price_paths.c.points, length - POINT.itemsize + 1, 8)
    first_at = func.substr(price_paths.c.points, _FIRST_AT, 8)
    # A path without points has only the version byte.
    statement = select(length, first_at, last_at).where(length > POINT.itemsize)
    rows = connection.execute(statement).all()
    if not rows:
        return KindStats("observations", 0, n_bytes)
    points = sum(n // POINT.itemsize for n, _, _ in rows)
    first, last = (np.frombuffer(b"".join(row[column] for row in rows), dtype="<i8") for column in (1, 2))
    return KindStats(
        "observations", points, n_bytes, from_microseconds(int(first.min())), from_microseconds(int(last.max()))
    )


def _artefact_stats(connection: Connection, kind: Kind, there: Mapping[str, StoredArtefact]) -> KindStats:
    found = [there[digest] for digest in list_named_digests(connection, kind) if digest in there]
    at = func.coalesce(attempts.c.ended_at, attempts.c.started_at)
    made = select(func.min(at), func.max(at)).join(decisions, decisions.c.task_id == attempts.c.task_id)
    if kind == "trace":
        made = made.where(decisions.c.trace_sha256.is_not(None))
    else:
        read = select(1).where(sources.c.decision_id == decisions.c.id, sources.c.kind == "page")
        made = made.where(read.exists())
    ends: Sequence[Any] = connection.execute(made).one() if found else (None, None)
    return KindStats(f"{kind}s", len(found), sum(each.n_bytes for each in found), *ends)


def _count_rows(connection: Connection, table: str) -> int:
    return int(connection.execute(select(func.count()).select_from(Row.metadata.tables[table])).scalar_one())


def _sum_bytes(tables: Sequence[str], sizes: Mapping[str, int] | None) -> int | None:
    return None if sizes is None else sum(sizes.get(name, 0) for name in tables)


_OF_A_FILE = (
    "SELECT m.tbl_name, SUM(s.pgsize) FROM dbstat AS s JOIN sqlite_master AS m ON m.name = s.name"
    " WHERE s.aggregate = 1 GROUP BY m.tbl_name"
)


def table_bytes(connection: Connection) -> Mapping[str, int] | None:
    """Return the bytes of each table with its indexes; None where SQLite was built without `dbstat`."""
    if connection.dialect.name == "postgresql":
        names = Row.metadata.tables
        sizes = ", ".join(f"pg_total_relation_size('{name}')" for name in names)
        return dict(zip(names, map(int, connection.exec_driver_sql(f"SELECT {sizes}").one()), strict=True))
    try:
        return {name: int(size) for name, size in connection.exec_driver_sql(_OF_A_FILE)}
    except OperationalError:
        return None


def database_bytes(connection: Connection) -> int:
    """Return the bytes of all tables on a server, or of the whole file with its unused room."""
    if connection.dialect.name == "postgresql":
        return sum((table_bytes(connection) or {}).values())
    return _page_bytes(connection, "page_count")


def unused_bytes(connection: Connection) -> int | None:
    """Return the unused bytes in a SQLite file, which `ledger compact` gives back; None for a server."""
    return None if connection.dialect.name == "postgresql" else _page_bytes(connection, "freelist_count")


def _page_bytes(connection: Connection, which: str) -> int:
    count, size = (connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in (which, "page_size"))
    return int(count) * int(size)
