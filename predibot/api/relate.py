"""Beliefs: what a ledger or an archive knows of markets."""

from datetime import datetime
from pathlib import Path

from predibot.config import Settings
from predibot.jobs.open_venue import Clock, locate, open_venue
from predibot.jobs.relatedness.beliefs import LabelledBeliefs, beliefs_of_ledger, beliefs_of_venue
from predibot.ledger.read.details.events import DatedNews, list_news
from predibot.ledger.store import Store
from predibot.scoring.records.part import EVERYTHING, Part


def beliefs_in_ledger(store: Store, part: Part = EVERYTHING, *, clock: Clock) -> LabelledBeliefs:
    """Return the beliefs of a ledger at a part's venue and instant, asking no venue."""
    there = locate(store, part, clock)
    with store.read() as connection, store.blame_all_rows():
        return beliefs_of_ledger(connection, there.venue_name, there.as_of)


def beliefs_in_archive(folder: Path, settings: Settings, *, as_of: datetime | None, clock: Clock) -> LabelledBeliefs:
    """Return the beliefs of an archive as of an instant; None is its last snapshot's. Raises `UsageError` if it is no
    archive, or has no snapshot that old.
    """
    with open_venue(f"archive:{folder}", settings, as_of=as_of, purpose="decide", clock=clock) as opened:
        return beliefs_of_venue(opened.venue, opened.now)


def news_in_ledger(store: Store, known: LabelledBeliefs) -> tuple[DatedNews, ...]:
    """Return the news that bots had read of events by the instant of the beliefs."""
    with store.read() as connection, store.blame_rows():
        return list_news(connection, known.venue_name, known.as_of)
