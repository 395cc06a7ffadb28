"""Who calls a command."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from predibot.config import Settings
from predibot.contracts import ProgressListener
from predibot.jobs.open_venue import Clock
from predibot.ledger.store import Store


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: its settings and its clock, and how it hears what is being done."""

    settings: Callable[[], Settings]
    """Read where they are needed, and not before."""
    clock: Clock
    say: Callable[[str], None]
    """Told in a line what is worked with."""
    progress: Callable[[], AbstractContextManager[ProgressListener]]

    @contextmanager
    def following(self, store: Store) -> Iterator[ProgressListener]:
        """Say which ledger it is, and listen while something is done with it."""
        self.say(f"ledger: {store.address}")
        with self.progress() as listener:
            yield listener
