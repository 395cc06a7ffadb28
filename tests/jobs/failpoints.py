"""Failpoints: where a program kills itself, so that a kill hits the same boundary of what it writes each time.

And limits that it sets itself, before it does anything.
"""

import ctypes
import os
import resource
import signal
import sys
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.pool import Pool

FEW_BYTES = 40_000
"""Of a file; a ledger is larger, and what writes to it begins with a new file."""
_CAPABILITIES_VERSION_3 = 0x20080522


def without_privileges() -> None:
    """Have permissions count for root too."""
    header, none = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(header, none) == 0


def with_little_room() -> None:
    """Let no file grow, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (FEW_BYTES, FEW_BYTES))


def _die(by: signal.Signals = signal.SIGKILL) -> None:
    os.kill(os.getpid(), by)


@dataclass(frozen=True)
class Before:
    """The end of the first transaction that writes to a table; all of it is lost."""

    table: str
    how: str = "INSERT INTO"

    def __call__(self) -> None:
        """Have this process killed there."""

        def note(connection: Connection, _cursor: object, statement: str, *_: Any) -> None:
            connection.info["writes"] |= statement.startswith(f"{self.how} {self.table} ")

        event.listen(Engine, "begin", lambda connection: connection.info.update(writes=False, has_written=False))
        event.listen(Engine, "before_cursor_execute", note)
        event.listen(Engine, "commit", self._committing)

    def _committing(self, connection: Connection) -> None:
        if connection.info["writes"]:
            _die()


@dataclass(frozen=True)
class After(Before):
    """The moment after the first transaction that writes to a table; nobody is told that it went through."""

    def __call__(self) -> None:
        """Have this process killed there."""
        # Another transaction of the connection may begin before it is given back.
        event.listen(Engine, "begin", lambda connection: connection.info.get("has_written") and _die())
        event.listen(Pool, "reset", lambda _, record, *more: record.info.get("has_written") and _die())
        super().__call__()

    def _committing(self, connection: Connection) -> None:
        connection.info["has_written"] = connection.info["writes"]


@dataclass(frozen=True)
class Placed:
    """The moment before a whole file gets its name, in a folder of this one's name."""

    folder: str

    def __call__(self) -> None:
        """Have this process killed there."""
        sys.addaudithook(lambda name, given: _die() if name == "os.rename" and self.folder in str(given[1]) else None)


@dataclass(frozen=True)
class Executing:
    """The moment before the first statement that begins in this way, in the middle of its transaction."""

    statement: str
    by: signal.Signals = signal.SIGKILL

    def __call__(self) -> None:
        """Have this process killed there, or stopped."""

        def look(_connection: object, _cursor: object, statement: str, *_: Any) -> None:
            if statement.lstrip().startswith(self.statement):
                _die(self.by)

        event.listen(Engine, "before_cursor_execute", look)
