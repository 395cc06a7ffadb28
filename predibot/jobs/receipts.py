"""Receipts of runs: made when a run ends, and verified to find decisions that were changed since."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row

from predibot.errors import LedgerUnusable, UsageError
from predibot.ledger.merkle_tree import inclusion_path
from predibot.ledger.read.receipt_leaves import FORM, FORMS, field_names, leaves_of, leaves_with_content
from predibot.ledger.schema.packed_receipts import CHECK_DIGITS, Leaf
from predibot.ledger.store import Store
from predibot.ledger.write.ledger_receipts import (
    Receipt,
    add_ledger_receipt,
    add_receipt,
    is_behind,
    list_runs_with_receipts,
    lock_run,
    read_receipts,
    root_of,
)

_WHY = {
    None: "it was killed before its end, or is still being decided; decide again",
    "imported": "it was imported, which brings no receipt along; --against FILE compares it with what was published",
    "older": "it was decided before there were any; deciding that time again makes one",
}
GONE = "its receipt is gone, and it was decided with one. Put a copy of the ledger in its place"


@dataclass(frozen=True, slots=True)
class Difference:
    """A decision that differs from a receipt."""

    bot: str
    subject_kind: str
    subject_id: str
    what: Literal["changed", "missing", "new"]
    fields: tuple[str, ...]
    """The fields that changed; empty where that cannot be told."""
    receipt: int
    was_final: bool
    """Whether predibot could not have changed it by trying again."""


@dataclass(frozen=True, slots=True)
class VerifiedRun:
    """A run verified against its receipts."""

    run: str
    created_at: datetime | str
    void: bool = False
    decisions: int = 0
    root: str | None = None
    """The root of the decisions now; None where the run is not in the ledger."""
    receipts: tuple[Receipt, ...] = ()
    differences: tuple[Difference, ...] = ()
    """By bot and subject."""
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Return whether every decision matches its receipts."""
        return not self.differences and not self.problems


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof that one decision is under a root, checkable without the other decisions."""

    run: str
    receipt: int
    root: str
    index: int
    size: int
    leaf: str
    """The hashed text, as canonical JSON."""
    leaf_sha256: str
    path: tuple[str, ...]
    """The sibling hashes on the way to the root, nearest first."""


def make_receipt(store: Store, run_id: int, clock: Callable[[], datetime]) -> tuple[Receipt | None, tuple[str, ...]]:
    """Store a receipt of a run as it is now, unless its last one is the same; return the last one, and warnings.

    Where a final decision differs from the last receipt, predibot did not change it, so no receipt is made over that.
    Everything else written meanwhile gets a receipt of the ledger. None is returned where nothing is decided, or the
    receipt could not be stored.
    """
    now = clock()
    try:
        # Most calls change nothing and need not write.
        last = store.run_read(lambda connection: _last_if_current(connection, run_id))
        if last is not None:
            return last, ()
        return store.run_write(lambda connection: _add_if_unchanged(connection, run_id, now))
    except LedgerUnusable as error:
        return None, (f"no receipt was stored, which the next call does: {error}",)


def receipt_of_ledger(store: Store, now: datetime) -> None:
    """Store a receipt of all new rows, if there are any.

    Raises `LedgerUnusable` if that fails: the next call does it.
    """
    if store.run_read(is_behind):
        store.run_write(lambda connection: add_ledger_receipt(connection, now=now))


def _last_if_current(connection: Connection, run_id: int) -> Receipt | None:
    last = _last_receipt(connection, run_id)
    if last is None or last.form != FORM or is_behind(connection):
        return None
    return last if last.root == root_of(leaves_of(connection, run_id)) else None


def _add_if_unchanged(connection: Connection, run_id: int, now: datetime) -> tuple[Receipt | None, tuple[str, ...]]:
    """Store a receipt unless a final decision changed; return the last receipt, and warnings."""
    # Read behind the lock: every process makes its receipt after its changes, so the last one covers them all.
    receipted = lock_run(connection, run_id)
    last = _last_receipt(connection, run_id)
    made, doubts = last, tuple[str, ...]()
    changed = _changed_decisions(connection, run_id, last)
    if last is None and receipted == "here":
        doubts = (f"{GONE}; no other is made",)
    elif changed:
        first = f"the first of {changed[0].bot} on {changed[0].subject_id}"
        what = f"{len(changed)} that were final differ from receipt {changed[0].receipt}, {first}"
        doubts = (f"decisions changed since: {what}. No receipt is made; `predibot verify` names them",)
    elif (leaves := leaves_of(connection, run_id)) or last is not None:
        made = add_receipt(connection, run_id, last, leaves, form=FORM, now=now)
    add_ledger_receipt(connection, now=now)
    return made, doubts


def _changed_decisions(connection: Connection, run_id: int, last: Receipt | None) -> list[Difference]:
    """Return the decisions that were final in a run's last receipt and changed since."""
    if last is None or last.form not in FORMS:
        return []
    leaves = leaves_of(connection, run_id, last.form)
    return [each for each in _find_differences(last, leaves, ()) if each.was_final]


def verify_runs(store: Store, key: str | None = None) -> tuple[VerifiedRun, ...]:
    """Verify the run of a key, or all runs; nothing is changed."""
    with store.read() as connection:
        if key is None:
            return tuple(verify_run(connection, run) for run in list_runs_with_receipts(connection))
        found = verify_run(connection, run_of_key(connection, key))
        return (found if found.receipts or found.problems else replace(found, notes=(), problems=found.notes),)


def prove(store: Store, key: str, bot: str, subject_id: str) -> Proof:
    """Return the proof that a run's last receipt has a decision.

    Raises `UsageError` if it has not, or the run differs.
    """
    with store.read() as connection:
        run = run_of_key(connection, key)
        last = _last_receipt(connection, run.id)
        found = list(leaves_with_content(connection, run.id, FORM if last is None else last.form))
    if last is None or root_of([leaf for leaf, _ in found]) != last.root:
        raise UsageError(f"run {key[:100]} is not what a receipt of it says. `predibot verify {key[:100]}` says more")
    places = [at for at, (leaf, _) in enumerate(found) if (leaf.bot, leaf.subject_id) == (bot, subject_id)]
    if not places:
        raise UsageError(f"run {key[:100]} has no decision of {bot[:80]!r} on {subject_id[:80]!r}")
    leaf, content = found[places[0]]
    path = inclusion_path([bytes.fromhex(each.sha256) for each, _ in found], places[0])
    hashes = tuple(each.hex() for each in path)
    return Proof(run.key, last.number, last.root, places[0], len(found), content.decode(), leaf.sha256, hashes)


def run_of_key(connection: Connection, key: str) -> Row[Any]:
    """Return the run with a key, or the void one that had it last; raise `UsageError` if no run has or had it."""
    runs = list_runs_with_receipts(connection, key)
    if not runs:
        raise UsageError(f"there is no run {key[:100]!r} in this ledger. `predibot runs` lists them")
    return next((run for run in runs if not run.void), runs[-1])


def _last_receipt(connection: Connection, run_id: int) -> Receipt | None:
    return next(reversed(read_receipts(connection, run_id)), None)


def verify_run(connection: Connection, run: Row[Any]) -> VerifiedRun:
    """Return a run as its decisions are now, with differences from its receipts."""
    try:
        receipts = read_receipts(connection, run.id)
    except LedgerUnusable as error:
        return VerifiedRun(run.key, run.created_at, run.void, problems=(str(error),))
    without = VerifiedRun(run.key, run.created_at, run.void, receipts=receipts)
    if not receipts:
        if run.receipted == "here":
            return replace(without, problems=(GONE,))
        return replace(without, notes=(f"it has no receipt: {_WHY.get(run.receipted, run.receipted)}",))
    leaves = {form: leaves_of(connection, run.id, form) for form in {each.form for each in receipts} & {*FORMS}}
    problems = []
    if run.receipted != "here":
        problems.append("it has a receipt, and says that none was made here")
    differences: dict[tuple[str, str, str], Difference] = {}
    for number, receipt in enumerate(receipts, start=1):
        if receipt.number != number:
            problems.append(f"receipt {number} is gone, and {receipt.number} is there")
            break
        if receipt.form not in FORMS:
            problems.append(
                f"receipt {receipt.number} is of form {receipt.form}, and {FORM} is known. Upgrade predibot"
            )
        elif root_of(receipt.leaves) != receipt.root:
            problems.append(f"receipt {receipt.number} was changed: its leaves do not come to its root")
        elif root_of(leaves[receipt.form]) != receipt.root:
            # Read here: runs that match their receipts need no names.
            names = field_names(connection, run.id, receipt.form)
            # A decision that was tried again differs from earlier receipts.
            is_last = receipt is receipts[-1]
            for each in _find_differences(receipt, leaves[receipt.form], names):
                if is_last or each.was_final:
                    differences.setdefault((each.bot, each.subject_kind, each.subject_id), each)
    now = leaves.get(receipts[-1].form)
    return replace(
        without,
        decisions=0 if now is None else len(now),
        root=None if now is None else root_of(now),
        differences=tuple(differences[name] for name in sorted(differences)),
        problems=tuple(problems),
    )


def _find_differences(receipt: Receipt, leaves: Sequence[Leaf], names: Sequence[str]) -> Iterator[Difference]:
    then, now = ({leaf.key: leaf for leaf in each} for each in (receipt.leaves, leaves))
    for key in sorted(then.keys() | now.keys()):
        before, after = then.get(key), now.get(key)
        if before is None:
            yield Difference(*key, "new", (), receipt.number, was_final=False)
        elif after is None:
            yield Difference(*key, "missing", (), receipt.number, before.is_final)
        elif before.sha256 != after.sha256:
            checks = (before.checks, after.checks)
            pairs = zip(names, *(map(_split_checks, checks)), strict=False)
            fields = tuple(name for name, one, other in pairs if one != other)
            yield Difference(*key, "changed", fields, receipt.number, before.is_final)


def _split_checks(checks: str) -> list[str]:
    return [checks[at : at + CHECK_DIGITS] for at in range(0, len(checks), CHECK_DIGITS)]
