"""Copying a ledger into an empty one of any kind: one state of its rows, and every artefact they name.

All rows go in one transaction. It ends only if count and hash of each table are those of the source, so a killed
copy leaves no row. Artefacts go first, each under its hash. Those that arrived stay, and the next copy finds them.
"""

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, Table, column, func, select, table, text, type_coerce
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.types import NullType

from predibot.contracts import Progress, ProgressListener
from predibot.errors import ArtefactPruned, LedgerUnusable, UsageError
from predibot.ledger.care.ledger_stats import KINDS, Kind, content_store, list_named_digests
from predibot.ledger.files.content_store import mark_pruned
from predibot.ledger.read.decided_rows import collation_of
from predibot.ledger.schema.tables import Row
from predibot.ledger.store import Store
from predibot.rows import batches

_BYTES_AT_ONCE = 4 * 2**20
_ARTEFACTS_AT_ONCE = 200
_MADE_HERE = ("artefacts", "changes", "paces", "permits", "services")
"""Not copied: artefacts go one by one, triggers count changes, and processes at work here are not at work there."""
_ROWS_AT_ONCE = 1_000
_FEW_ROWS = 10
_CHARACTERS_AT_ONCE = 2**22
MAX_ROW_BYTES = 32 * 2**20
"""As for an imported row."""

Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class TableSum:
    """A table's number of rows, and the SHA-256 of all of them in the order of their keys."""

    rows: int
    sha256: str


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
    for number, each in enumerate(tables, start=1):
        found[each.name] = copy_table(reading, writing, each)
        listener(Progress("copy rows", number, len(tables), f"copy {each.name}"))
    for number, each in enumerate(tables, start=1):
        there = sum_of_table(writing, each)
        if there != found[each.name]:
            raise LedgerUnusable(
                f"nothing is copied: {each.name} has {found[each.name].rows:,} rows in {source.address} and "
                f"{there.rows:,} in {target.address}, and their hashes differ. `predibot verify --rows` of the first "
                "tells whether it is whole"
            )
        listener(Progress("verify rows", number, len(tables), f"verify {each.name}"))
    return found


def _require_empty(connection: Connection, target: Store) -> None:
    for each in ledger_tables():
        if connection.execute(select(1).select_from(each).limit(1)).first():
            raise UsageError(
                f"nothing is copied: {target.address} has rows already, in the table {each.name}. Name an empty "
                "ledger; `predibot import ledger EXPORT` adds runs to one that has others"
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


def ledger_tables() -> list[Table]:
    """Return the tables that a copy has, each behind those it refers to."""
    return [each for each in Row.metadata.sorted_tables if each.name not in _MADE_HERE]


def sum_of_table(
    connection: Connection, which: Table, put: Callable[[Sequence[Values]], object] | None = None
) -> TableSum:
    """Return count and hash of a table's rows, and give the rows to `put` in batches."""
    n, digest = 0, hashlib.sha256()
    for rows in _read_batches(connection, which):
        n += len(rows)
        # SQLite has no negative zero.
        texts = (repr([0.0 if value == 0.0 and isinstance(value, float) else value for value in row]) for row in rows)
        digest.update("\n".join((*texts, "")).encode("utf-8", "surrogatepass"))
        if put is not None:
            put(rows)
    return TableSum(n, digest.hexdigest())


def copy_table(source: Connection, target: Connection, which: Table) -> TableSum:
    """Copy all rows of a table into an empty one, and return the count and hash of those read."""
    names = [each.name for each in which.columns]
    # Without types: the values are already as our types store them.
    into = table(which.name, *(column(name) for name in names)).insert()
    total = sum_of_table(
        source, which, lambda rows: target.execute(into, [dict(zip(names, row, strict=True)) for row in rows])
    )
    if target.dialect.name == "postgresql":
        _advance_sequence(target, which)
    return total


def _read_batches(connection: Connection, which: Table) -> Iterator[list[Values]]:
    raw = (type_coerce(each, NullType()).label(each.name) for each in which.columns)
    statement = select(*raw).order_by(*_ordered_key(connection, which))
    flags = [index for index, each in enumerate(which.columns) if each.type.python_type is bool]
    with _limit_values(connection):
        # Few at a time, as each may be large.
        result = connection.execute(statement.execution_options(yield_per=_FEW_ROWS))
        rows = (_to_booleans(tuple(row), flags) for row in result)
        yield from batches(rows, tuple, _ROWS_AT_ONCE, _CHARACTERS_AT_ONCE)


@contextmanager
def _limit_values(connection: Connection) -> Iterator[None]:
    """Have SQLite refuse a value longer than any of ours, before it takes memory several times."""
    if connection.dialect.name != "sqlite":
        yield
        return
    driver: Any = connection.connection.driver_connection
    before = driver.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_ROW_BYTES)
    try:
        yield
    finally:
        driver.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, before)


def _ordered_key(connection: Connection, which: Table) -> list[Any]:
    collation = collation_of(connection)
    return [each.collate(collation) if each.type.python_type is str else each for each in which.primary_key]


def _to_booleans(row: Values, flags: Sequence[int]) -> Values:
    if not flags:
        return row
    return tuple(bool(value) if index in flags and value in (0, 1) else value for index, value in enumerate(row))


def _advance_sequence(connection: Connection, which: Table) -> None:
    if which.autoincrement_column is None:
        return
    name = which.autoincrement_column.name
    last = connection.execute(select(func.max(which.c[name]))).scalar()
    if last is not None:
        sequence = text("SELECT setval(pg_get_serial_sequence(:of, :named), :last)")
        connection.execute(sequence, {"of": which.name, "named": name, "last": last})
