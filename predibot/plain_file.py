"""A plain file: opened to be read if it is one, and read no further than it may be long.

The one way by which predibot reads files and unpacks bytes. A file of others may be a pipe that says nothing, a device
that never ends, larger than the memory, or a few bytes that unpack to gigabytes.
"""

import errno
import os
import stat
import zlib
from pathlib import Path
from typing import BinaryIO

MAX_SETTINGS_BYTES = 2**20
"""Of what somebody writes by hand: settings, recipes, a salt, a name."""
_GZIP_OR_ZLIB = 47
"""Window bits that tell zlib to take either header."""


def open_plain(path: Path, most: int | None = None) -> BinaryIO:
    """Open a file to read its bytes; a link is followed, and whoever reads a part of it at a time needs no bound.

    Args:
        path: Its name.
        most: How many bytes it may have.

    Raises:
        OSError: If it cannot be opened, is a folder, a pipe, a socket or a device, or is too large.
    """
    # Not waiting for one who writes to a pipe; to read a plain file waits for nobody.
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    try:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is a folder, a pipe, a socket or a device, not a file", str(path))
        if most is not None and found.st_size > most:
            raise _too_large(path, most)
    except OSError:
        file.close()
        raise
    return file


def plain_bytes(path: Path, most: int) -> bytes:
    """Return what a file holds.

    Raises:
        OSError: As `open_plain`, and if more is found than the size that it has, as files of /proc do.
    """
    with open_plain(path, most) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise _too_large(path, most)
    return content


def plain_text(path: Path, most: int = MAX_SETTINGS_BYTES, *, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Return what a file says, with the ends of its lines as they are.

    Raises:
        OSError: As `plain_bytes`.
        UnicodeDecodeError: If it is not of that encoding.
    """
    return plain_bytes(path, most).decode(encoding, errors)


def unpacked(packed: bytes, most: int) -> bytes:
    """Return what bytes of gzip or zlib hold.

    Raises:
        ValueError: If they are no such bytes, are cut short, hold more than `most` bytes or something behind it.
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


def _too_large(path: Path, most: int) -> OSError:
    return OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
