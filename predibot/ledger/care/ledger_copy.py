"""Copying a ledger into an empty one of any kind: one state of its rows, and every artefact they name.

All rows go in one transaction. It ends only if count and hash of each table are those of the source, so a killed
copy leaves no row. Artefacts go first, each under its hash. Those that arrived stay, and the next copy finds them.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, text
from sqlalchemy.exc import DataError, IntegrityError

from predibot.contracts import Progress, ProgressListener
from predibot.errors import ArtefactPruned, LedgerUnusable, UsageError
from predibot.ledger.care.artefacts import KINDS, Kind, content_store, list_named_digests
from predibot.ledger.care.table_rows import TableSum, copy_table, first_with_rows, ledger_tables, sum_of_table
from predibot.ledger.files.content_store import mark_pruned
from predibot.ledger.store import Store

_BYTES_AT_ONCE = 4 * 2**20
_ARTEFACTS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class ArtefactCount:
    """What became of the traces or pages that rows name."""

    named: int
    copied: int
    """Read again from the copy, with the right hash."""
    pruned: int
    """Pruned in the source before; the copy says so too."""
    missing: tuple[str, ...]
    """Why each artefact is missing in the copy."""


@dataclass(frozen=True, slots=True)
class LedgerCopy:
    """What was copied, and compared in both ledgers."""

    tables: Mapping[str, TableSum]
    artefacts: Mapping[Kind, ArtefactCount]


def copy_ledger(source: Store, target: Store, listener: ProgressListener) -> LedgerCopy:
    """Copy a ledger as it is when this begins, even while it is written to, into an empty one of this version.

    Raises:
        UsageError: If the target has rows.
        LedgerUnusable: If one of them cannot be used, or the source holds rows that are not predibot's.
    """
    target.run_read(lambda connection: _require_empty(connection, target))
    with source.read() as reading:
        # Artefacts are written before the rows that name them, so all are there by now.
        artefacts = {kind: _copy_artefacts(reading, kind, source, target, listener) for kind in KINDS}
        if target.files is not None:
            # One sync for all: a sync of each would take longer than all the rest.
            os.sync()
        try:
            with target.write(durable=True) as writing:
                tables = _copy_rows(reading, writing, source, target, listener)
        except (IntegrityError, DataError) as error:
            raise LedgerUnusable(
                f"nothing is copied: {source.address} holds what predibot does not write: "
                f"{str(error.orig).strip().splitlines()[0]}. `predibot verify --rows` lists all of it"
            ) from error
    return LedgerCopy(tables, artefacts)


def _copy_rows(
    reading: Connection, writing: Connection, source: Store, target: Store, listener: ProgressListener
) -> Mapping[str, TableSum]:
    tables = ledger_tables()
    if writing.dialect.name == "postgresql":
        # Writers wait, so that the verified rows are the copied ones; readers go on.
        writing.execute(text(f"LOCK TABLE {', '.join(each.name for each in tables)} IN EXCLUSIVE MODE"))
    _require_empty(writing, target)
    found = {}
    for number, table in enumerate(tables, start=1):
        found[table.name] = copy_table(reading, writing, table)
        listener(Progress("copy rows", number, len(tables), f"copy {table.name}"))
    for number, table in enumerate(tables, start=1):
        there = sum_of_table(writing, table)
        if there != found[table.name]:
            raise LedgerUnusable(
                f"nothing is copied: {table.name} has {found[table.name].rows:,} rows in {source.address} and "
                f"{there.rows:,} in {target.address}, and their hashes differ. `predibot verify --rows` of the first "
                "tells whether it is whole"
            )
        listener(Progress("verify rows", number, len(tables), f"verify {table.name}"))
    return found


def _require_empty(connection: Connection, target: Store) -> None:
    if (name := first_with_rows(connection)) is not None:
        raise UsageError(
            f"nothing is copied: {target.address} has rows already, in the table {name}. Name an empty ledger; "
            "`predibot import ledger EXPORT` adds runs to one that has others"
        )


def _copy_artefacts(
    reading: Connection, kind: Kind, source: Store, target: Store, listener: ProgressListener
) -> ArtefactCount:
    before, after = content_store(source, kind), content_store(target, kind)
    digests = list_named_digests(reading, kind)
    missing, pruned = list[str](), list[str]()
    waiting, kept = list[bytes](), list[str]()
    for number, digest in enumerate(digests, start=1):
        try:
            waiting.append(before.read(digest))
        except ArtefactPruned as gone:
            pruned.append(digest)
            target.run_write(partial(mark_pruned, digests=[digest], at=gone.pruned_at))
        except UsageError as error:
            missing.append(str(error))
        is_full = len(waiting) >= _ARTEFACTS_AT_ONCE or sum(map(len, waiting)) >= _BYTES_AT_ONCE
        if is_full or number == len(digests):
            kept += after.keep_all(waiting)
            waiting = []
        listener(Progress(f"copy {kind}s", number, len(digests)))
    for number, digest in enumerate(kept, start=1):
        try:
            after.read(digest)
        except UsageError as error:
            raise LedgerUnusable(
                f"nothing is copied: {error}. Look at the disk, and run the same command again"
            ) from error
        listener(Progress(f"verify {kind}s", number, len(kept)))
    return ArtefactCount(len(digests), len(kept), len(pruned), tuple(missing))
