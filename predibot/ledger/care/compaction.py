"""Compaction: unnamed artefacts are removed, and the database gives back unused room."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select

from predibot.ledger.care.artefacts import (
    KINDS,
    find_artefacts,
    find_unfinished_files,
    list_named_digests,
    require_nobody_at_work,
)
from predibot.ledger.care.ledger_stats import database_bytes
from predibot.ledger.files.content_store import artefacts
from predibot.ledger.store import Store

_AT_ONCE = 500


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
