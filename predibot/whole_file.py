"""A whole file: it appears under its name when all of it is written, or not at all."""

import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from predibot.plain_file import open_plain

_UNFINISHED = re.compile(r"\.unfinished-[0-9a-f]{32}")


@contextmanager
def whole_file(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """Yield a new file that takes the place of `path` once it is written; of one that fails nothing stays.

    It is made beside `path` under a name that nobody can guess, and only if
    nothing has that name, so no link that lies there is followed. A link at
    `path` itself is replaced, and what it points to stays as it is. Of one
    that is killed the file stays, until `clear_unfinished`.

    Args:
        path: Its name in the end, in a folder that exists.
        durable: Whether it is on the disk, name and all, when it appears.

    Raises:
        OSError: If it cannot be written.
    """
    unfinished = path.with_name(f".unfinished-{secrets.token_hex(16)}")
    try:
        with _new(unfinished) as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
            unfinished.replace(path)
        if durable:
            names = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(names)
            finally:
                os.close(names)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def clear_unfinished(folder: Path) -> None:
    """Remove what killed processes left of whole files in a folder, with what SQLite left beside them.

    What is being written stays, and what may not be removed.
    """
    for path in folder.glob(".unfinished-*"):
        if not _UNFINISHED.fullmatch(path.name) or path.is_symlink():
            continue
        with suppress(OSError), open_plain(path) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for mark in ("-journal", "-wal", "-shm", ""):
                path.with_name(path.name + mark).unlink(missing_ok=True)


def _new(path: Path) -> BinaryIO:
    """Return a new file whose lock tells who clears up that it is being written."""
    while True:
        file = path.open("xb")
        # Some network disks have no such locks; there nobody takes it for left either.
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        if path.exists():
            return file
        file.close()
