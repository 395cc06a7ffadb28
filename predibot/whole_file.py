"""A whole file: it appears under its name when all of it is written, or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """Yield a new file that takes the place of `path` once it is written; of one that fails nothing stays.

    It is made beside `path` under a name that nobody can guess, and only if
    nothing has that name, so no link that lies there is followed. A link at
    `path` itself is replaced, and what it points to stays as it is.

    Args:
        path: Its name in the end, in a folder that exists.
        durable: Whether it is on the disk, name and all, when it appears.

    Raises:
        OSError: If it cannot be written.
    """
    unfinished = path.with_name(f".unfinished-{secrets.token_hex(16)}")
    try:
        with unfinished.open("xb") as file:
            yield file
            if durable:
                file.flush()
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
