"""Beliefs of a ledger or a past venue as of an instant, and clusters of a ledger's events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import Connection

from predibot.contracts import Venue
from predibot.domain.category import domain_of
from predibot.domain.event import Event, Market
from predibot.ledger.read.event_facts import NO_CATEGORY, latest_events
from predibot.ledger.read.scoring_arrays import read_observations, read_settlements
from predibot.ledger.write.events import market_rows
from predibot.related.beliefs import Beliefs, MarketPrices, daily_prices
from predibot.related.graph import cluster_events

_YEARS = timedelta(days=3 * 366)
"""How far back prices of a venue are read."""


@dataclass(frozen=True, slots=True)
class LabelledBeliefs:
    """Beliefs as of an instant, with the titles of their events and markets, which are untrusted."""

    as_of: datetime
    venue_name: str
    beliefs: Beliefs
    titles: Mapping[str, str]
    """By event id."""
    questions: Mapping[str, str]
    """By market id."""


def beliefs_of_ledger(connection: Connection, venue: str, as_of: datetime) -> LabelledBeliefs:
    """Return the markets of all events that runs played by an instant, with the prices seen by then.

    Titles and tags are those that the last such run froze. Markets without a YES (more than two outcomes, or shares)
    are left out.

    Raises:
        ValueError, TypeError, LookupError: If the ledger holds what predibot does not write.
    """
    played = _comparable(latest_events(connection, venue, as_of))
    row_of = market_rows(connection, venue)
    rows = np.sort(np.array(list(row_of.values()), dtype=np.int64))
    market, at, price = read_observations(connection, venue, rows, as_of)
    settled_at = read_settlements(connection, venue, rows, as_of)[1]
    place = np.full(rows.size, -1)
    for number, (_, each) in enumerate(played):
        place[np.searchsorted(rows, row_of[each.id])] = number
    seen = place[market] >= 0
    of_played = np.full(len(played), np.nan)
    of_played[place[place >= 0]] = settled_at[place >= 0]
    prices = daily_prices(place[market[seen]], at[seen], price[seen], settled_at=of_played, as_of=as_of.timestamp())
    return _beliefs(as_of, venue, played, prices)


def beliefs_of_venue(venue: Venue, as_of: datetime) -> LabelledBeliefs:
    """Return the markets that a past venue lists as of an instant, with prices of three years.

    Raises:
        VenueError: If its list, its prices or its resolutions could not be read.
        UsageError: If it knows nothing of that instant.
    """
    return beliefs_of_events(venue, venue.events(as_of).events, as_of)


def beliefs_of_events(venue: Venue, events: Sequence[Event], as_of: datetime) -> LabelledBeliefs:
    """Return the markets of some events of a past venue, with prices of three years.

    Raises `VenueError` if its prices or its resolutions could not be read.
    """
    listed = _comparable(events)
    known = venue.resolutions([market.ref for _, market in listed], as_of=as_of)
    settled_at = np.full(len(listed), np.nan)
    columns: list[tuple[int, float, float]] = []
    for number, (_, market) in enumerate(listed):
        if revisions := known.found.get(market.id):
            settled_at[number] = revisions[-1].settled_at.timestamp()
        path = venue.price_path(market.ref.instrument(venue.name, "YES"), start=as_of - _YEARS, until=as_of)
        columns += [(number, point.at.timestamp(), point.price) for point in path.points]
    market_row, at, price = np.array(columns, dtype=np.float64).reshape(-1, 3).T
    prices = daily_prices(market_row.astype(np.int64), at, price, settled_at=settled_at, as_of=as_of.timestamp())
    return _beliefs(as_of, venue.name, listed, prices)


def cluster_ledger_events(connection: Connection, venue: str, as_of: datetime) -> Mapping[str, str]:
    """Return the clusters of a ledger's events as of an instant (`cluster_events`)."""
    return cluster_events(beliefs_of_ledger(connection, venue, as_of).beliefs)


def _comparable(events: Sequence[Event]) -> list[tuple[Event, Market]]:
    """Return each market with a YES and its event; the first event of a market counts."""
    found: Mapping[str, tuple[Event, Market]] = {
        market.id: (event, market)
        for event in reversed(events)
        for market in event.markets
        if not market.is_named and not market.is_share
    }
    return list(found.values())


def _beliefs(
    as_of: datetime, venue: str, listed: Sequence[tuple[Event, Market]], prices: MarketPrices
) -> LabelledBeliefs:
    beliefs = Beliefs(
        market_ids=tuple(market.id for _, market in listed),
        event_ids=tuple(event.id for event, _ in listed),
        texts=tuple(
            ". ".join(dict.fromkeys(filter(None, (event.title, market.question, market.description))))
            for event, market in listed
        ),
        tags=tuple(
            frozenset((tag.slug or tag.label).casefold() for tag in event.tags if tag.slug != "all")
            for event, _ in listed
        ),
        domains=tuple(domain_of(event.tags) or NO_CATEGORY for event, _ in listed),
        volume_usd=np.array(
            [np.nan if market.volume_usd is None else market.volume_usd for _, market in listed], dtype=np.float64
        ),
        prices=prices,
    )
    titles = {event.id: event.title for event, _ in listed}
    return LabelledBeliefs(as_of, venue, beliefs, titles, {market.id: market.question for _, market in listed})
