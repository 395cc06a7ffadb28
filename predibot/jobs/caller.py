"""Callers: the settings, clock and voice that the functions of `api` work with."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Not imported at run time: commands that only read a ledger, or have none, start faster.
    from predibot.config import Settings
    from predibot.contracts import ProgressListener
    from predibot.jobs.open_venue import Clock
    from predibot.ledger.store import Store


def wall_clock() -> datetime:
    """Return the current instant."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a command: its settings, its clock, and how it hears of progress; functions of `api` take one."""

    settings: "Callable[[], Settings]"
    """Reads the settings; called only where they are needed."""
    clock: "Clock"
    say: Callable[[str], None]
    """Shows a line about the ledger or recipe in use."""
    progress: "Callable[[], AbstractContextManager[ProgressListener]]"

    @contextmanager
    def reading(self, ledger: str) -> "Iterator[Store]":
        """Open a ledger for reading and name it; errors over its rows are reported as theirs."""
        from predibot.ledger.store import Store

        with Store.open_to_read(ledger) as store:
            self.say(f"ledger: {store.address}")
            with store.blame_rows():
                yield store

    @contextmanager
    def writing(self, ledger: str, *, create: bool = False) -> "Iterator[Store]":
        """Open a ledger for writing and name it; with `create` a missing one is made."""
        from predibot.ledger.store import Store

        with Store.open(ledger, create=create) as store:
            self.say(f"ledger: {store.address}")
            yield store

    @contextmanager
    def following(self, store: "Store") -> "Iterator[ProgressListener]":
        """Name a ledger, and show progress meanwhile."""
        self.say(f"ledger: {store.address}")
        with self.progress() as listener:
            yield listener
