"""The file of roots: what was published of runs and of the ledger, to be appended to and compared with."""

import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import rfc8785
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import ColumnElement, Connection, Row, select

from predibot.domain.clock import format_instant
from predibot.errors import UsageError
from predibot.jobs.receipts import VerifiedRun, computed_anew, run_of_key
from predibot.ledger.care.verification import VerifiedLedger, verified_ledger
from predibot.ledger.read.receipt_leaves import FORM, FORMS, leaves_of
from predibot.ledger.store import Store
from predibot.ledger.write.ledger_receipts import LedgerReceipt
from predibot.ledger.write.receipts import receipted_runs, root_of, stored_receipts
from predibot.ledger.write.runs import runs
from predibot.plain_file import plain_bytes
from predibot.whole_file import whole_file


class _RootLine(BaseModel):
    """One line of a file of roots."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def line(self) -> bytes:
        """Return it as it is written."""
        return rfc8785.dumps(self.model_dump(exclude_none=True)) + b"\n"


class _Root(_RootLine):
    """The root of a receipt."""

    receipt: int = Field(ge=1)
    form: int
    made_at: str
    root: str = Field(pattern="^[0-9a-f]{64}$")


class LedgerRoot(_Root):
    """The root of a ledger's newest receipt, which has all before it in it."""

    rows: int = Field(ge=1)


class PublishedLedgerRoot(_RootLine):
    """The root of the ledger where no run has a new one."""

    ledger: LedgerRoot


class PublishedRoot(_Root):
    """The root of a run, the last one of a call with that of the ledger."""

    run: str
    created_at: str
    decisions: int = Field(ge=1)
    ledger: LedgerRoot | None = None


class PublishedVoid(_RootLine):
    """That a run was taken out of all scores."""

    run: str
    created_at: str
    voided_at: str
    void_reason: str


_Run = tuple[str, str]
"""Its key, and when it was made."""


class _Published:
    """What a file of roots has, the newest last."""

    def __init__(self, lines: Sequence[_RootLine]) -> None:
        self.roots: dict[_Run, list[PublishedRoot]] = {}
        self.ledger: list[LedgerRoot] = []
        self.voids: dict[_Run, PublishedVoid] = {}
        for line in lines:
            if isinstance(line, PublishedRoot):
                self.roots.setdefault((line.run, line.created_at), []).append(line)
            if isinstance(line, PublishedVoid):
                self.voids[line.run, line.created_at] = line
            elif isinstance(line, PublishedRoot | PublishedLedgerRoot) and line.ledger is not None:
                self.ledger.append(line.ledger)


@dataclass(frozen=True, slots=True)
class Publication:
    """What was written into a file of roots."""

    added: tuple[_RootLine, ...]
    known: int
    """Lines that were in the file."""
    verified: tuple[VerifiedRun, ...] = ()
    """Every run with a new root; one that does not hold is not published."""
    ledger: VerifiedLedger | None = None
    """The ledger where its own root was to be published; one that does not hold is not."""


def verify_against(
    store: Store, file: Path, key: str | None = None
) -> tuple[tuple[VerifiedRun, ...], VerifiedLedger | None]:
    """Return the runs of a file of roots, or the one of a key, and the ledger, computed anew and compared with it.

    Raises:
        UsageError: If the file cannot be read, or has no line of the run.
    """
    published = _Published(_read(file))
    with store.read() as connection:
        known = {(run.key, format_instant(run.created_at)): run for run in receipted_runs(connection, key)}
        wanted = published.roots
        if key is not None:
            run = run_of_key(connection, key)
            of = (run.key, format_instant(run.created_at))
            if of not in wanted:
                raise UsageError(f"{file} has no root of run {key[:100]} made {of[1]}. Name another file")
            wanted = {of: wanted[of]}
        found = tuple(
            _compared(connection, known[of], roots, published.voids.get(of), file)
            if of in known
            else _missing(of, published.voids.get(of), file)
            for of, roots in wanted.items()
        )
        if key is not None:
            return found, None
        # A ledger that was imported has no receipts of the one that it is from.
        is_import = bool(known) and all(known[of].receipted == "imported" for of in wanted if of in known)
        return found, _compared_ledger(verified_ledger(connection), published.ledger, file, is_import=is_import)


def publish(store: Store, file: Path, key: str | None = None) -> Publication:
    """Append the roots to a file that it has not, of the run of a key or of all runs; all of them appear at once.

    Raises:
        UsageError: If the file cannot be read or written, or no run has or had this key.
    """
    with _appending(file) as (lines, add):
        published = _Published(lines)
        added, voids, verified, ledger = list[Any](), list[PublishedVoid](), [], None
        with store.read() as connection:
            chosen = receipted_runs(connection) if key is None else [run_of_key(connection, key)]
            for run in chosen:
                new, found = _unpublished(connection, run, published, file)
                if not run.receipts and key is not None:
                    found = computed_anew(connection, run)
                    found = replace(found, notes=(), problems=(*found.problems, *found.notes))
                if found is not None:
                    verified.append(found)
                if found is not None and found.holds:
                    added += new
                    # One that was void before anybody saw a root of it; later only `runs void` says so.
                    if run.void and new and (run.key, format_instant(run.created_at)) not in published.roots:
                        voids += _voids(connection, runs.c.id == run.id)
            if key is None:
                ledger = _compared_ledger(verified_ledger(connection), published.ledger, file, is_import=False)
                if ledger.holds and ledger.receipts and all(run.holds for run in verified):
                    newest = _root_of(ledger.receipts[-1])
                    if newest not in published.ledger:
                        root = PublishedLedgerRoot(ledger=newest)
                        added[-1:] = [added[-1].model_copy(update={"ledger": newest}) if added else root]
        added = [*voids, *added]
        add(added)
    return Publication(tuple(added), len(lines), tuple(verified), ledger)


def publish_voids(store: Store, file: Path, key: str) -> int:
    """Append a line for each void run of a key of which the file has a root and no such line; return how many.

    Raises:
        UsageError: If the file cannot be read or written.
    """
    with _appending(file) as (lines, add), store.read() as connection:
        published = _Published(lines)
        new = [
            each
            for each in _voids(connection, runs.c.key == key)
            if (of := (each.run, each.created_at)) in published.roots and of not in published.voids
        ]
        add(new)
    return len(new)


def _voids(connection: Connection, which: ColumnElement[bool]) -> list[PublishedVoid]:
    """Return a line of each of some runs that is void."""
    columns = (runs.c.key, runs.c.created_at, runs.c.voided_at, runs.c.void_reason)
    return [
        PublishedVoid(
            run=key,
            created_at=format_instant(created_at),
            voided_at=format_instant(voided_at),
            void_reason=reason or "",
        )
        for key, created_at, voided_at, reason in connection.execute(
            select(*columns).where(which, runs.c.voided_at.is_not(None))
        )
    ]


def _root_of(receipt: LedgerReceipt) -> LedgerRoot:
    return LedgerRoot(
        receipt=receipt.number,
        form=receipt.form,
        made_at=format_instant(receipt.made_at),
        rows=receipt.size,
        root=receipt.root,
    )


def _missing(of: _Run, void: PublishedVoid | None, file: Path) -> VerifiedRun:
    said = f"{file} has its root, and this ledger has no such run"
    if void is not None:
        return VerifiedRun(*of, void=True, notes=(f"{said}; {file} says that it was voided",))
    return VerifiedRun(*of, problems=(said,))


def _compared_ledger(
    found: VerifiedLedger, published: Sequence[LedgerRoot], file: Path, *, is_import: bool
) -> VerifiedLedger:
    """Return a ledger with what is wrong of it by the roots of it that were published."""
    if published and is_import:
        said = f"{file} has roots of the ledger that this one was imported from ({len(published)}), not compared"
        return replace(found, notes=(*found.notes, said))
    known = {receipt.number: receipt for receipt in found.receipts}
    for each in published:
        here = known.get(each.receipt)
        if here is None or _root_of(here) != each:
            what = "is not there any more" if here is None else "is another one here"
            said = f"{file} has receipt {each.receipt} of the ledger, which {what}: {each.root}"
            return replace(found, problems=(*found.problems, said))
    return found


def _compared(
    connection: Connection,
    run: Row[Any],
    published: Sequence[PublishedRoot],
    void: PublishedVoid | None,
    file: Path,
) -> VerifiedRun:
    """Return a run with what is wrong of it by the roots of it that were published, the newest last."""
    found = computed_anew(connection, run)
    newest = published[-1]
    if newest.form not in FORMS:
        said = f"{file} has its root in form {newest.form}, and {FORM} is known. Upgrade predibot"
        return replace(found, problems=(*found.problems, said))
    if said := _void_problem(connection, run, void, file):
        found = replace(found, problems=(*found.problems, said))
    roots = [receipt.root for receipt in found.receipts]
    is_without = not roots and not found.problems
    if is_without:
        found = replace(found, root=root_of(leaves_of(connection, run.id, newest.form)), notes=())
        found = replace(found, decisions=newest.decisions if found.root == newest.root else 0)
    # An import brings no receipts along, so that only what was published last can be compared.
    known = {*roots, *([each.root for each in published[:-1]] if is_without else []), found.root}
    if unknown := next((each.root for each in published if each.root not in known), None):
        said = f"{file} has {unknown} as a root, which is that of no receipt here"
        return replace(found, problems=(*found.problems, said))
    notes = list(found.notes)
    if not roots and len(published) > 1:
        notes.append(f"{file} has {len(published)} roots of it, and only the last is compared: no receipts are here")
    if found.root != newest.root and roots and newest.root != roots[-1]:
        notes.append(f"receipt {found.receipts[-1].number} came after the last root in {file}; --publish appends it")
    return replace(found, notes=tuple(notes))


def _void_problem(connection: Connection, run: Row[Any], void: PublishedVoid | None, file: Path) -> str:
    """Return what is wrong with a run that is void here or by the file; nothing where both say the same."""
    if void is None:
        said = f"it was voided since, and {file} has no line of that, which `predibot runs void --publish` appends"
        return said if run.void else ""
    if not run.void:
        return f"{file} says that it was voided, and it counts here"
    same = _voids(connection, runs.c.id == run.id) == [void]
    return "" if same else f"{file} says that it was voided at another time, or for another reason"


def _unpublished(
    connection: Connection, run: Row[Any], published: _Published, file: Path
) -> tuple[list[PublishedRoot], VerifiedRun | None]:
    """Return the roots of a run that a file has not, and the run computed anew where there are any."""
    created_at = format_instant(run.created_at)
    before = published.roots.get((run.key, created_at), [])
    if not run.receipts:
        return [], computed_anew(connection, run) if run.receipted == "here" else None
    receipts = stored_receipts(connection, run.id)
    roots = [receipt.root for receipt in receipts]
    if any(each.root not in roots for each in before):
        return [], _compared(connection, run, before, published.voids.get((run.key, created_at)), file)
    if before and before[-1].root == roots[-1]:
        return [], None
    found = computed_anew(connection, run)
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


def _read(file: Path) -> list[_RootLine]:
    """Return the lines of a file of roots.

    Raises:
        UsageError: If it cannot be read, or a line is none.
    """
    try:
        lines = plain_bytes(file).split(b"\n")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}. Name a file that --publish wrote") from None
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                found.append(_kind_of(line).model_validate_json(line))
        except ValidationError as error:
            said = error.errors(include_url=False, include_input=False)[0]["msg"]
            raise UsageError(
                f"{file}, line {number} is no root that --publish wrote: {said}. Restore that line"
            ) from None
    return found


def _kind_of(line: bytes) -> type[_RootLine]:
    """Return what a line is of; what is no object is looked at as a root."""
    said: Any = None
    with suppress(ValueError, RecursionError):
        said = json.loads(line)
    names = said if isinstance(said, dict) else {}
    return PublishedLedgerRoot if {*names} == {"ledger"} else PublishedVoid if "voided_at" in names else PublishedRoot


@contextmanager
def _appending(file: Path) -> Iterator[tuple[list[_RootLine], Callable[[Sequence[_RootLine]], None]]]:
    """Yield the lines of a file and what appends to it, while nobody else does.

    Raises:
        UsageError: If it cannot be read or written.
    """
    # What stands behind a link, not the link, is written anew.
    file = file.resolve()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # The folder is held, as the file itself is another one after each time.
        held = os.open(file.parent, os.O_RDONLY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield _read(file) if file.exists() else [], lambda added: _append(file, added)
        finally:
            os.close(held)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}. Name another file") from error


def _append(file: Path, added: Sequence[_RootLine]) -> None:
    if not added:
        return
    before = plain_bytes(file) if file.exists() else b""
    mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else None
    with whole_file(file, durable=True) as whole:
        if mode is not None:
            os.fchmod(whole.fileno(), mode)
        whole.write(before + (b"\n" if before and not before.endswith(b"\n") else b""))
        whole.write(b"".join(root.line() for root in added))
