"""Receipts of runs and of the ledger.

A run's receipt covers what its bots said. One of the ledger covers the rows written since the one before it, whose root
it includes: prices, resolutions, accounts and all else that goes on later. A row is covered once and for good, so that
no later receipt hides a change.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import rfc8785
from sqlalchemy import Connection, Row, Select, bindparam, func, insert, select, text, tuple_, update

from predibot.domain.clock import format_instant
from predibot.ledger.merkle_tree import leaf_hash, root_hash
from predibot.ledger.schema.column_types import Instant, from_microseconds, to_microseconds
from predibot.ledger.schema.packed_receipts import (
    CHECK_DIGITS,
    DIGEST_DIGITS,
    Key,
    Leaf,
    Parts,
    pack_leaves,
    pack_rows,
    unpack_leaves,
    unpack_rows,
)
from predibot.ledger.schema.receipted_rows import PARTS, PRICES, RowPart
from predibot.ledger.schema.tables import POINT_BYTES, InstrumentRow, LedgerReceiptRow, PricePathRow, ReceiptRow
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


ledger_receipts = table_of(LedgerReceiptRow)
_paths, _instruments = table_of(PricePathRow), table_of(InstrumentRow)

LEDGER_FORM = 1
"""The current form of leaves."""
_RECEIPTING = 7_305_991_203
_LONGEST_TEXT = 1_000
_SAFE = 2**53
_AT_ONCE = 300


@dataclass(frozen=True, slots=True)
class LedgerReceipt:
    """A receipt over the rows written since the one before."""

    number: int
    form: int
    root: str
    made_at: datetime
    parts: Parts
    totals: Mapping[str, int]
    """How many rows each part had then, for prices how many points; an equal number means that none came since."""

    @property
    def size(self) -> int:
        """Return how many rows it covers; those of a price path count once."""
        return sum(map(len, self.parts.values()))


def ledger_receipts_of(connection: Connection) -> Iterator[LedgerReceipt]:
    """Yield the receipts of a ledger, oldest first, each unpacked when it is needed."""
    return map(_to_receipt, connection.execute(select(ledger_receipts).order_by(ledger_receipts.c.number)))


def last_ledger_receipt(connection: Connection) -> LedgerReceipt | None:
    """Return the newest receipt of a ledger, None where there is none."""
    newest = select(ledger_receipts).order_by(ledger_receipts.c.number.desc()).limit(1)
    return next(map(_to_receipt, connection.execute(newest)), None)


def _to_receipt(row: Any) -> LedgerReceipt:
    return LedgerReceipt(row.number, row.form, row.root, row.made_at, *unpack_rows(row.rows_packed))


def add_ledger_receipt(
    connection: Connection, *, now: datetime, changed: Mapping[str, Collection[Key]] | None = None
) -> LedgerReceipt | None:
    """Store a receipt of all rows that have none, and return it; None if every row has one.

    Rows by part that a command has just `changed` are covered again.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _RECEIPTING})
    last = last_ledger_receipt(connection)
    # Counted before the rows are read, so that rows committed meanwhile change the next call's totals.
    totals = _count_all(connection)
    behind = _behind(last, totals)
    new_rows = _new_rows(connection, behind, changed or {})
    leaves = {part.name: rows for part, rows in new_rows if rows}
    number = 1 if last is None else last.number + 1
    if PRICES in behind and (paths := _new_points(connection)):
        leaves[PRICES] = _number_points(connection, paths, number)
    if not leaves:
        return None
    root = root_over(None if last is None else last.root, number, now, leaves)
    may_change = {part.name for part in PARTS if part.may_change}
    parts = {
        name: {key: leaf.hex()[: DIGEST_DIGITS if name in may_change else CHECK_DIGITS] for key, leaf in rows.items()}
        for name, rows in leaves.items()
    }
    receipt = LedgerReceipt(number, LEDGER_FORM, root, now, parts, totals)
    row = {"number": number, "form": LEDGER_FORM, "root": root, "made_at": now}
    connection.execute(insert(ledger_receipts), [{**row, "rows_packed": pack_rows(parts, totals)}])
    return receipt


def is_behind(connection: Connection) -> bool:
    """Return whether a table has another number of rows than the last receipt noted, so that some are in none."""
    return bool(_behind(last_ledger_receipt(connection), _count_all(connection)))


def root_over(before: str | None, number: int, made_at: datetime, leaves: Mapping[str, Mapping[Key, bytes]]) -> str:
    """Return a receipt's root in hexadecimal digits; the first receipt has none before it."""
    head = {"before": before, "form": LEDGER_FORM, "made_at": format_instant(made_at), "number": number}
    rows = [leaf for name in sorted(leaves) for leaf in leaves[name].values()]
    return root_hash([leaf_hash(rfc8785.dumps(head)), *rows]).hex()


def leaves_of_part(connection: Connection, part: RowPart, keys: Collection[Key] | None = None) -> Mapping[Key, bytes]:
    """Return the leaf hashes of a part's rows, of all keys or some, in the order of keys."""
    names = [column.name for column in (*part.key, *part.columns)]
    statement = _select_part(part, *part.key, *part.columns)
    if keys is None:
        rows = iter(connection.execute(statement))
    else:
        wanted = sorted(keys)
        rows = (
            row
            for at in range(0, len(wanted), _AT_ONCE)
            for row in connection.execute(
                statement.where(tuple_(*part.key).in_([_from_key(part, key) for key in wanted[at : at + _AT_ONCE]]))
            )
        )
    found = {_to_key(row[: len(part.key)]): leaf_of(part.name, dict(zip(names, row, strict=True))) for row in rows}
    return dict(sorted(found.items()))


def leaf_of(name: str, row: Mapping[str, Any]) -> bytes:
    """Return a leaf hash: of the canonical JSON of a row with the name of its part."""
    try:
        return leaf_hash(rfc8785.dumps({"": name, **{column: _canonical(value) for column, value in row.items()}}))
    except (ValueError, UnicodeError):
        # Predibot writes no value that canonical JSON lacks.
        return leaf_hash(repr(row).encode("utf-8", "backslashreplace"))


def path_leaves(instrument_row: int, points: bytes, receipts: bytes | None) -> Mapping[int, bytes]:
    """Return the leaf hash of a path's points by the number of their receipt, 0 for none."""
    import numpy as np

    from predibot.ledger.schema.packed_points import POINT, receipt_numbers

    if len(points) % POINT_BYTES != 1:
        # It was cut, and no receipt covers that.
        return {0: leaf_hash(points)}
    held = np.frombuffer(points[1:], dtype=POINT)
    numbers = receipt_numbers(receipts, held.size)
    return {
        int(number): leaf_hash(f"{PRICES} {instrument_row} ".encode() + held[numbers == number].tobytes())
        for number in np.unique(numbers)
    }


def keys_of_part(connection: Connection, part: RowPart) -> set[Key]:
    """Return the keys of all rows of a part."""
    return {_to_key(row) for row in connection.execute(_select_part(part, *part.key))}


def _new_rows(
    connection: Connection, behind: Collection[str], changed: Mapping[str, Collection[Key]]
) -> Iterator[tuple[RowPart, Mapping[Key, bytes]]]:
    # Most calls add to few tables, so that only these parts are looked up in the receipts.
    parts = [part for part in PARTS if part.name in behind or part.name in changed]
    known: dict[str, set[Key]] = {part.name: set() for part in parts}
    for receipt in ledger_receipts_of(connection) if parts else ():
        for name in known:
            known[name].update(receipt.parts.get(name, ()))
    for part in parts:
        new = keys_of_part(connection, part) - (known[part.name] - {*changed.get(part.name, ())})
        yield part, leaves_of_part(connection, part, new if known[part.name] else None)


def _new_points(connection: Connection) -> Sequence[Any]:
    """Return the paths with points in no receipt."""
    import numpy as np

    from predibot.ledger.schema.packed_points import receipt_numbers

    # `add_observations` takes the same locks, so that neither loses the other's changes.
    with_paths = select(_instruments.c.id).join(_paths, _paths.c.instrument_row == _instruments.c.id)
    held = with_paths.order_by(_instruments.c.id).with_for_update(key_share=True, of=_instruments)
    connection.execute(held).all()
    rows = connection.execute(select(_paths).order_by(_paths.c.instrument_row)).all()
    sizes = [(len(row.points) - 1) // POINT_BYTES for row in rows]
    return [
        row
        for row, size in zip(rows, sizes, strict=True)
        if row.receipts is None or not np.all(receipt_numbers(row.receipts, size))
    ]


def _number_points(connection: Connection, paths: Sequence[Any], number: int) -> Mapping[Key, bytes]:
    """Give this receipt's number to the points in none, and return the leaf of each path."""
    import numpy as np

    from predibot.ledger.schema.packed_points import POINT, receipt_numbers

    found: dict[Key, bytes] = {}
    numbered = []
    for path in paths:
        held = np.frombuffer(path.points[1:], dtype=POINT)
        numbers = receipt_numbers(path.receipts, held.size)
        receipts = np.where(numbers == 0, number, numbers).astype("<u4").tobytes()
        found[(path.instrument_row,)] = path_leaves(path.instrument_row, path.points, receipts)[number]
        numbered.append({"row": path.instrument_row, "numbers": receipts})
    same = _paths.c.instrument_row == bindparam("row")
    connection.execute(update(_paths).where(same).values(receipts=bindparam("numbers")), numbered)
    return found


def _behind(last: LedgerReceipt | None, totals: Mapping[str, int]) -> set[str]:
    """Return the parts whose totals differ from those of the last receipt."""
    before = {} if last is None else last.totals
    return {name for name, total in totals.items() if total != before.get(name, 0)}


def _count_all(connection: Connection) -> Mapping[str, int]:
    points = select(func.sum((func.length(_paths.c.points) - 1) // POINT_BYTES))
    counts = {part.name: _count(connection, part) for part in PARTS}
    return {**counts, PRICES: int(connection.execute(points).scalar() or 0)}


def _count(connection: Connection, part: RowPart) -> int:
    """Return a number that changes with every new row: their count, or the sum of runs for turns, as void ones go."""
    of = func.sum(part.table.c.run_id) if part.name == "turns" else func.count()
    counted = select(of).select_from(part.table)
    return int(connection.execute(counted if part.where is None else counted.where(part.where)).scalar() or 0)


def _select_part(part: RowPart, *columns: Any) -> Any:
    statement = select(*columns)
    return statement if part.where is None else statement.where(part.where)


def _to_key(row: Sequence[Any]) -> Key:
    return tuple(to_microseconds(each) if isinstance(each, datetime) else each for each in row)


def _from_key(part: RowPart, key: Key) -> tuple[Any, ...]:
    return tuple(
        from_microseconds(each) if isinstance(column.type, Instant) else each
        for column, each in zip(part.key, key, strict=True)
    )


def _canonical(value: Any) -> Any:
    """Return a value for canonical JSON; a long text becomes an object with its hash, which no text can equal."""
    if isinstance(value, datetime):
        return format_instant(value)
    if isinstance(value, bytes):
        return {"sha256": hashlib.sha256(value).hexdigest()}
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        return {"sha256": hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()}
    return {"integer": str(value)} if isinstance(value, int) and abs(value) >= _SAFE else value
