"""The neighbours of one event, read from a ledger or from a venue of the past."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from predibot.config import Settings
from predibot.domain.spelling import first_of, nearest
from predibot.errors import UsageError
from predibot.jobs.evaluate import asked_venues
from predibot.jobs.open_venue import Clock, look_back_at, open_venue
from predibot.jobs.relatedness.beliefs import KnownBeliefs, beliefs_of_ledger, beliefs_of_venue
from predibot.jobs.relatedness.embeddings import opened_embedding
from predibot.ledger.store import Store
from predibot.scoring.relatedness.filters import Filters
from predibot.scoring.relatedness.graph import BeliefGraph
from predibot.scoring.relatedness.neighbours import Neighbourhood, neighbours_of

_NAMED = 10


@dataclass(frozen=True, slots=True)
class Relations:
    """The neighbours of an event, and what it and they are called."""

    as_of: datetime
    found: Neighbourhood
    known: KnownBeliefs
    text_port: str
    """`tfidf`, or the sentence-transformer that compared the texts."""


@dataclass(frozen=True, slots=True)
class KnownAt:
    """Everything that is known of markets as of an instant."""

    as_of: datetime
    known: KnownBeliefs


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


def relations_of(event_id: str, at: KnownAt, *, filters: Filters | None, model: str | None) -> Relations:
    """Return the neighbours of an event.

    Args:
        event_id: Its id at the venue.
        at: What is known.
        filters: Which markets are compared; None for all.
        model: The sentence-transformer that compares texts; None for TF-IDF.

    Raises:
        UsageError: If nothing is known of the event, or the model is not on this machine.
    """
    embed = None if model is None else opened_embedding(model)
    known = at.known
    _require(event_id, list(known.titles))
    found = neighbours_of(event_id, known.beliefs, filters=filters, embed=embed)
    return Relations(at.as_of, found, known, model or "tfidf")


def chain_between(graph: BeliefGraph, first: str, second: str) -> tuple[str, ...] | None:
    """Return the events from one to another, as `BeliefGraph.chain`; None where they are not connected.

    Raises:
        UsageError: If one of them is not compared.
    """
    for name in (first, second):
        _require(name, graph.events)
    return graph.chain(first, second)


def _require(event_id: str, known: Sequence[str]) -> None:
    """Refuse an event of which nothing is known.

    Raises:
        UsageError: If it is none of these.
    """
    if event_id not in known:
        near = nearest(event_id, known)
        hint = f"Did you mean {near!r}?" if near else f"There are: {first_of(known, _NAMED) or 'none'}"
        raise UsageError(f"no market of an event {event_id[:100]!r} is known at that instant. {hint}")
