"""Verification: a ledger's receipts computed anew, to find rows that were changed, are gone, or are in none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, func, or_, select

from predibot.domain.clock import format_instant
from predibot.errors import LedgerUnusable
from predibot.ledger.schema.column_types import Instant, from_microseconds
from predibot.ledger.schema.packed_receipts import Key
from predibot.ledger.schema.receipted_rows import PARTS, PRICES, RowPart
from predibot.ledger.write.claims import attempts, tasks
from predibot.ledger.write.ledger_receipts import (
    LEDGER_FORM,
    LedgerReceipt,
    leaves_of_part,
    ledger_receipts_of,
    path_leaves,
    receipts,
    root_over,
)
from predibot.ledger.write.prices_and_resolutions import price_paths
from predibot.ledger.write.runs import runs

GONE = "the ledger has no receipt of its own any more, and runs that were decided with one. Put a copy in its place"


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A row that differs from a receipt of the ledger."""

    row: str
    what: Literal["changed", "missing", "new"]
    receipt: int | None
    """None for a row in no receipt."""


@dataclass(frozen=True, slots=True)
class LedgerVerification:
    """A ledger's receipts, and how its rows differ from them."""

    receipts: tuple[LedgerReceipt, ...] = ()
    differences: tuple[RowDifference, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Return whether every row is what the receipts say."""
        return not self.differences and not self.problems

    @property
    def rows(self) -> int:
        """Return how many rows the receipts cover."""
        return sum(receipt.size for receipt in self.receipts)


@dataclass(slots=True)
class _Leaves:
    leaves: dict[str, Mapping[Key, bytes]] = field(default_factory=dict)
    points: dict[int, dict[Key, bytes]] = field(default_factory=dict)
    """Leaves of price paths by the number of their receipt."""
    void: frozenset[int] = frozenset()
    last: dict[tuple[str, Key], int] = field(default_factory=dict)


def verify_ledger(connection: Connection) -> LedgerVerification:
    """Return how a ledger differs from its receipts; nothing is changed."""
    try:
        known = tuple(ledger_receipts_of(connection))
    except LedgerUnusable as error:
        return LedgerVerification(problems=(str(error),))
    if not known:
        return _check_missing(connection)
    found = _read_leaves(connection)
    for receipt in known:
        found.last |= {(name, key): receipt.number for name, keys in receipt.parts.items() for key in keys}
    differences, problems = list[RowDifference](), list[str]()
    before = None
    for number, receipt in enumerate(known, start=1):
        if receipt.number != number:
            problems.append(f"receipt {number} of the ledger is gone, and {receipt.number} is there")
            break
        if receipt.form != LEDGER_FORM:
            problems.append(
                f"receipt {number} of the ledger is of form {receipt.form}, and {LEDGER_FORM} is known. "
                "Upgrade predibot"
            )
            break
        wrong, leaves = _compare(receipt, found)
        differences += wrong
        if not wrong and root_over(before, number, receipt.made_at, leaves) != receipt.root:
            problems.append(f"receipt {number} of the ledger or a row in it was changed: its rows come to another root")
        before = receipt.root
    added = [*_new_rows(found, known)]
    notes: tuple[str, ...] = ()
    if added and (unfinished := _unfinished_run(connection, known[-1].made_at)):
        notes = (f"rows in no receipt yet ({len(added)}): run {unfinished} has not come to its end; decide again",)
        added = []
    return LedgerVerification(known, (*differences, *added), tuple(problems), notes)


def _check_missing(connection: Connection) -> LedgerVerification:
    """Return the result for a ledger without receipts: an upgraded or imported one has none until the next job."""
    form_with_them = select(receipts.c.run_id).where(receipts.c.form >= 2).limit(1)
    if connection.execute(form_with_them).first() is not None:
        return LedgerVerification(problems=(GONE,))
    note = "the ledger has no receipt of its own yet; the next `decide` or `track` makes one"
    return LedgerVerification(notes=(note,) if connection.execute(select(runs.c.id).limit(1)).first() else ())


def _unfinished_run(connection: Connection, since: datetime) -> str | None:
    """Return the key of a run without a receipt that was made, or decided on, after the ledger's last one."""
    last_at = func.coalesce(attempts.c.ended_at, attempts.c.started_at)
    at_work = select(tasks.c.run_id).join(attempts, attempts.c.task_id == tasks.c.id).where(last_at >= since)
    statement = select(runs.c.key).where(
        *(runs.c.receipted.is_(None), runs.c.voided_at.is_(None)),
        or_(runs.c.created_at >= since, runs.c.id.in_(at_work)),
    )
    found: str | None = connection.execute(statement.order_by(runs.c.id).limit(1)).scalar()
    return found


def _read_leaves(connection: Connection) -> _Leaves:
    found = _Leaves(
        void=frozenset(connection.execute(select(runs.c.id).where(runs.c.voided_at.is_not(None))).scalars())
    )
    for part in PARTS:
        found.leaves[part.name] = leaves_of_part(connection, part)
    for row in connection.execute(select(price_paths).order_by(price_paths.c.instrument_row)):
        for number, leaf in path_leaves(row.instrument_row, row.points, row.receipts).items():
            found.points.setdefault(number, {})[(row.instrument_row,)] = leaf
    return found


def _compare(receipt: LedgerReceipt, found: _Leaves) -> tuple[list[RowDifference], Mapping[str, Mapping[Key, bytes]]]:
    wrong, leaves = [], dict[str, dict[Key, bytes]]()
    for name, checks in receipt.parts.items():
        there = found.points.get(receipt.number, {}) if name == PRICES else found.leaves.get(name, {})
        for key, check in checks.items():
            leaf = there.get(key)
            if _was_replaced(name, key, leaf, receipt, found):
                leaf = bytes.fromhex(check)
            if leaf is None:
                wrong.append(RowDifference(_row_name(name, key), "missing", receipt.number))
            elif not leaf.hex().startswith(check):
                wrong.append(RowDifference(_row_name(name, key), "changed", receipt.number))
            else:
                leaves.setdefault(name, {})[key] = leaf
    return wrong, leaves


def _was_replaced(name: str, key: Key, leaf: bytes | None, receipt: LedgerReceipt, found: _Leaves) -> bool:
    """Return whether a command changed a row that it may change; only the part's name tells, as roots cover no more."""
    if name == "cohorts.archived":
        return found.last[name, key] != receipt.number
    return name == "turns" and leaf is None and key[-1] in found.void


def _new_rows(found: _Leaves, known: Sequence[LedgerReceipt]) -> Iterator[RowDifference]:
    paths = {receipt.number: receipt.parts.get(PRICES, {}) for receipt in known}
    for name, leaves in found.leaves.items():
        yield from (RowDifference(_row_name(name, key), "new", None) for key in leaves if (name, key) not in found.last)
    for number, leaves in sorted(found.points.items()):
        yield from (
            RowDifference(_row_name(PRICES, key), "new", None) for key in leaves if key not in paths.get(number, {})
        )


_NAMES: Mapping[str, RowPart] = {part.name: part for part in PARTS}


def _row_name(name: str, key: Key) -> str:
    if name not in _NAMES:
        return f"{name} {', '.join(map(str, key))}"
    parts = (
        f"{column.name} {format_instant(from_microseconds(each)) if isinstance(column.type, Instant) else each}"
        for column, each in zip(_NAMES[name].key, key, strict=False)
    )
    return f"{name} {', '.join(parts)}"
