"""What a ledger or an archive knows of markets, in one call."""

from datetime import datetime
from pathlib import Path

from predibot.config import Settings
from predibot.jobs.evaluate import asked_venues
from predibot.jobs.open_venue import Clock, look_back_at, open_venue
from predibot.jobs.relatedness.beliefs import beliefs_of_ledger, beliefs_of_venue
from predibot.jobs.relatedness.neighbours import KnownAt
from predibot.ledger.store import Store


def known_in_ledger(store: Store, *, venue: str | None, as_of: datetime | None, clock: Clock) -> KnownAt:
    """Return the beliefs of a ledger, asking no venue.

    Args:
        store: The ledger.
        venue: Where its runs were made; left out, where the ledger says.
        as_of: Nothing later is seen; left out, the end of a sandbox, else now.
        clock: The instant it is.

    Raises:
        UsageError: As `asked_venues`.
        LedgerUnusable: If the ledger holds what predibot does not write.
    """
    there = asked_venues(store, venue)
    at = look_back_at(there.specs[-1], as_of, clock)
    with store.read() as connection, store.rows_blamed():
        return KnownAt(at, beliefs_of_ledger(connection, there.name, at))


def known_in_archive(folder: Path, settings: Settings, *, as_of: datetime | None, clock: Clock) -> KnownAt:
    """Return the beliefs of an archive as of an instant; left out, its last snapshot's.

    Raises:
        UsageError: If it is none, or has no snapshot that old.
        VenueError: If it cannot be read.
    """
    opened = open_venue(f"archive:{folder}", settings, as_of=as_of, purpose="decide", clock=clock)
    with opened:
        return KnownAt(opened.now, beliefs_of_venue(opened.venue, opened.now))
