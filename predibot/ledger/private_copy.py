"""A private copy of a SQLite file, to be read where nothing can be written beside it.

SQLite reads a ledger through files that it makes beside it. Where it cannot make them, the file and its log are copied;
`immutable=1` would pass over that log.
"""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from predibot.errors import LedgerUnusable
from predibot.plain_file import open_plain

MAX_COPIED_BYTES = 2**30
_TRIES = 5
_HEAD_BYTES = 100
_PARTS = ("", "-wal", "-journal")


class _FilePart(NamedTuple):
    n_bytes: int
    written_ns: int
    changed_ns: int
    number: int
    head: bytes


class PrivateCopy:
    """A copy of one state of a SQLite file, in a temporary folder that only this user can read."""

    def __init__(self, file: Path) -> None:
        """Copy a file with its log; tried anew where somebody writes to it meanwhile.

        Raises:
            LedgerUnusable: If it is large, there is no room for it, or it is written to all the time.
        """
        self._folder = TemporaryDirectory(prefix="predibot-read-")
        self.file = Path(self._folder.name, "ledger.db")
        try:
            self._copy(file)
        except OSError as error:
            self.remove()
            raise _unusable(file, f"it could not be copied to be read: {error.strerror}") from error
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove it; who has it open reads on."""
        self._folder.cleanup()

    def _copy(self, file: Path) -> None:
        for _ in range(_TRIES):
            before = _parts(file)
            n_bytes = sum(part.n_bytes for part in before.values())
            if n_bytes > min(MAX_COPIED_BYTES, shutil.disk_usage(self.file.parent).free):
                raise _unusable(file, f"with {n_bytes:,} bytes it is too large to be copied first")
            for part in _PARTS:
                copy = self.file.with_name(f"{self.file.name}{part}")
                copy.unlink(missing_ok=True)
                if part in before:
                    with open_plain(Path(f"{file}{part}")) as source, copy.open("xb") as target:
                        shutil.copyfileobj(source, target)
            if _parts(file) == before:
                return
        raise _unusable(file, "another program writes to it all the time")


def _parts(file: Path) -> dict[str, _FilePart]:
    """Return what is seen of each part that is there; whoever writes to one changes that."""
    found = {}
    for part in _PARTS:
        try:
            with open_plain(Path(f"{file}{part}")) as opened:
                seen = os.fstat(opened.fileno())
                found[part] = _FilePart(
                    seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, opened.read(_HEAD_BYTES)
                )
        except FileNotFoundError:
            continue
    return found


def _unusable(file: Path, why: str) -> LedgerUnusable:
    return LedgerUnusable(
        f"the ledger {file} lies where SQLite cannot write the files through which it reads, and {why}. Make the file "
        "and its folder writable, or read a backup (`predibot ledger backup`), which needs no such files"
    )
