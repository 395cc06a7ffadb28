"""What a ledger stores and how much room it takes, pruned of what is old, and compacted of what nothing names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sqlalchemy import Connection, Select, delete, func, select
from sqlalchemy.exc import OperationalError

from predibot.errors import UsageError
from predibot.ledger.files.content_store import LONGEST_MARK, PRUNED, ContentStore, Pages, artefacts, mark_pruned
from predibot.ledger.files.traces import Traces
from predibot.ledger.schema.column_types import from_microseconds
from predibot.ledger.schema.packed_points import POINT
from predibot.ledger.schema.tables import Row
from predibot.ledger.store import Store
from predibot.ledger.write.claims import attempts, tasks
from predibot.ledger.write.decisions import bots, decisions, sources
from predibot.ledger.write.prices_and_resolutions import price_paths, resolutions
from predibot.ledger.write.process_identity import is_gone
from predibot.ledger.write.runs import runs
from predibot.rows import grouped

Kind = Literal["trace", "page"]
KINDS: tuple[Kind, ...] = ("trace", "page")


def list_named_digests(connection: Connection, kind: Kind) -> list[str]:
    """Return the hash of every trace or page that a row names, each once, in order."""
    statement: Select[tuple[str | None]]
    if kind == "trace":
        statement = select(decisions.c.trace_sha256).where(decisions.c.trace_sha256.is_not(None))
    else:
        statement = select(sources.c.sha256).where(sources.c.kind == "page", sources.c.sha256.is_not(None))
    return sorted(set(map(str, connection.execute(statement).scalars())))


def content_store(store: Store, kind: Kind) -> ContentStore:
    """Return the content store of a kind."""
    return Traces(store).files if kind == "trace" else Pages(store).files


_FILE = re.compile(r"([0-9a-f]{64})\.(jsonl|txt)")


@dataclass(frozen=True, slots=True)
class StoredArtefact:
    """A stored artefact."""

    sha256: str
    n_bytes: int
    """Compressed for a row."""
    file: Path | None
    """None for a row."""


def find_artefacts(connection: Connection, store: Store) -> Mapping[str, StoredArtefact]:
    """Return every stored artefact by hash, without pruned ones."""
    head, size = func.substr(artefacts.c.content, 1, len(PRUNED)), func.length(artefacts.c.content)
    rows = connection.execute(select(artefacts.c.sha256, size, head))
    found = {
        sha256: StoredArtefact(sha256, n_bytes, None)
        for sha256, n_bytes, begins in rows
        if begins != PRUNED or n_bytes > LONGEST_MARK
    }
    for path in _files(store, "*"):
        if (named := _FILE.fullmatch(path.name)) and not path.is_symlink():
            # Another program may prune it at any moment.
            with suppress(FileNotFoundError):
                found[named[1]] = StoredArtefact(named[1], path.stat().st_size, path)
    return found


def _files(store: Store, pattern: str) -> Iterator[Path]:
    if store.files is not None and store.files.is_dir():
        yield from (path for path in store.files.rglob(pattern) if path.is_file())


def require_nobody_at_work(connection: Connection, store: Store, now: datetime) -> None:
    """Raise `UsageError` while decisions are made: rows name new artefacts only afterwards.

    No decision begins before the connection's writing transaction ends.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE tasks IN SHARE MODE")
    held = select(tasks.c.owner, tasks.c.lease_until).where(tasks.c.status == "claimed", tasks.c.lease_until > now)
    alive = [until for owner, until in connection.execute(held) if not is_gone(owner)]
    if alive:
        raise UsageError(
            f"decisions are being made with {store.address}, {len(alive)} now, and no row names yet what is kept for "
            "them. Run the same command again when that is done"
        )


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


_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class OldTraces:
    """The old traces of one bot."""

    bot: str
    traces: int
    n_bytes: int
    oldest_at: datetime
    newest_at: datetime


@dataclass(frozen=True, slots=True)
class Pruning:
    """What was pruned, or would be."""

    before: datetime
    bots: tuple[OldTraces, ...]
    traces: int
    """Each counted once, though several decisions may name it."""
    n_bytes: int
    done: bool


def prunable_traces(store: Store, *, before: datetime) -> Pruning:
    """Return what pruning would remove: traces that no decision of that instant or later names."""
    with store.read() as connection:
        return _summarize(_old_traces(connection, store, before), before, done=False)


def prune_traces(store: Store, *, before: datetime, now: datetime) -> Pruning:
    """Remove such traces, and store when; their decisions keep the hash. UsageError is raised while any is made.

    If this is killed, either nothing was pruned, or all traces are marked and the next call removes the files left.
    """
    with store.write(durable=True) as connection:
        require_nobody_at_work(connection, store, now)
        found = _old_traces(connection, store, before)
        marked = {stored.sha256 for _, _, stored in found}
        mark_pruned(connection, sorted(marked), at=now)
    # Where decisions are made again, the next call removes them: one of these may have such a trace too.
    with suppress(UsageError), store.write() as connection:
        require_nobody_at_work(connection, store, now)
        for _, _, stored in _old_traces(connection, store, before):
            if stored.file is not None and stored.sha256 in marked:
                stored.file.unlink(missing_ok=True)
    return _summarize(found, before, done=True)


def _old_traces(connection: Connection, store: Store, before: datetime) -> list[tuple[str, datetime, StoredArtefact]]:
    """Return each old trace with a bot that names it, and when."""
    # By the machine's clock: the decision's own instant is long ago in a replay.
    made_at = func.max(func.coalesce(attempts.c.ended_at, attempts.c.started_at))
    rows = connection.execute(
        select(decisions.c.trace_sha256, bots.c.name, made_at)
        .join(attempts, attempts.c.task_id == decisions.c.task_id)
        .join(bots, bots.c.id == decisions.c.bot_id)
        .where(decisions.c.trace_sha256.is_not(None))
        .group_by(decisions.c.trace_sha256, bots.c.name)
    ).all()
    young = {sha256 for sha256, _, at in rows if at >= before}
    there = find_artefacts(connection, store)
    return [(bot, at, there[sha256]) for sha256, bot, at in rows if sha256 in there and sha256 not in young]


def _summarize(found: Sequence[tuple[str, datetime, StoredArtefact]], before: datetime, *, done: bool) -> Pruning:
    each_once = {stored.sha256: stored.n_bytes for _, _, stored in found}
    by_bot = grouped((bot, (at, stored.n_bytes)) for bot, at, stored in found)
    of_bots = (
        OldTraces(bot, len(own), sum(size for _, size in own), min(own)[0], max(own)[0])
        for bot, own in sorted(by_bot.items())
    )
    return Pruning(before, tuple(of_bots), len(each_once), sum(each_once.values()), done)


@dataclass(frozen=True, slots=True)
class Compaction:
    """What was removed, and the database's size before and after."""

    artefacts: int
    """Traces and pages that no row named: of tries without a result, or of a killed copy."""
    artefact_bytes: int
    unfinished: int
    """Files that a killed process was writing."""
    bytes_before: int
    bytes_after: int


def compact(store: Store, *, now: datetime) -> Compaction:
    """Remove what no row names, and have the database give back unused room.

    UsageError is raised while decisions are made, LedgerUnusable if the ledger is in use for long or not writable.
    """
    before = store.run_read(database_bytes)
    unfinished = 0
    with store.write(durable=True) as connection:
        require_nobody_at_work(connection, store, now)
        named = {digest for kind in KINDS for digest in list_named_digests(connection, kind)}
        orphans = [each for each in find_artefacts(connection, store).values() if each.sha256 not in named]
        rows = connection.execute(select(artefacts.c.sha256)).scalars().all()
        gone = [digest for digest in rows if digest not in named]
        for start in range(0, len(gone), _AT_ONCE):
            connection.execute(delete(artefacts).where(artefacts.c.sha256.in_(gone[start : start + _AT_ONCE])))
        for each in orphans:
            if each.file is not None:
                each.file.unlink(missing_ok=True)
        # What a killed process was writing.
        for path in _files(store, ".unfinished-*"):
            path.unlink(missing_ok=True)
            unfinished += 1
    store.give_back_room()
    return Compaction(
        len(orphans), sum(each.n_bytes for each in orphans), unfinished, before, store.run_read(database_bytes)
    )
