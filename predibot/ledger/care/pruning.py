"""Pruning and compaction: old traces go but for their hashes, what no row names goes, and unused room is given back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, select

from predibot.ledger.care.artefacts import (
    KINDS,
    StoredArtefact,
    find_artefacts,
    find_unfinished_files,
    list_named_digests,
    require_nobody_at_work,
)
from predibot.ledger.care.ledger_stats import database_bytes
from predibot.ledger.files.content_store import artefacts, mark_pruned
from predibot.ledger.store import Store
from predibot.ledger.write.claims import attempts
from predibot.ledger.write.decisions import bots, decisions
from predibot.rows import grouped

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
        mark_pruned(connection, sorted({stored.sha256 for _, _, stored in found}), at=now)
    for _, _, stored in found:
        if stored.file is not None:
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
        for path in find_unfinished_files(store):
            path.unlink(missing_ok=True)
            unfinished += 1
    store.give_back_room()
    return Compaction(
        len(orphans), sum(each.n_bytes for each in orphans), unfinished, before, store.run_read(database_bytes)
    )
