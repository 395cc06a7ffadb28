"""Who calls a command."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from predibot.ledger.store import Store

if TYPE_CHECKING:
    # Who only reads a ledger needs none of these.
    from predibot.config import Settings
    from predibot.contracts import ProgressListener
    from predibot.jobs.open_venue import Clock


def wall_clock() -> datetime:
    """Return the instant it is."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: its settings and its clock, and how it hears what is being done."""

    settings: "Callable[[], Settings]"
    """Read where they are needed, and not before."""
    clock: "Clock"
    say: Callable[[str], None]
    """Told in a line what is worked with."""
    progress: "Callable[[], AbstractContextManager[ProgressListener]]"

    @contextmanager
    def reading(self, ledger: str) -> Iterator[Store]:
        """Open a ledger to be read, and say which it is; its rows are blamed for what fails over them meanwhile."""
        with Store.open_to_read(ledger) as store:
            self.say(f"ledger: {store.address}")
            with store.rows_blamed():
                yield store

    @contextmanager
    def writing(self, ledger: str, *, create: bool = False) -> Iterator[Store]:
        """Open a ledger, and say which it is; with `create` it is made where there is none."""
        with Store.open(ledger, create=create) as store:
            self.say(f"ledger: {store.address}")
            yield store

    @contextmanager
    def following(self, store: Store) -> "Iterator[ProgressListener]":
        """Say which ledger it is, and listen while something is done with it."""
        self.say(f"ledger: {store.address}")
        with self.progress() as listener:
            yield listener
