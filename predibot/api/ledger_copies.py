"""Copies of a whole ledger: into another database, into a backup, and back from one."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import make_url

from predibot.contracts import ProgressListener
from predibot.errors import LedgerUnusable, UsageError
from predibot.jobs.caller import Caller
from predibot.ledger.care.ledger_copy import LedgerCopy, copy_ledger
from predibot.ledger.sqlite_files import lay_down
from predibot.ledger.store import Store
from predibot.ledger.url import sqlite_address, sqlite_file
from predibot.whole_file import remove_unfinished_files, whole_file


@dataclass(frozen=True, slots=True)
class CopyReport:
    """The source, target and content of a copy."""

    source: str
    target: str
    copied: LedgerCopy
    n_bytes: int | None = None


def copy(caller: Caller, *, source: str, target: str) -> CopyReport:
    """Copy a ledger into an empty one, of either kind of database; raise `UsageError` if the target has rows."""
    with Store.open_to_read(source) as before, Store.open(target) as after:
        with caller.following(before) as listener:
            copied = copy_ledger(before, after, listener)
        return CopyReport(before.address, after.address, copied)


def back_up(caller: Caller, *, ledger: str, place: Path) -> CopyReport:
    """Write a ledger with its traces and pages into one ledger file; raise `UsageError` if it exists."""
    with Store.open_to_read(ledger) as before:
        file = _backup_path(place, before, caller.clock())
        remove_unfinished_files(file.parent)
        try:
            with whole_file(file, durable=True) as unfinished, caller.following(before) as listener:
                copied = _copy_into(Path(unfinished.name), file, before, listener)
                # Copying takes a while, in which another backup may have been made there.
                _require_new(file)
        except OSError as error:
            message = f"the backup {file} cannot be written: {error.strerror}. Make room, or name another place"
            raise LedgerUnusable(message) from error
    return CopyReport(before.address, str(file), copied, file.stat().st_size)


def restore(caller: Caller, *, backup: Path, ledger: str) -> CopyReport:
    """Copy a backup into an empty ledger; raise `UsageError` if the ledger has rows."""
    if not backup.is_file():
        wrote = "`predibot ledger backup FILE --ledger OTHER` wrote"
        raise UsageError(f"there is no backup {backup}. Name a file that {wrote}")
    with Store.open_to_read(sqlite_address(backup)) as kept:
        kept.require_whole()
    report = copy(caller, source=sqlite_address(backup), target=ledger)
    return CopyReport(str(backup), report.target, report.copied)


def _backup_path(place: Path, store: Store, now: datetime) -> Path:
    """Return the path of a new backup: the place itself, or in a folder a name from ledger and instant."""
    url = make_url(store.address)
    file = sqlite_file(url)
    name = url.database if file is None else file.stem
    try:
        if place.is_dir():
            place = place / f"{name}-{now:%Y%m%dT%H%M%S.%fZ}.db"
        _require_new(place)
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerUnusable(f"the backup {place} cannot be written: {error.strerror}. Name another place") from error
    return place


def _require_new(place: Path) -> None:
    if place.exists():
        raise UsageError(f"there is a file {place} already, and a backup replaces none. Name another")


def _copy_into(unfinished: Path, file: Path, before: Store, listener: ProgressListener) -> LedgerCopy:
    """Copy a ledger into an unfinished file; errors name the file's final path."""
    address = sqlite_address(unfinished)
    try:
        with Store.open(address, artefacts_inside=True) as after:
            copied = copy_ledger(before, after, listener)
        lay_down(unfinished)
    except LedgerUnusable as error:
        raise LedgerUnusable(str(error).replace(f"ledger {address}", f"backup {file}")) from error
    return copied
