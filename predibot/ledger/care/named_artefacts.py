"""The traces and pages that the rows of a ledger name, and the place of each kind."""

from typing import Literal

from sqlalchemy import Connection, Select, select

from predibot.ledger.files.content_store import ContentStore, Pages
from predibot.ledger.files.traces import Traces
from predibot.ledger.store import Store
from predibot.ledger.write.decisions import decisions, sources

Kind = Literal["trace", "page"]
KINDS: tuple[Kind, ...] = ("trace", "page")


def named_digests(connection: Connection, kind: Kind) -> list[str]:
    """Return the hash of every trace or page that a row names, each once, in their order."""
    statement: Select[tuple[str | None]]
    if kind == "trace":
        statement = select(decisions.c.trace_sha256).where(decisions.c.trace_sha256.is_not(None))
    else:
        statement = select(sources.c.sha256).where(sources.c.kind == "page", sources.c.sha256.is_not(None))
    return sorted(set(map(str, connection.execute(statement).scalars())))


def content_store(store: Store, kind: Kind) -> ContentStore:
    """Return where the artefacts of a kind are."""
    return Traces(store).files if kind == "trace" else Pages(store).files
