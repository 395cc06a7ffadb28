"""Whole files: each appears under its name once all of it is written, or not at all."""

import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from predibot.errors import UsageError
from predibot.plain_file import open_plain

_UNFINISHED = re.compile(r"\.unfinished-[0-9a-f]{32}")


@contextmanager
def whole_file(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """Yield a new file that replaces `path` once it is written; a failed one leaves nothing but its `OSError`.

    The file is made beside `path`, in an existing folder, under a name that nobody can guess and only if nothing has
    that name: no link there is followed. A link at `path` itself is replaced; its target stays. A killed process leaves
    its file for `remove_unfinished_files`. If `durable`, content and name are on the disk when it appears.
    """
    unfinished = path.with_name(f".unfinished-{secrets.token_hex(16)}")
    try:
        with _open_new(unfinished) as file:
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
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(unfinished):
            # Whoever reads it knows the file by its own name.
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Wait until nobody else has a folder locked, and lock it: for files in it that are looked at and then replaced."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # Some network disks have no locks.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def blame_path(path: Path, remedy: str = "; name another folder") -> Iterator[None]:
    """Turn an `OSError` of writing to a path into a `UsageError` that names it and says what to do."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}{remedy}") from error


def remove_unfinished_files(folder: Path) -> None:
    """Remove the unfinished files of killed processes from a folder, with SQLite's files beside them. Files that are
    still being written stay, and so do those that may not be removed.
    """
    for path in folder.glob(".unfinished-*"):
        if not is_unfinished(path):
            continue
        with suppress(OSError), open_plain(path) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for mark in ("-journal", "-wal", "-shm", ""):
                path.with_name(path.name + mark).unlink(missing_ok=True)


def is_unfinished(path: Path) -> bool:
    """Return whether a file has a name that `whole_file` gives to what it writes."""
    return _UNFINISHED.fullmatch(path.name) is not None and not path.is_symlink()


def _open_new(path: Path) -> BinaryIO:
    """Return a new file with a lock, so that `remove_unfinished_files` leaves it alone while it is written."""
    while True:
        file = path.open("xb")
        # Some network disks have no locks; there `remove_unfinished_files` removes nothing either.
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        if path.exists():
            return file
        file.close()
