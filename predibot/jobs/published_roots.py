"""Published roots: a file with the roots of runs and of the ledger, to append to and to verify against."""

import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import rfc8785
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import ColumnElement, Connection, Row, select

from predibot.domain.clock import format_instant
from predibot.errors import UsageError
from predibot.jobs.receipts import VerifiedRun, run_of_key, verify_run
from predibot.ledger.care.verification import LedgerVerification, verify_ledger
from predibot.ledger.read.receipt_leaves import FORM, FORMS, leaves_of
from predibot.ledger.store import Store
from predibot.ledger.write.ledger_receipts import (
    LedgerReceipt,
    Receipt,
    list_runs_with_receipts,
    read_receipts,
    root_of,
)
from predibot.ledger.write.runs import runs
from predibot.plain_file import plain_bytes
from predibot.whole_file import blame_path, lock_folder, whole_file


class _RootLine(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def line(self) -> bytes:
        return rfc8785.dumps(self.model_dump(exclude_none=True)) + b"\n"


class _Root(_RootLine):
    receipt: int = Field(ge=1)
    form: int
    made_at: str
    root: str = Field(pattern="^[0-9a-f]{64}$")

    @classmethod
    def of(cls, receipt: Receipt | LedgerReceipt, **more: Any) -> Self:
        """Return the root of a receipt, with the fields of its kind."""
        at = format_instant(receipt.made_at)
        return cls(receipt=receipt.number, form=receipt.form, made_at=at, root=receipt.root, **more)


class LedgerRoot(_Root):
    """The root of a ledger's newest receipt, which covers all earlier ones."""

    rows: int = Field(ge=1)


class PublishedLedgerRoot(_RootLine):
    """The ledger's root where no run has a new one."""

    ledger: LedgerRoot


class PublishedRoot(_Root):
    """The root of a run; the last of a call carries the ledger's too."""

    run: str
    created_at: str
    decisions: int = Field(ge=1)
    ledger: LedgerRoot | None = None


class PublishedVoid(_RootLine):
    """A note that a run was taken out of all scores."""

    run: str
    created_at: str
    voided_at: str
    void_reason: str


_RunId = tuple[str, str]
"""A run's key and the instant it was made."""


class _RootsFile:
    """The content of a file of roots, the newest last."""

    def __init__(self, lines: Sequence[_RootLine]) -> None:
        self.roots: dict[_RunId, list[PublishedRoot]] = {}
        self.ledger: list[LedgerRoot] = []
        self.voids: dict[_RunId, PublishedVoid] = {}
        for line in lines:
            if isinstance(line, PublishedRoot):
                self.roots.setdefault((line.run, line.created_at), []).append(line)
            if isinstance(line, PublishedVoid):
                self.voids[line.run, line.created_at] = line
            elif isinstance(line, PublishedRoot | PublishedLedgerRoot) and line.ledger is not None:
                self.ledger.append(line.ledger)


@dataclass(frozen=True, slots=True)
class Publication:
    """The lines added to a file of roots."""

    added: tuple[_RootLine, ...]
    known: int
    verified: tuple[VerifiedRun, ...] = ()
    """Every run with a new root; a run that fails verification is not published."""
    ledger: LedgerVerification | None = None
    """The verified ledger where its root was due; None for a single run."""


def verify_against(
    store: Store, file: Path, key: str | None = None
) -> tuple[tuple[VerifiedRun, ...], LedgerVerification | None]:
    """Verify the runs in a file of roots, or the run of a key, and the ledger.

    Raises `UsageError` if the file lacks them.
    """
    published = _RootsFile(_read_lines(file))
    with store.read() as connection:
        known = {(run.key, format_instant(run.created_at)): run for run in list_runs_with_receipts(connection, key)}
        wanted = published.roots
        if key is not None:
            run = run_of_key(connection, key)
            of = (run.key, format_instant(run.created_at))
            if of not in wanted:
                raise UsageError(f"{file} has no root of run {key[:100]} made {of[1]}. Name another file")
            wanted = {of: wanted[of]}
        found = tuple(
            _compare_run(connection, known[of], roots, published.voids.get(of), file)
            if of in known
            else _missing_run(of, published.voids.get(of), file)
            for of, roots in wanted.items()
        )
        if key is not None:
            return found, None
        # An import brings no receipts of the original ledger.
        is_import = bool(known) and all(known[of].receipted == "imported" for of in wanted if of in known)
        return found, _compare_ledger(verify_ledger(connection), published.ledger, file, is_import=is_import)


def publish(store: Store, file: Path, key: str | None = None) -> Publication:
    """Append missing roots to a file, of the run of a key or of all runs; all lines appear at once."""
    with _open_to_append(file) as (lines, add):
        published = _RootsFile(lines)
        added, voids, verified, ledger = list[Any](), list[PublishedVoid](), [], None
        with store.read() as connection:
            chosen = list_runs_with_receipts(connection) if key is None else [run_of_key(connection, key)]
            for run in chosen:
                new, found = _new_roots(connection, run, published, file)
                if not run.receipts and key is not None:
                    found = verify_run(connection, run)
                    found = replace(found, notes=(), problems=(*found.problems, *found.notes))
                if found is not None:
                    verified.append(found)
                if found is not None and found.holds:
                    added += new
                    # The run was void before its first root; for later voids `runs void` writes the line.
                    if run.void and new and (run.key, format_instant(run.created_at)) not in published.roots:
                        voids += _void_lines(connection, runs.c.id == run.id)
            if key is None:
                ledger = _compare_ledger(verify_ledger(connection), published.ledger, file, is_import=False)
                if ledger.holds and ledger.receipts and all(run.holds for run in verified):
                    newest = LedgerRoot.of(last := ledger.receipts[-1], rows=last.size)
                    if newest not in published.ledger:
                        root = PublishedLedgerRoot(ledger=newest)
                        added[-1:] = [added[-1].model_copy(update={"ledger": newest}) if added else root]
        added = [*voids, *added]
        add(added)
    return Publication(tuple(added), len(lines), tuple(verified), ledger)


def publish_voids(store: Store, file: Path, key: str) -> int:
    """Append a line for each newly void run of a key that has a root in the file; return the number of lines."""
    with _open_to_append(file) as (lines, add), store.read() as connection:
        published = _RootsFile(lines)
        new = [
            each
            for each in _void_lines(connection, runs.c.key == key)
            if (of := (each.run, each.created_at)) in published.roots and of not in published.voids
        ]
        add(new)
    return len(new)


def _void_lines(connection: Connection, which: ColumnElement[bool]) -> list[PublishedVoid]:
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


def _missing_run(of: _RunId, void: PublishedVoid | None, file: Path) -> VerifiedRun:
    problem = f"{file} has its root, and this ledger has no such run"
    if void is not None:
        return VerifiedRun(*of, void=True, notes=(f"{problem}; {file} says that it was voided",))
    return VerifiedRun(*of, problems=(problem,))


def _compare_ledger(
    found: LedgerVerification, published: Sequence[LedgerRoot], file: Path, *, is_import: bool
) -> LedgerVerification:
    if published and is_import:
        problem = f"{file} has roots of the ledger that this one was imported from ({len(published)}), not compared"
        return replace(found, notes=(*found.notes, problem))
    known = {receipt.number: receipt for receipt in found.receipts}
    for each in published:
        here = known.get(each.receipt)
        if here is None or LedgerRoot.of(here, rows=here.size) != each:
            what = "is not there any more" if here is None else "is another one here"
            problem = f"{file} has receipt {each.receipt} of the ledger, which {what}: {each.root}"
            return replace(found, problems=(*found.problems, problem))
    return found


def _compare_run(
    connection: Connection, run: Row[Any], published: Sequence[PublishedRoot], void: PublishedVoid | None, file: Path
) -> VerifiedRun:
    found = verify_run(connection, run)
    newest = published[-1]
    if newest.form not in FORMS:
        problem = f"{file} has its root in form {newest.form}, and {FORM} is known. Upgrade predibot"
        return replace(found, problems=(*found.problems, problem))
    if problem := _void_problem(connection, run, void, file):
        found = replace(found, problems=(*found.problems, problem))
    roots = [receipt.root for receipt in found.receipts]
    is_without = not roots and not found.problems
    if is_without:
        found = replace(found, root=root_of(leaves_of(connection, run.id, newest.form)), notes=())
        found = replace(found, decisions=newest.decisions if found.root == newest.root else 0)
    # An import brings no receipts, so only the last published root can be compared.
    known = {*roots, *([each.root for each in published[:-1]] if is_without else []), found.root}
    if unknown := next((each.root for each in published if each.root not in known), None):
        problem = f"{file} has {unknown} as a root, which is that of no receipt here"
        return replace(found, problems=(*found.problems, problem))
    notes = list(found.notes)
    if not roots and len(published) > 1:
        notes.append(f"{file} has {len(published)} roots of it, and only the last is compared: no receipts are here")
    if found.root != newest.root and roots and newest.root != roots[-1]:
        notes.append(f"receipt {found.receipts[-1].number} came after the last root in {file}; --publish appends it")
    return replace(found, notes=tuple(notes))


def _void_problem(connection: Connection, run: Row[Any], void: PublishedVoid | None, file: Path) -> str:
    """Return how ledger and file disagree on whether a run is void; no text where they agree."""
    if void is None:
        problem = (
            f"it was voided since, and {file} has no line of that; "
            "`predibot runs void KEY --reason WHY --publish FILE` adds it"
        )
        return problem if run.void else ""
    if not run.void:
        return f"{file} says that it was voided, and it counts here"
    same = _void_lines(connection, runs.c.id == run.id) == [void]
    return "" if same else f"{file} says that it was voided at another time, or for another reason"


def _new_roots(
    connection: Connection, run: Row[Any], published: _RootsFile, file: Path
) -> tuple[list[PublishedRoot], VerifiedRun | None]:
    """Return a run's roots that the file lacks, and the run verified if there are any."""
    created_at = format_instant(run.created_at)
    before = published.roots.get((run.key, created_at), [])
    if not run.receipts:
        return [], verify_run(connection, run) if run.receipted == "here" else None
    receipts = read_receipts(connection, run.id)
    roots = [receipt.root for receipt in receipts]
    if any(each.root not in roots for each in before):
        return [], _compare_run(connection, run, before, published.voids.get((run.key, created_at)), file)
    if before and before[-1].root == roots[-1]:
        return [], None
    found = verify_run(connection, run)
    first = 1 + max(at for at, root in enumerate(roots) if root == before[-1].root) if before else 0
    new = [
        PublishedRoot.of(receipt, run=run.key, created_at=created_at, decisions=len(receipt.leaves))
        for receipt in receipts[first:]
    ]
    return new, found


def _read_lines(file: Path) -> list[_RootLine]:
    try:
        lines = plain_bytes(file).split(b"\n")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}. Name a file that --publish wrote") from None
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                found.append(_line_type(line).model_validate_json(line))
        except ValidationError as error:
            reason = error.errors(include_url=False, include_input=False)[0]["msg"]
            raise UsageError(
                f"{file}, line {number} is no root that --publish wrote: {reason}. Restore that line"
            ) from None
    return found


def _line_type(line: bytes) -> type[_RootLine]:
    """Return the class of a line; a line that is no object is validated as a root."""
    data: Any = None
    with suppress(ValueError, RecursionError):
        data = json.loads(line)
    names = data if isinstance(data, dict) else {}
    return PublishedLedgerRoot if {*names} == {"ledger"} else PublishedVoid if "voided_at" in names else PublishedRoot


@contextmanager
def _open_to_append(file: Path) -> Iterator[tuple[list[_RootLine], Callable[[Sequence[_RootLine]], None]]]:
    """Yield a file's lines and a function that appends some, under a lock.

    Raises `UsageError` if it cannot be written.
    """
    # The target of a link is replaced, not the link.
    named, file = file, Path(os.path.realpath(file))
    if file.is_symlink():
        raise UsageError(f"{named} is a link that leads back to itself. Name another file")
    with blame_path(file, ". Name another file"):
        file.parent.mkdir(parents=True, exist_ok=True)
        with lock_folder(file.parent):
            yield _read_lines(file) if file.exists() else [], lambda added: _append(file, added)


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
