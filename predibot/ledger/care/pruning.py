"""Pruning: old traces are removed and only their hashes stay; no score rests on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from predibot.ledger.care.artefacts import StoredArtefact, find_artefacts, require_nobody_at_work
from predibot.ledger.files.content_store import mark_pruned
from predibot.ledger.store import Store
from predibot.ledger.write.claims import attempts
from predibot.ledger.write.decisions import bots, decisions
from predibot.rows import grouped


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
