"""Pruning: old traces are removed and known by their hash only; nothing that a score rests on is touched."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from predibot.ledger.care.artefacts import StoredArtefact, require_nobody_at_work, stored_artefacts
from predibot.ledger.files.content_store import mark_pruned
from predibot.ledger.store import Store
from predibot.ledger.write.claims import attempts
from predibot.ledger.write.decisions import bots, decisions


@dataclass(frozen=True, slots=True)
class OldTraces:
    """The traces of one bot that are older than was asked."""

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
    """Each once, though several decisions may name it."""
    n_bytes: int
    done: bool


@dataclass(frozen=True, slots=True)
class _Old:
    bot: str
    at: datetime
    stored: StoredArtefact


def prunable_traces(store: Store, *, before: datetime) -> Pruning:
    """Return what pruning would remove: traces that no decision of that instant or later names."""
    with store.read() as connection:
        return _pruning(_old(connection, store, before), before, done=False)


def prune_traces(store: Store, *, before: datetime, now: datetime) -> Pruning:
    """Remove such traces, and write down when; their decisions keep the hash.

    Killed meanwhile, all of them are as they were, or marked and as far as they are still there removed by the next
    call.

    Raises:
        UsageError: If decisions are being made.
        LedgerUnusable: If the ledger cannot be written.
    """
    with store.write(durable=True) as connection:
        require_nobody_at_work(connection, store, now)
        found = _old(connection, store, before)
        mark_pruned(connection, sorted({each.stored.sha256 for each in found}), at=now)
    for each in found:
        if each.stored.file is not None:
            each.stored.file.unlink(missing_ok=True)
    return _pruning(found, before, done=True)


def _old(connection: Connection, store: Store, before: datetime) -> list[_Old]:
    """Return old traces that are there, once for each bot that has one."""
    # By the clock of the machine: in a replay a decision itself is of long ago.
    made_at = func.max(func.coalesce(attempts.c.ended_at, attempts.c.started_at))
    rows = connection.execute(
        select(decisions.c.trace_sha256, bots.c.name, made_at)
        .join(attempts, attempts.c.task_id == decisions.c.task_id)
        .join(bots, bots.c.id == decisions.c.bot_id)
        .where(decisions.c.trace_sha256.is_not(None))
        .group_by(decisions.c.trace_sha256, bots.c.name)
    ).all()
    young = {sha256 for sha256, _, at in rows if at >= before}
    there = stored_artefacts(connection, store)
    return [_Old(bot, at, there[sha256]) for sha256, bot, at in rows if sha256 in there and sha256 not in young]


def _pruning(found: Sequence[_Old], before: datetime, *, done: bool) -> Pruning:
    each_once = {each.stored.sha256: each.stored.n_bytes for each in found}
    by_bot: dict[str, list[_Old]] = {}
    for each in found:
        by_bot.setdefault(each.bot, []).append(each)
    of_bots = (
        OldTraces(
            bot,
            len(own),
            sum(each.stored.n_bytes for each in own),
            min(each.at for each in own),
            max(each.at for each in own),
        )
        for bot, own in sorted(by_bot.items())
    )
    return Pruning(before, tuple(of_bots), len(each_once), sum(each_once.values()), done)
