"""Memos: what was worked out from the ledger, found again while nothing that it was made of has changed."""

import hashlib
import json

from sqlalchemy import Connection, delete, func, select

from predibot.ledger.read.packed_runs import changes
from predibot.ledger.schema.tables import MemoRow
from predibot.ledger.schema.upsert import insert_one, table_of
from predibot.ledger.seal import HEAD_BYTES, seal_of
from predibot.ledger.write.runs import runs

memos = table_of(MemoRow)

KEPT = 16
"""So many are kept: an evaluation as of now is never asked for again."""


def memo_key(connection: Connection, asked: object) -> str | None:
    """Return what the answer to a question is kept under, which is another one after any change of the ledger.

    None where something is not counted, because somebody removed a count, or where nothing that is kept is believed.

    Args:
        connection: A transaction that sees a single state, the one that is asked.
        asked: All else that the answer depends on, as JSON can hold it.
    """
    rows = connection.execute(select(changes.c.scope, changes.c.number).order_by(changes.c.scope))
    counts = {scope: number for scope, number in rows}
    if not counts.keys() >= {0, *connection.execute(select(runs.c.id)).scalars()}:
        return None
    if seal_of(connection) is None:
        return None
    return hashlib.sha256(json.dumps([asked, list(counts.items())]).encode()).hexdigest()


def stored_memo(connection: Connection, key: str) -> str | None:
    """Return what this user keeps under a key, or None."""
    kept, seal = connection.execute(select(memos.c.content).where(memos.c.key == key)).scalar(), seal_of(connection)
    if seal is None or not isinstance(kept, str):
        return None
    try:
        content = seal.opened(key, bytes.fromhex(kept[: 2 * HEAD_BYTES]) + kept[2 * HEAD_BYTES :].encode())
    except ValueError:
        return None
    return None if content is None else content.decode()


def keep_memo(connection: Connection, key: str, content: str) -> None:
    """Keep a text under a key, in place of what could not be read there, and forget the oldest ones."""
    seal = seal_of(connection)
    if seal is None:
        return
    sealed = seal.sealed(key, content.encode())
    connection.execute(delete(memos).where(memos.c.key == key))
    insert_one(connection, MemoRow, {"key": key, "content": sealed[:HEAD_BYTES].hex() + content})
    newest = select(func.max(memos.c.id)).scalar_subquery()
    connection.execute(delete(memos).where(memos.c.id <= newest - KEPT))
