"""Receipts: made as a run ends, and computed anew to see whether a decision was changed since."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row

from predibot.errors import LedgerUnusable, UsageError
from predibot.ledger.merkle_tree import inclusion_path
from predibot.ledger.read.receipt_leaves import FORM, FORMS, field_names, leaves_of, leaves_with_content
from predibot.ledger.schema.packed_leaves import CHECK_DIGITS, Leaf
from predibot.ledger.store import Store
from predibot.ledger.write.ledger_receipts import add_ledger_receipt, is_behind
from predibot.ledger.write.receipts import (
    Receipt,
    add_receipt,
    lock_run,
    receipted_runs,
    root_of,
    stored_receipts,
)

_WHY = {
    None: "it was killed before its end, or is still being decided; decide again",
    "imported": "it was imported, which brings no receipt along; --against FILE compares it with what was published",
    "older": "it was decided before there were any; deciding its slot again makes one",
}
GONE = "its receipt is gone, and it was decided with one. Put a copy of the ledger in its place"


@dataclass(frozen=True, slots=True)
class Difference:
    """A decision that is not what a receipt says."""

    bot: str
    subject_kind: str
    subject_id: str
    what: Literal["changed", "missing", "new"]
    """Whether it is another one, is not there any more, or was not there yet."""
    fields: tuple[str, ...]
    """What of it is another; empty where that cannot be told."""
    receipt: int
    was_final: bool
    """Whether it could not be tried again, so that nothing of predibot's changed it."""


@dataclass(frozen=True, slots=True)
class VerifiedRun:
    """A run computed anew, beside its receipts."""

    run: str
    created_at: datetime | str
    void: bool = False
    decisions: int = 0
    root: str | None = None
    """As the run is now; None where it is not in the ledger."""
    receipts: tuple[Receipt, ...] = ()
    differences: tuple[Difference, ...] = ()
    """By bot and subject."""
    problems: tuple[str, ...] = ()
    """What is wrong besides."""
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Return whether every decision is what its receipts say."""
        return not self.differences and not self.problems


@dataclass(frozen=True, slots=True)
class Proof:
    """That one decision is among those of a root, to be checked without the others."""

    run: str
    receipt: int
    root: str
    index: int
    size: int
    leaf: str
    """Canonical JSON, which is what is hashed."""
    leaf_sha256: str
    path: tuple[str, ...]
    """The hashes beside it on the way to the root, the nearest first."""


def make_receipt(store: Store, run_id: int, clock: Callable[[], datetime]) -> tuple[Receipt | None, tuple[str, ...]]:
    """Store the receipt of a run as it stands, unless its last one is the same, and return the last one.

    Where a decision that could not be tried again is another one than the last receipt says, nothing of ours changed
    it: no receipt is made over that. What else was written meanwhile gets a receipt of the ledger.

    Returns:
        The receipt, None where nothing is decided or it could not be stored; and what is to be said of it.
    """
    now = clock()
    try:
        # Most calls over a run that has one change nothing, and need not write.
        last = store.run_read(lambda connection: _last_if_current(connection, run_id))
        if last is not None:
            return last, ()
        return store.run_write(lambda connection: _made(connection, run_id, now))
    except LedgerUnusable as error:
        return None, (f"no receipt was stored, which the next call does: {error}",)


def receipt_of_ledger(store: Store, now: datetime) -> None:
    """Store a receipt over all that was written since the last one, unless there is nothing.

    Raises:
        LedgerUnusable: If it cannot be stored; the next call does.
    """
    if store.run_read(is_behind):
        store.run_write(lambda connection: add_ledger_receipt(connection, now=now))


def _last_if_current(connection: Connection, run_id: int) -> Receipt | None:
    """Return the last receipt of a run if it is of all that there is; else None."""
    last = _last(connection, run_id)
    if last is None or last.form != FORM or is_behind(connection):
        return None
    return last if last.root == root_of(leaves_of(connection, run_id)) else None


def _made(connection: Connection, run_id: int, now: datetime) -> tuple[Receipt | None, tuple[str, ...]]:
    """Return the last receipt of a run, which is stored unless a final decision is another one than before."""
    # Read behind the lock: who changes a decision makes a receipt after that, so that the last one is of them all.
    receipted = lock_run(connection, run_id)
    last = _last(connection, run_id)
    made, doubts = last, tuple[str, ...]()
    changed = _changed(connection, run_id, last)
    if last is None and receipted == "here":
        doubts = (f"{GONE}; no other is made",)
    elif changed:
        first = f"the first of {changed[0].bot} on {changed[0].subject_id}"
        said = f"{len(changed)} that were final differ from receipt {changed[0].receipt}, {first}"
        doubts = (f"decisions changed since: {said}. No receipt is made; `predibot verify` names them",)
    elif (leaves := leaves_of(connection, run_id)) or last is not None:
        made = add_receipt(connection, run_id, last, leaves, form=FORM, now=now)
    add_ledger_receipt(connection, now=now)
    return made, doubts


def _changed(connection: Connection, run_id: int, last: Receipt | None) -> list[Difference]:
    """Return the decisions that were final in the last receipt of a run and are other ones."""
    if last is None or last.form not in FORMS:
        return []
    leaves = leaves_of(connection, run_id, last.form)
    return [each for each in _differences(last, leaves, ()) if each.was_final]


def verify_runs(store: Store, key: str | None = None) -> tuple[VerifiedRun, ...]:
    """Return the run of a key, or all, each computed anew that has a receipt; nothing is changed.

    Raises:
        UsageError: If no run has or had this key.
    """
    with store.read() as connection:
        if key is None:
            return tuple(computed_anew(connection, run) for run in receipted_runs(connection))
        found = computed_anew(connection, run_of_key(connection, key))
        return (found if found.receipts or found.problems else replace(found, notes=(), problems=found.notes),)


def prove(store: Store, key: str, bot: str, subject_id: str) -> Proof:
    """Return the proof that a decision is one of a run's last receipt.

    Raises:
        UsageError: If there is no such decision, or the run is not what its last receipt says.
    """
    with store.read() as connection:
        run = run_of_key(connection, key)
        last = _last(connection, run.id)
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
    """Return the run that holds a key, or the one that held it last.

    Raises:
        UsageError: If no run has or had it.
    """
    runs = receipted_runs(connection, key)
    if not runs:
        raise UsageError(f"there is no run {key[:100]!r} in this ledger. `predibot runs` lists them")
    return next((run for run in runs if not run.void), runs[-1])


def _last(connection: Connection, run_id: int) -> Receipt | None:
    return next(reversed(stored_receipts(connection, run_id)), None)


def computed_anew(connection: Connection, run: Row[Any]) -> VerifiedRun:
    """Return a run as its decisions are now, with what differs from its receipts."""
    try:
        receipts = stored_receipts(connection, run.id)
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
            # Most runs are what their receipts say, and nobody needs the names.
            names = field_names(connection, run.id, receipt.form)
            # What was tried again is another decision than an earlier receipt says.
            is_last = receipt is receipts[-1]
            for each in _differences(receipt, leaves[receipt.form], names):
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


def _differences(receipt: Receipt, leaves: Sequence[Leaf], names: Sequence[str]) -> Iterator[Difference]:
    """Yield where decisions differ from a receipt, by bot and subject."""
    then, now = ({leaf.key: leaf for leaf in each} for each in (receipt.leaves, leaves))
    for key in sorted(then.keys() | now.keys()):
        before, after = then.get(key), now.get(key)
        if before is None:
            yield Difference(*key, "new", (), receipt.number, was_final=False)
        elif after is None:
            yield Difference(*key, "missing", (), receipt.number, before.is_final)
        elif before.sha256 != after.sha256:
            checks = (before.checks, after.checks)
            pairs = zip(names, *(map(_pieces, checks)), strict=False)
            fields = tuple(name for name, one, other in pairs if one != other)
            yield Difference(*key, "changed", fields, receipt.number, before.is_final)


def _pieces(checks: str) -> list[str]:
    return [checks[at : at + CHECK_DIGITS] for at in range(0, len(checks), CHECK_DIGITS)]
