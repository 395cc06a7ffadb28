"""Traces and pages of a ledger: those that rows name, and those that are stored, as files or rows."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, Select, func, select

from predibot.errors import UsageError
from predibot.ledger.files.content_store import LONGEST_MARK, PRUNED, ContentStore, Pages, artefacts
from predibot.ledger.files.traces import Traces
from predibot.ledger.store import Store
from predibot.ledger.write.claims import tasks
from predibot.ledger.write.decisions import decisions, sources
from predibot.ledger.write.process_identity import is_gone

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
            found[named[1]] = StoredArtefact(named[1], path.stat().st_size, path)
    return found


def find_unfinished_files(store: Store) -> Iterator[Path]:
    """Yield artefact files that a killed process was writing."""
    return _files(store, ".unfinished-*")


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
