"""The SQLite file of a ledger: its journal mode, its checksum, and a private copy to read.

SQLite reads a ledger through files that it makes beside it. Where it cannot make them, the file and its log are
copied; `immutable=1` would ignore that log.
"""

import os
import shutil
import sqlite3
import time
import zlib
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from predibot.errors import LedgerUnusable
from predibot.ledger.database_errors import explain_error
from predibot.ledger.url import sqlite_address
from predibot.plain_file import open_plain

BUSY_SECONDS = 30
_HEAD_BYTES = 100

_PROGRAM_AT = 68
"""Offset of the four-byte application id in a SQLite file."""

_LAID_DOWN = b"\x01\x01"
"""Read and write versions in the head of a file without write-ahead log."""

_PAUSE_SECONDS = 0.02

MAX_COPIED_BYTES = 2**30
_TRIES = 5
_PARTS = ("", "-wal", "-journal")


class PrivateCopy:
    """A copy of one state of a SQLite file, in a temporary folder that only this user can read."""

    def __init__(self, file: Path) -> None:
        """Copy a file with its log, again if it changed meanwhile.

        Raises `LedgerUnusable` if too large or never at rest.
        """
        self._folder = TemporaryDirectory(prefix="predibot-read-")
        self.file = Path(self._folder.name, "ledger.db")
        try:
            self._copy(file)
        except OSError as error:
            self.remove()
            raise _error(file, f"it could not be copied to be read: {error.strerror}") from error
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove the copy; whoever has it open can read on."""
        self._folder.cleanup()

    def _copy(self, file: Path) -> None:
        for _ in range(_TRIES):
            before = _file_states(file)
            n_bytes = sum(size for size, *_ in before.values())
            if n_bytes > min(MAX_COPIED_BYTES, shutil.disk_usage(self.file.parent).free):
                raise _error(file, f"with {n_bytes:,} bytes it is too large to be copied first")
            for part in _PARTS:
                copy = self.file.with_name(f"{self.file.name}{part}")
                copy.unlink(missing_ok=True)
                if part in before:
                    with open_plain(Path(f"{file}{part}")) as source, copy.open("xb") as target:
                        shutil.copyfileobj(source, target)
            if _file_states(file) == before:
                return
        raise _error(file, "another program writes to it all the time")


def _file_states(file: Path) -> dict[str, tuple[int, ...]]:
    """Return the size of each part that is there, and what else changes with every write."""
    found = {}
    for part in _PARTS:
        try:
            with open_plain(Path(f"{file}{part}")) as opened:
                seen = os.fstat(opened.fileno())
                times = (seen.st_mtime_ns, seen.st_ctime_ns)
                found[part] = (seen.st_size, *times, seen.st_ino, *opened.read(_HEAD_BYTES))
        except FileNotFoundError:
            continue
    return found


def _error(file: Path, why: str) -> LedgerUnusable:
    return LedgerUnusable(
        f"the ledger {file} lies where SQLite cannot write the files through which it reads, and {why}. Make the file "
        "and its folder writable, or read a backup (`predibot ledger backup FILE`), which needs no such files"
    )


def write_ahead(file: Path) -> None:
    """Set the journal mode in which readers and a writer work at once; SQLite does not wait for others here."""
    patient_until = time.monotonic() + BUSY_SECONDS
    with closing(sqlite3.connect(file)) as connection:
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL").close()
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > patient_until:
                    raise
            time.sleep(_PAUSE_SECONDS)


def lay_down(file: Path) -> None:
    """Make a SQLite file that nobody has open readable without writing, as in a read-only folder.

    Its own checksum replaces the application id. The next writer sets write-ahead mode again. LedgerUnusable is raised
    if SQLite fails.
    """
    try:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE").close()
    except sqlite3.Error as error:
        raise LedgerUnusable(f"the ledger {sqlite_address(file)} cannot be used: {explain_error(error)}") from error
    with file.open("r+b") as laid_down:
        _, _, checksum = _checksums(laid_down)
        laid_down.seek(_PROGRAM_AT)
        laid_down.write(checksum)


def matches_checksum(file: Path) -> bool:
    """Return whether a file is unchanged since `lay_down`, or was opened for writing since."""
    with open_plain(file) as laid_down:
        versions, stored, checksum = _checksums(laid_down)
    return versions != _LAID_DOWN or stored in (bytes(len(stored)), checksum)


def _checksums(file: BinaryIO) -> tuple[bytes, bytes, bytes]:
    head = file.read(_HEAD_BYTES)
    behind = _PROGRAM_AT + 4
    total = zlib.crc32(head[:_PROGRAM_AT] + head[behind:])
    while block := file.read(2**20):
        total = zlib.crc32(block, total)
    return head[18:20], head[_PROGRAM_AT:behind], max(total, 1).to_bytes(4, "big")


def has_all_pages(file: Path) -> bool:
    """Return whether a file that shrank has all the pages that its head counts, as compaction leaves it."""
    try:
        with open_plain(file) as opened:
            head = opened.read(_HEAD_BYTES)
            # Looked at after the head, as the file may grow again at any moment.
            size_bytes = os.fstat(opened.fileno()).st_size
    except OSError:
        return False
    # A size of one stands for the largest, which does not fit there.
    page_bytes = {1: 65_536}.get(size := int.from_bytes(head[16:18]), size)
    pages = int.from_bytes(head[28:32])
    return len(head) == _HEAD_BYTES and 0 < pages * page_bytes <= size_bytes
