"""Markets of an archive or a ledger as pairs are made of them: what is known of each, and how many cannot be used."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from predibot.contracts import Progress, ProgressListener
from predibot.domain.clock import EPOCH
from predibot.domain.event import Event
from predibot.errors import VenueChanged
from predibot.jobs.relatedness.beliefs import KnownBeliefs, beliefs_of_events, beliefs_of_ledger
from predibot.ledger.read.event_facts import events_as_played
from predibot.ledger.store import Store
from predibot.venues.archive.reader import Archive


@dataclass(frozen=True, slots=True)
class KnownMarkets:
    """The markets that can be compared, by event and then by market, and how many cannot."""

    known: KnownBeliefs
    descriptions: Mapping[str, str]
    """Its own, or that of its event."""
    funnel: Counter[str]


def archived_markets(archive: Archive, as_of: datetime, listener: ProgressListener) -> KnownMarkets:
    """Return all markets that an archive had listed by an instant, each as it was listed last.

    Raises:
        VenueError: If a snapshot or the resolutions cannot be read.
    """
    listed: dict[str, Event] = {}
    instants = [instant for instant in archive.instants if instant <= as_of]
    for number, instant in enumerate(instants, start=1):
        # What was listed last comes first: of a market that two events list the first counts.
        latest = {event.id: event for event in archive.events(instant).events}
        listed = latest | {name: event for name, event in listed.items() if name not in latest}
        listener(Progress("snapshots", number, len(instants)))
    events, unreadable = [], 0
    for event in listed.values():
        markets = []
        for market in event.markets:
            try:
                archive.price_path(market.ref.instrument(archive.name, "YES"), start=EPOCH, until=as_of)
                markets.append(market)
            except VenueChanged:
                unreadable += 1
        events.append(replace(event, markets=tuple(markets)))
    known = beliefs_of_events(archive, events, as_of)
    return _known(known, events, Counter({"- prices unreadable": unreadable}))


def ledger_markets(store: Store, venue: str, as_of: datetime) -> KnownMarkets:
    """Return all markets that runs of a ledger had played by an instant, with what was observed of them by then."""
    with store.read() as connection, store.rows_blamed():
        known = beliefs_of_ledger(connection, venue, as_of)
        events = events_as_played(connection, venue, as_of)
    return _known(known, events, Counter())


def _known(known: KnownBeliefs, events: Sequence[Event], left_out: Counter[str]) -> KnownMarkets:
    # Of a market that two events list the first counts, as it does for its title.
    listed = {
        market.id: market.description or event.description for event in reversed(events) for market in event.markets
    }
    funnel = Counter({"markets listed": len(listed) + left_out.total()})
    funnel["- not of two outcomes"] = len(listed) - known.beliefs.n
    descriptions = {name: listed[name] for name in known.questions}
    known = replace(known, beliefs=known.beliefs.in_order())
    return KnownMarkets(known, descriptions, funnel + left_out)
