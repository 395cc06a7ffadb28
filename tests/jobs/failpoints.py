"""Failpoints: where a program kills itself, so that a kill hits the same boundary of what it writes each time."""

import os
import signal
import sys
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.pool import Pool


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


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
        super().__call__()
        event.listen(Pool, "reset", lambda _, record, *more: record.info.get("has_written") and _die())

    def _committing(self, connection: Connection) -> None:
        connection.info["has_written"] = connection.info["writes"]


@dataclass(frozen=True)
class Placed:
    """The moment before a whole file gets its name, in a folder of this one's name."""

    folder: str

    def __call__(self) -> None:
        """Have this process killed there."""
        sys.addaudithook(lambda name, given: _die() if name == "os.rename" and self.folder in str(given[1]) else None)
