"""Plain files: the one way in which predibot reads files and unpacks bytes, never further than a bound.

A foreign file may be a pipe without a writer, a device without an end, larger than memory, or a few bytes that unpack
to gigabytes.
"""

import errno
import os
import select
import stat
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

MAX_WHOLE_BYTES = 64 * 2**20
_NO_FILE = "it is no file, but a pipe or a device"
_PIPE_SECONDS = 15.0
_GZIP_OR_ZLIB = 47
"""Window bits that tell zlib to take either header."""


class NotPlain(OSError):
    """The path is not a plain file's, or the file is too large."""

    def __str__(self) -> str:
        """Return the reason without number and name."""
        return str(self.strerror)


def open_plain(path: Path, most: int | None = None) -> BinaryIO:
    """Open a file to read its bytes; links are followed. Raises `OSError` if it cannot be opened, is a folder, a pipe
    or a device, or has more than `most` bytes; a caller that reads it piece by piece needs no bound.
    """
    # Without blocking: else a named pipe would wait for its writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise NotPlain(errno.EISDIR, "it is no file, but a folder", str(path))
        if not stat.S_ISREG(found.st_mode):
            raise NotPlain(errno.EINVAL, _NO_FILE, str(path))
        if most is not None and found.st_size > most:
            raise _too_large(path, most)
        return os.fdopen(descriptor, "rb")
    except OSError:
        os.close(descriptor)
        raise


def plain_bytes(path: Path, most: int = MAX_WHOLE_BYTES) -> bytes:
    """Return the content of a file; raise `OSError` as `open_plain` does, or if it yields more bytes than its size."""
    with open_plain(path, most) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise _too_large(path, most)
    return content


def plain_text(path: Path, most: int = MAX_WHOLE_BYTES, *, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Return the text of a file, its lines ended by line feeds; raise `UnicodeDecodeError` for another encoding."""
    text = plain_bytes(path, most).decode(encoding, errors)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def names_in(folder: Path, most: int) -> list[str]:
    """Return the names in a folder, unsorted; reading stops where there are too many."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in islice(entries, most + 1)]
    if len(names) > most:
        raise NotPlain(errno.EFBIG, f"it holds more than {most:,} files", str(folder))
    return names


def pipe_pieces(path: Path) -> Iterator[bytes]:
    """Yield the bytes that arrive at a named pipe, such as a shell's `<(...)`, until its writer closes it. Raises
    `OSError` if it is no pipe, or nothing arrives for some seconds.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            raise NotPlain(errno.EINVAL, _NO_FILE, str(path))
        while select.select([descriptor], [], [], _PIPE_SECONDS)[0]:
            if not (piece := os.read(descriptor, 2**16)):
                return
            yield piece
        raise NotPlain(errno.ETIMEDOUT, f"it is a pipe to which nothing was written for {_PIPE_SECONDS:g} seconds")
    finally:
        os.close(descriptor)


def unpack(packed: bytes, most: int = MAX_WHOLE_BYTES) -> bytes:
    """Return the content of bytes packed by gzip or zlib. Raises `ValueError` if they are not packed so, are cut short,
    hold more than `most` bytes, or have bytes behind their end.
    """
    engine = zlib.decompressobj(_GZIP_OR_ZLIB)
    try:
        content = engine.decompress(packed, most + 1)
    except zlib.error as error:
        raise ValueError(f"it cannot be unpacked: {error}") from None
    if len(content) > most:
        raise ValueError(f"it unpacks to more than {most:,} bytes")
    if not engine.eof or engine.unused_data:
        raise ValueError("it is cut short, or something stands behind it")
    return content


def _too_large(path: Path, most: int) -> NotPlain:
    return NotPlain(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
