"""A ledger computed anew beside its receipts: which rows are other ones, gone, or in none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, func, or_, select

from predibot.domain.clock import format_instant
from predibot.errors import LedgerUnusable
from predibot.ledger.schema.column_types import Instant, from_microseconds
from predibot.ledger.schema.packed_rows import Key
from predibot.ledger.schema.receipted_rows import PARTS, PRICES, RowPart
from predibot.ledger.write.claims import attempts, tasks
from predibot.ledger.write.ledger_receipts import (
    LEDGER_FORM,
    LedgerReceipt,
    leaves_of_part,
    ledger_receipts_of,
    path_leaves,
    root_over,
)
from predibot.ledger.write.prices_and_resolutions import price_paths
from predibot.ledger.write.receipts import receipts
from predibot.ledger.write.runs import runs

GONE = "the ledger has no receipt of its own any more, and runs that were decided with one. Put a copy in its place"


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A row that is not what a receipt of the ledger says."""

    row: str
    """Its table, or part of one, and its key."""
    what: Literal["changed", "missing", "new"]
    receipt: int | None
    """None of one that is in none."""


@dataclass(frozen=True, slots=True)
class VerifiedLedger:
    """All that receipts of a ledger cover, computed anew."""

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
        """Return how many rows they are over."""
        return sum(receipt.size for receipt in self.receipts)


@dataclass(slots=True)
class _Found:
    """What stands in the ledger, by part and key, and what became of it."""

    leaves: dict[str, Mapping[Key, bytes]] = field(default_factory=dict)
    points: dict[int, dict[Key, bytes]] = field(default_factory=dict)
    """Leaves of paths by the number of their receipt."""
    void: frozenset[int] = frozenset()
    last: dict[tuple[str, Key], int] = field(default_factory=dict)
    """By which receipt a row is covered now."""


def verified_ledger(connection: Connection) -> VerifiedLedger:
    """Return a ledger as it is now, with what differs from its receipts; nothing is changed.

    Raises:
        LedgerUnusable: If the ledger cannot be read.
    """
    try:
        known = tuple(ledger_receipts_of(connection))
    except LedgerUnusable as error:
        return VerifiedLedger(problems=(str(error),))
    if not known:
        return _without(connection)
    found = _found(connection)
    for receipt in known:
        found.last |= {(name, key): receipt.number for name, keys in receipt.rows.parts.items() for key in keys}
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
        wrong, leaves = _compared(receipt, found)
        differences += wrong
        if not wrong and root_over(before, number, receipt.made_at, leaves) != receipt.root:
            problems.append(f"receipt {number} of the ledger or a row in it was changed: its rows come to another root")
        before = receipt.root
    added = [*_added(found, known)]
    notes: tuple[str, ...] = ()
    if added and (unfinished := _unfinished(connection, known[-1].made_at)):
        notes = (f"rows in no receipt yet ({len(added)}): run {unfinished} has not come to its end; decide again",)
        added = []
    return VerifiedLedger(known, (*differences, *added), tuple(problems), notes)


def _without(connection: Connection) -> VerifiedLedger:
    """Return a ledger without receipts of its own: one that was upgraded or imported has none until the next job."""
    form_with_them = select(receipts.c.run_id).where(receipts.c.form >= 2).limit(1)
    if connection.execute(form_with_them).first() is not None:
        return VerifiedLedger(problems=(GONE,))
    said = "the ledger has no receipt of its own yet; the next `decide` or `track` makes one"
    return VerifiedLedger(notes=(said,) if connection.execute(select(runs.c.id).limit(1)).first() else ())


def _unfinished(connection: Connection, since: datetime) -> str | None:
    """Return the key of a run without a receipt that was made, or decided on, after the last one of the ledger."""
    last_at = func.coalesce(attempts.c.ended_at, attempts.c.started_at)
    at_work = select(tasks.c.run_id).join(attempts, attempts.c.task_id == tasks.c.id).where(last_at >= since)
    statement = select(runs.c.key).where(
        *(runs.c.receipted.is_(None), runs.c.voided_at.is_(None)),
        or_(runs.c.created_at >= since, runs.c.id.in_(at_work)),
    )
    found: str | None = connection.execute(statement.order_by(runs.c.id).limit(1)).scalar()
    return found


def _found(connection: Connection) -> _Found:
    found = _Found(void=frozenset(connection.execute(select(runs.c.id).where(runs.c.voided_at.is_not(None))).scalars()))
    for part in PARTS:
        found.leaves[part.name] = leaves_of_part(connection, part)
    for row in connection.execute(select(price_paths).order_by(price_paths.c.instrument_row)):
        for number, leaf in path_leaves(row.instrument_row, row.points, row.receipts).items():
            found.points.setdefault(number, {})[(row.instrument_row,)] = leaf
    return found


def _compared(receipt: LedgerReceipt, found: _Found) -> tuple[list[RowDifference], Mapping[str, Mapping[Key, bytes]]]:
    """Return where rows differ from a receipt, and the leaves of those that it is over."""
    wrong, leaves = [], dict[str, dict[Key, bytes]]()
    for name, checks in receipt.rows.parts.items():
        there = found.points.get(receipt.number, {}) if name == PRICES else found.leaves.get(name, {})
        for key, check in checks.items():
            leaf = there.get(key)
            if _was_replaced(name, key, leaf, receipt, found):
                leaf = bytes.fromhex(check)
            if leaf is None:
                wrong.append(RowDifference(_row(name, key), "missing", receipt.number))
            elif not leaf.hex().startswith(check):
                wrong.append(RowDifference(_row(name, key), "changed", receipt.number))
            else:
                leaves.setdefault(name, {})[key] = leaf
    return wrong, leaves


def _was_replaced(name: str, key: Key, leaf: bytes | None, receipt: LedgerReceipt, found: _Found) -> bool:
    """Return whether a command may change a row, and did; by its part, as no root says what else a receipt keeps."""
    if name == "cohorts.archived":
        return found.last[name, key] != receipt.number
    return name == "turns" and leaf is None and key[-1] in found.void


def _added(found: _Found, known: Sequence[LedgerReceipt]) -> Iterator[RowDifference]:
    """Yield the rows that are in no receipt."""
    paths = {receipt.number: receipt.rows.parts.get(PRICES, {}) for receipt in known}
    for name, leaves in found.leaves.items():
        yield from (RowDifference(_row(name, key), "new", None) for key in leaves if (name, key) not in found.last)
    for number, leaves in sorted(found.points.items()):
        yield from (RowDifference(_row(PRICES, key), "new", None) for key in leaves if key not in paths.get(number, {}))


_NAMES: Mapping[str, RowPart] = {part.name: part for part in PARTS}


def _row(name: str, key: Key) -> str:
    """Return a row by its table and key, as people read it."""
    if name not in _NAMES:
        return f"{name} {', '.join(map(str, key))}"
    said = (
        f"{column.name} {format_instant(from_microseconds(each)) if isinstance(column.type, Instant) else each}"
        for column, each in zip(_NAMES[name].key, key, strict=False)
    )
    return f"{name} {', '.join(said)}"
