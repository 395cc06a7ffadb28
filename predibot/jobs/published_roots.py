"""The file of roots: every run's root as it was published, to be appended to and compared with."""

import fcntl
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import rfc8785
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import Connection

from predibot.domain.clock import format_instant
from predibot.errors import UsageError
from predibot.jobs.receipts import NO_RECEIPT, VerifiedRun, computed_anew, run_of_key
from predibot.ledger.read.receipt_leaves import FORM
from predibot.ledger.store import Store
from predibot.ledger.write.receipts import ReceiptedRun, receipted_runs, stored_receipts
from predibot.whole_file import whole_file


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
            run = run_of_key(connection, key)
            of = (run.key, format_instant(run.created_at))
            if of not in published:
                raise UsageError(f"{file} has no root of run {key[:100]} made {of[1]}. Name another file")
            published = {of: published[of]}
        return tuple(
            _compared(computed_anew(connection, known[of]), roots, file)
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
                chosen = receipted_runs(connection) if key is None else [run_of_key(connection, key)]
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


def _compared(found: VerifiedRun, published: Sequence[PublishedRoot], file: Path) -> VerifiedRun:
    """Return a run with what is wrong of it by the roots of it that were published, the newest last."""
    newest = published[-1]
    if newest.form != FORM:
        said = f"{file} has its root in form {newest.form}, and {FORM} is known. Upgrade predibot"
        return replace(found, problems=(*found.problems, said))
    roots = [receipt.root for receipt in found.receipts]
    # An import brings no receipts along, so that only what was published last can be compared.
    known = {*roots, *([] if roots else [each.root for each in published[:-1]]), found.root}
    if unknown := next((each.root for each in published if each.root not in known), None):
        said = f"{file} has {unknown} as a root, which is that of no receipt here"
        return replace(found, problems=(*found.problems, said))
    notes = list(found.notes)
    if not roots and len(published) > 1:
        notes.append(f"{file} has {len(published)} roots of it, and only the last is compared: no receipts are here")
    if found.root != newest.root and roots and newest.root != roots[-1]:
        notes.append(f"receipt {found.receipts[-1].number} came after the last root in {file}; --publish appends it")
    return replace(found, notes=tuple(notes))


def _unpublished(
    connection: Connection, run: ReceiptedRun, published: "_Roots", file: Path
) -> tuple[list[PublishedRoot], VerifiedRun | None]:
    """Return the roots of a run that a file has not, and the run computed anew where there are any."""
    if not run.receipts:
        return [], None
    created_at = format_instant(run.created_at)
    before = published.get((run.key, created_at), [])
    receipts = stored_receipts(connection, run.id)
    roots = [receipt.root for receipt in receipts]
    if any(each.root not in roots for each in before):
        return [], _compared(computed_anew(connection, run), before, file)
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
