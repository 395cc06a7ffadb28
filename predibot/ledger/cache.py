"""The cache: results computed from a ledger, kept in the user's own folder until the ledger changes.

A ledger may be somebody else's file, so nothing of this lies in it. A key names all that a result depends on: the
ledger's place, the state of its file, the database's counts of changes, and the digest of the code.
"""

import hashlib
import io
import logging
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from predibot._folders import folders_from_environment
from predibot.environment import cache_folder
from predibot.ledger.schema.tables import ChangeRow
from predibot.ledger.schema.upsert import table_of
from predibot.ledger.store import OPENED_FILE
from predibot.ledger.url import sqlite_file
from predibot.ledger.write.runs import runs
from predibot.plain_file import open_plain, plain_bytes
from predibot.plugins.games import GAME
from predibot.plugins.registry import package_files
from predibot.plugins.venues import VENUE
from predibot.whole_file import remove_unfinished_files, whole_file

_log = logging.getLogger(__name__)

changes = table_of(ChangeRow)

MOST_BYTES = 500_000_000
"""For all ledgers together; the least recently read entries go first."""
_DIGEST_BYTES = 32
_NAME = re.compile("[0-9a-f]{64}")
_CODE = ("domain", "games", "jobs", "ledger", "plugins", "scoring", "venues")
"""The folders of the package that results depend on."""


@dataclass(frozen=True, slots=True)
class Cache:
    """The entries for one state of a ledger."""

    folder: Path
    state: str
    """Differs after any change of the ledger or the code."""

    def text(self, question: object) -> str | None:
        """Return the text kept for a question, or None; equal questions have an equal `repr`."""
        try:
            return self._read(question).decode()
        except (OSError, UnicodeDecodeError):
            return None

    def keep_text(self, question: object, content: str) -> None:
        """Keep a text for a question in place of an earlier one, if there is room."""
        self._keep(question, content.encode())

    def arrays(self, question: object, kinds: Sequence[np.dtype[np.void]]) -> list[NDArray[np.void]] | None:
        """Return the arrays kept for a question, one of each kind, or None."""
        try:
            content = io.BytesIO(self._read(question))
            found = [np.load(content, allow_pickle=False) for _ in kinds]
        except (OSError, EOFError, ValueError, MemoryError):
            return None
        fit = all(
            isinstance(each, np.ndarray) and each.dtype == kind and each.ndim == 1
            for each, kind in zip(found, kinds, strict=True)
        )
        return found if fit else None

    def keep_arrays(self, question: object, arrays: Sequence[NDArray[np.void]]) -> None:
        """Keep arrays for a question, as `keep_text`."""
        if sum(each.nbytes for each in arrays) < MOST_BYTES:
            content = io.BytesIO()
            for each in arrays:
                np.save(content, each, allow_pickle=False)
            self._keep(question, content.getbuffer())

    def _file(self, question: object) -> Path:
        return self.folder / hashlib.sha256(repr((self.state, question)).encode()).hexdigest()

    def _read(self, question: object) -> bytes:
        file = self._file(question)
        with open_plain(file, MOST_BYTES) as held:
            if os.fstat(held.fileno()).st_uid != os.geteuid():
                raise PermissionError(f"{file} is not this user's")
            content, digest = (whole := held.read())[:-_DIGEST_BYTES], whole[-_DIGEST_BYTES:]
        if digest != hashlib.sha256(content).digest():
            raise OSError(f"{file} is damaged")
        # The least recently read entries go first.
        os.utime(file)
        return content

    def _keep(self, question: object, content: bytes | memoryview) -> None:
        try:
            with whole_file(self._file(question)) as file:
                file.write(content)
                file.write(hashlib.sha256(content).digest())
            remove_unfinished_files(self.folder)
            _make_room(self.folder)
        except OSError as error:
            _log.info("nothing is kept for the next evaluation: %s", error)


def cache_of(connection: Connection) -> Cache | None:
    """Return the cache of a ledger in a transaction's state; None where the cache cannot be trusted.

    Another user could change a folder that is not this user's alone, and without a count a change goes unseen. Nothing
    is kept of a server: what is restored there can count as many changes as what it replaced.
    """
    if (file := sqlite_file(connection.engine.url)) is None:
        return None
    counted = connection.execute(select(*changes.c).order_by(changes.c.scope)).all()
    if not {row.scope for row in counted} >= {0, *connection.execute(select(runs.c.id)).scalars()}:
        return None
    try:
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise PermissionError(f"{folder} is not a folder that only you can use. Remove it; another is made")
        state = repr(
            (_file_identity(file, connection.info.get(OPENED_FILE)), [tuple(row) for row in counted], code_digest())
        )
    except (OSError, RuntimeError) as error:
        _log.info("nothing is kept for the next evaluation: %s", error)
        return None
    return Cache(folder, hashlib.sha256(state.encode()).hexdigest())


def _file_identity(file: Path, opened: tuple[int, int] | None) -> str:
    """Return which file the ledger is; a copy, or a file put in its place, is another one.

    The counts of two copies that were changed apart may be equal, and a new file may get a freed inode.
    So a file's times count too, also that of the last change of its times.
    """
    file = file.resolve()
    parts, stats = [str(file)], [file.stat()]
    if opened != (stats[0].st_dev, stats[0].st_ino):
        raise FileNotFoundError(f"{file} is not the file that was opened")
    with suppress(FileNotFoundError):
        stats.append(file.with_name(f"{file.name}-wal").stat())
    # Opening a file makes an empty log beside it.
    parts += [
        f"{each.st_dev} {each.st_ino} {each.st_size} {each.st_mtime_ns} {each.st_ctime_ns}"
        for each in stats
        if each.st_size
    ]
    return " ".join(parts)


@cache
def code_digest() -> str:
    """Return the digest of the code that evaluates, so that no result outlives its code."""
    package = Path(__file__).parents[1]
    files = [file for folder in _CODE for file in (package / folder).rglob("*.py")]
    # A user's file may replace one of ours.
    files += [
        file
        for kind in ("strategies", "tools")
        for folder in folders_from_environment(kind)
        for file in Path(folder).glob("*.py")
    ]
    files += [file for kind in (GAME, VENUE) for file in package_files(kind)]
    return hashlib.sha256(b"\0".join(plain_bytes(file) for file in sorted(files))).hexdigest()


def _make_room(folder: Path) -> None:
    with os.scandir(folder) as found:
        # Leave other programs' files alone.
        own = [(each.stat(), each.path) for each in found if _NAME.fullmatch(each.name) and each.is_file()]
    total = 0
    for stat, path in sorted(own, key=lambda pair: -pair[0].st_mtime):
        total += stat.st_size
        if total > MOST_BYTES:
            Path(path).unlink(missing_ok=True)
