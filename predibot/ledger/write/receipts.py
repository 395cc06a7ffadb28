"""Receipts of runs: the Merkle root of a run's decisions after a call, another where they changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, func, insert, select, update

from predibot.ledger.merkle_tree import root_hash
from predibot.ledger.schema.packed_receipts import Leaf, pack_leaves, unpack_leaves
from predibot.ledger.schema.tables import ReceiptRow
from predibot.ledger.schema.upsert import table_of
from predibot.ledger.write.runs import runs

receipts = table_of(ReceiptRow)


@dataclass(frozen=True, slots=True)
class Receipt:
    """A run's decisions at one instant, as one hash."""

    number: int
    form: int
    root: str
    made_at: datetime
    leaves: tuple[Leaf, ...]

    @property
    def decisions(self) -> int:
        """Return the number of decisions."""
        return len(self.leaves)


def root_of(leaves: Sequence[Leaf]) -> str:
    """Return the root over leaves in hexadecimal digits."""
    return root_hash([bytes.fromhex(leaf.sha256) for leaf in leaves]).hex()


def list_runs_with_receipts(connection: Connection, key: str | None = None) -> Sequence[Row[Any]]:
    """Return all runs, void ones too, or those with a key, with their numbers of receipts; oldest first.

    A key that was voided and decided again is another run. `receipted` is as in the table.
    """
    count = select(func.count()).where(receipts.c.run_id == runs.c.id).scalar_subquery()
    is_void = runs.c.voided_at.is_not(None).label("void")
    statement: Select[Any] = select(*runs.c["id", "key", "created_at"], is_void, runs.c.receipted)
    chosen = statement.add_columns(count.label("receipts")).order_by(runs.c.id)
    return connection.execute(chosen if key is None else chosen.where(runs.c.key == key)).all()


def read_receipts(connection: Connection, run_id: int) -> tuple[Receipt, ...]:
    """Return the receipts of a run, oldest first."""
    rows = connection.execute(select(receipts).where(receipts.c.run_id == run_id).order_by(receipts.c.number))
    return tuple(Receipt(row.number, row.form, row.root, row.made_at, unpack_leaves(row.leaves_packed)) for row in rows)


def lock_run(connection: Connection, run_id: int) -> str | None:
    """Let no other transaction add a receipt to a run before this one ends; return its `receipted`."""
    of_run = select(runs.c.receipted).where(runs.c.id == run_id)
    receipted: str | None = connection.execute(of_run.with_for_update()).scalar_one()
    return receipted


def add_receipt(
    connection: Connection, run_id: int, last: Receipt | None, leaves: Sequence[Leaf], *, form: int, now: datetime
) -> Receipt:
    """Store a receipt over leaves in a locked run, unless it equals the last one, and return the newest."""
    root = root_of(leaves)
    if last is not None and (last.form, last.root) == (form, root):
        return last
    receipt = Receipt(1 if last is None else last.number + 1, form, root, now, tuple(leaves))
    row = {"run_id": run_id, "number": receipt.number, "form": form, "root": root, "made_at": now}
    connection.execute(insert(receipts), [{**row, "leaves_packed": pack_leaves(leaves)}])
    connection.execute(
        update(runs).where(runs.c.id == run_id, runs.c.receipted.is_distinct_from("here")).values(receipted="here")
    )
    return receipt
