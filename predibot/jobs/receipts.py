"""Receipts: made as a run ends, computed anew to see whether a decision was changed since, and published."""

import fcntl
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

import rfc8785
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import Connection

from predibot.domain.clock import format_instant
from predibot.errors import LedgerUnusable, UsageError
from predibot.ledger.merkle_tree import inclusion_path
from predibot.ledger.read.receipt_leaves import FORM, field_names, leaves_of, leaves_with_content
from predibot.ledger.schema.packed_leaves import CHECK_DIGITS, Leaf
from predibot.ledger.store import Store
from predibot.ledger.write.receipts import (
    Receipt,
    ReceiptedRun,
    add_receipt,
    lock_run,
    receipted_runs,
    root_of,
    stored_receipts,
)
from predibot.whole_file import whole_file

NO_RECEIPT = (
    "it has no receipt: it was decided before there were any, has not come to its end, or was imported. "
    "Deciding its slot again makes one; --against FILE compares it with what was published"
)


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


class PublishedRoot(BaseModel):
    """One line of a file of roots."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    run: str
    created_at: str
    receipt: int = Field(ge=1)
    form: int
    made_at: str
    decisions: int = Field(ge=1)
    root: str = Field(pattern="^[0-9a-f]{64}$")

    @property
    def of(self) -> tuple[str, str]:
        """Return which run it is of."""
        return self.run, self.created_at

    def line(self) -> bytes:
        """Return it as it is written."""
        return rfc8785.dumps(self.model_dump()) + b"\n"


@dataclass(frozen=True, slots=True)
class Publication:
    """What was written into a file of roots."""

    added: tuple[PublishedRoot, ...]
    known: int
    """Roots that were in the file."""
    verified: tuple[VerifiedRun, ...]
    """Every run with a new root; one that does not hold is not published."""


def make_receipt(store: Store, run_id: int, clock: Callable[[], datetime]) -> tuple[Receipt | None, tuple[str, ...]]:
    """Store the receipt of a run as it stands, unless its last one is the same, and return the last one.

    Where a decision that could not be tried again is another one than the last receipt says, nothing of ours changed
    it: no receipt is made over that.

    Returns:
        The receipt, None where nothing is decided or it could not be stored; and what is to be said of it.
    """
    now = clock()
    try:
        last = store.run_read(lambda connection: _last(connection, run_id))
        if last is not None and last.form == FORM:
            # Most calls over a run that has one change nothing, and need not write.
            leaves = store.run_read(lambda connection: leaves_of(connection, run_id))
            if last.root == root_of(leaves):
                return last, ()
        return store.run_write(lambda connection: _made(connection, run_id, now))
    except LedgerUnusable as error:
        return None, (f"no receipt was stored, which the next call does: {error}",)


def _made(connection: Connection, run_id: int, now: datetime) -> tuple[Receipt | None, tuple[str, ...]]:
    """Return the last receipt of a run, which is stored unless a final decision is another one than before."""
    # Read behind the lock: who changes a decision makes a receipt after that, so that the last one is of them all.
    lock_run(connection, run_id)
    last, leaves = _last(connection, run_id), leaves_of(connection, run_id)
    if last is None and not leaves:
        return None, ()
    if last is not None and last.form == FORM:
        changed = [each for each in _differences(last, leaves, ()) if each.was_final]
        if changed:
            first = f"the first of {changed[0].bot} on {changed[0].subject_id}"
            said = f"{len(changed)} that were final differ from receipt {last.number}, {first}"
            return last, (f"decisions changed since: {said}. No receipt is made; `predibot verify` names them",)
    return add_receipt(connection, run_id, last, leaves, form=FORM, now=now), ()


def verify_runs(store: Store, key: str | None = None) -> tuple[VerifiedRun, ...]:
    """Return the run of a key, or all that have receipts, each computed anew; nothing is changed.

    Raises:
        UsageError: If no run has or had this key.
        LedgerUnusable: If the ledger cannot be read.
    """
    with store.read() as connection:
        if key is None:
            return tuple(_verified(connection, run) for run in receipted_runs(connection) if run.receipts)
        found = _verified(connection, _run_of(connection, key))
        return (found if found.receipts or found.problems else replace(found, problems=(NO_RECEIPT,)),)


def verify_against(store: Store, file: Path, key: str | None = None) -> tuple[VerifiedRun, ...]:
    """Return the runs of a file of roots, or the one of a key, computed anew and compared with its last root there.

    Raises:
        UsageError: If the file cannot be read, or has no line of the run.
        LedgerUnusable: If the ledger cannot be read.
    """
    published = _by_run(_read(file))
    with store.read() as connection:
        known = {(run.key, format_instant(run.created_at)): run for run in receipted_runs(connection, key)}
        if key is not None:
            run = _run_of(connection, key)
            of = (run.key, format_instant(run.created_at))
            if of not in published:
                raise UsageError(f"{file} has no root of run {key[:100]} made {of[1]}. Name another file")
            published = {of: published[of]}
        return tuple(
            _compared(_verified(connection, known[of]), roots[-1], file)
            if of in known
            else VerifiedRun(*of, problems=(f"{file} has its root, and this ledger has no such run",))
            for of, roots in published.items()
        )


def publish(store: Store, file: Path, key: str | None = None) -> Publication:
    """Append the roots to a file that it has not, of the run of a key or of all runs; all of them appear at once.

    Raises:
        UsageError: If the file cannot be read or written, or no run has or had this key.
        LedgerUnusable: If the ledger cannot be read.
    """
    # What stands behind a link, not the link, is written anew.
    file = file.resolve()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _alone(file.parent):
            published = _by_run(_read(file)) if file.exists() else {}
            added, verified = [], []
            with store.read() as connection:
                chosen = receipted_runs(connection) if key is None else [_run_of(connection, key)]
                for run in chosen:
                    new, found = _unpublished(connection, run, published, file)
                    if not run.receipts and key is not None:
                        found = VerifiedRun(run.key, run.created_at, run.void, problems=(NO_RECEIPT,))
                    if found is not None:
                        verified.append(found)
                    if found is not None and found.holds:
                        added += new
            if added:
                _append(file, added)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}. Name another file") from error
    return Publication(tuple(added), sum(map(len, published.values())), tuple(verified))


def prove(store: Store, key: str, bot: str, subject_id: str) -> Proof:
    """Return the proof that a decision is one of a run's last receipt.

    Raises:
        UsageError: If there is no such decision, or the run is not what its last receipt says.
        LedgerUnusable: If the ledger cannot be read.
    """
    with store.read() as connection:
        run = _run_of(connection, key)
        found = list(leaves_with_content(connection, run.id))
        last = _last(connection, run.id)
    if last is None or root_of([leaf for leaf, _ in found]) != last.root:
        raise UsageError(f"run {key[:100]} is not what a receipt of it says. `predibot verify {key[:100]}` says more")
    places = [at for at, (leaf, _) in enumerate(found) if (leaf.bot, leaf.subject_id) == (bot, subject_id)]
    if not places:
        raise UsageError(f"run {key[:100]} has no decision of {bot[:80]!r} on {subject_id[:80]!r}")
    leaf, content = found[places[0]]
    path = inclusion_path([bytes.fromhex(each.sha256) for each, _ in found], places[0])
    hashes = tuple(each.hex() for each in path)
    return Proof(run.key, last.number, last.root, places[0], len(found), content.decode(), leaf.sha256, hashes)


def _run_of(connection: Connection, key: str) -> ReceiptedRun:
    """Return the run that holds a key, or the one that held it last."""
    runs = receipted_runs(connection, key)
    if not runs:
        raise UsageError(f"there is no run {key[:100]!r} in this ledger. `predibot runs` lists them")
    return next((run for run in runs if not run.void), runs[-1])


def _last(connection: Connection, run_id: int) -> Receipt | None:
    return next(reversed(stored_receipts(connection, run_id)), None)


def _verified(connection: Connection, run: ReceiptedRun) -> VerifiedRun:
    leaves = leaves_of(connection, run.id)
    found = VerifiedRun(run.key, run.created_at, run.void, len(leaves), root_of(leaves))
    try:
        receipts = stored_receipts(connection, run.id)
    except LedgerUnusable as error:
        return replace(found, problems=(str(error),))
    problems = []
    # Most runs are what their receipts say, and nobody needs the names.
    names = field_names(connection, run.id) if any(each.root != found.root for each in receipts) else ()
    differences: dict[tuple[str, str, str], Difference] = {}
    for receipt in receipts:
        if receipt.form != FORM:
            problems.append(
                f"receipt {receipt.number} is of form {receipt.form}, and {FORM} is known. Upgrade predibot"
            )
        elif root_of(receipt.leaves) != receipt.root:
            problems.append(f"receipt {receipt.number} was changed: its leaves do not come to its root")
        else:
            # What was tried again is another decision than an earlier receipt says.
            is_last = receipt is receipts[-1]
            for each in _differences(receipt, leaves, names):
                if is_last or each.was_final:
                    differences.setdefault((each.bot, each.subject_kind, each.subject_id), each)
    by_name = tuple(differences[name] for name in sorted(differences))
    return replace(found, receipts=receipts, differences=by_name, problems=tuple(problems))


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


def _compared(found: VerifiedRun, published: PublishedRoot, file: Path) -> VerifiedRun:
    """Return a run with what is wrong of it by the last root of it that was published."""
    if published.form != FORM:
        said = f"{file} has its root in form {published.form}, and {FORM} is known. Upgrade predibot"
        return replace(found, problems=(*found.problems, said))
    if found.root == published.root:
        return found
    named = [receipt for receipt in found.receipts if receipt.root == published.root]
    if not named:
        said = f"{file} has {published.root} as its root, which is that of no receipt here"
        return replace(found, problems=(*found.problems, said))
    if named[-1] is found.receipts[-1]:
        return found
    said = f"receipt {found.receipts[-1].number} came after the last root in {file}; --publish appends it"
    return replace(found, notes=(*found.notes, said))


def _unpublished(
    connection: Connection, run: ReceiptedRun, published: "_Roots", file: Path
) -> tuple[list[PublishedRoot], VerifiedRun | None]:
    """Return the roots of a run that a file has not, and the run computed anew where there are any."""
    if not run.receipts:
        return [], None
    created_at = format_instant(run.created_at)
    before = published.get((run.key, created_at), [])
    receipts = stored_receipts(connection, run.id)
    if before and before[-1].root == receipts[-1].root:
        return [], None
    found = _verified(connection, run)
    roots = [receipt.root for receipt in receipts]
    if before and before[-1].root not in roots:
        return [], _compared(found, before[-1], file)
    first = 1 + max(at for at, root in enumerate(roots) if root == before[-1].root) if before else 0
    new = [
        PublishedRoot(
            run=run.key,
            created_at=created_at,
            receipt=receipt.number,
            form=receipt.form,
            made_at=format_instant(receipt.made_at),
            decisions=len(receipt.leaves),
            root=receipt.root,
        )
        for receipt in receipts[first:]
    ]
    return new, found


_Roots = Mapping[tuple[str, str], list[PublishedRoot]]


def _by_run(roots: Sequence[PublishedRoot]) -> _Roots:
    found: dict[tuple[str, str], list[PublishedRoot]] = {}
    for root in roots:
        found.setdefault(root.of, []).append(root)
    return found


def _read(file: Path) -> list[PublishedRoot]:
    """Return the lines of a file of roots.

    Raises:
        UsageError: If it cannot be read, or a line is none.
    """
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}. Name a file that --publish wrote") from None
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                found.append(PublishedRoot.model_validate_json(line))
        except ValidationError as error:
            said = error.errors(include_url=False, include_input=False)[0]["msg"]
            raise UsageError(
                f"{file}, line {number} is no root that --publish wrote: {said}. Restore that line"
            ) from None
    return found


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let nobody else publish in a folder meanwhile; the file itself is another one after each time."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _append(file: Path, added: Sequence[PublishedRoot]) -> None:
    before = file.read_bytes() if file.exists() else b""
    mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else None
    with whole_file(file, durable=True) as whole:
        if mode is not None:
            os.fchmod(whole.fileno(), mode)
        whole.write(before + (b"\n" if before and not before.endswith(b"\n") else b""))
        whole.write(b"".join(root.line() for root in added))
