"""Markets of an archive or a ledger with all their daily prices, as they were known as of an instant."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from predibot.contracts import Progress, ProgressListener
from predibot.domain.category import category_of
from predibot.domain.event import Event, Market
from predibot.errors import VenueChanged
from predibot.ledger.read.reasons import named_markets
from predibot.ledger.read.scoring_arrays import track_record
from predibot.ledger.store import Store
from predibot.ledger.write.runs import frozen_events, stored_runs
from predibot.scoring.relatedness.beliefs import Beliefs, daily_prices
from predibot.text_tasks.pairs import NO_DOMAIN
from predibot.venues.archive.reader import Archive

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class KnownMarkets:
    """The markets that can be compared, and how many cannot."""

    venue: str
    as_of: datetime
    beliefs: Beliefs
    """With titles and descriptions as one text each, by event and then by market."""
    titles: Mapping[str, str]
    """By market id."""
    descriptions: Mapping[str, str]
    funnel: Counter[str]


@dataclass(slots=True)
class _Listed:
    """Markets as they were listed last, and what became of them; prices in columns."""

    markets: dict[str, tuple[Event, Market]] = field(default_factory=dict)
    price_of: list[str] = field(default_factory=list)
    at: list[float] = field(default_factory=list)
    price_yes: list[float] = field(default_factory=list)
    settled: dict[str, float] = field(default_factory=dict)
    funnel: Counter[str] = field(default_factory=Counter)

    def take(self, events: Iterable[Event]) -> None:
        """Take down what is listed; what was listed before is forgotten."""
        for event in events:
            for market in event.markets:
                self.markets[market.id] = (event, market)


def archived_markets(archive: Archive, as_of: datetime, listener: ProgressListener) -> KnownMarkets:
    """Return all markets that an archive had listed by an instant, with their prices and settlements by then.

    Raises:
        VenueError: If a snapshot cannot be read.
    """
    found = _Listed()
    instants = [instant for instant in archive.instants if instant <= as_of]
    for number, instant in enumerate(instants, start=1):
        found.take(archive.events(instant).events)
        listener(Progress("snapshots", number, len(instants)))
    for number, (name, (_, market)) in enumerate(sorted(_binary(found)), start=1):
        try:
            path = archive.price_path(market.ref.instrument(archive.name, "YES"), start=_EPOCH, until=as_of)
        except VenueChanged:
            found.funnel["- prices unreadable"] += 1
            continue
        found.price_of += [name] * len(path.points)
        found.at += [point.at.timestamp() for point in path.points]
        found.price_yes += [point.price for point in path.points]
        listener(Progress("prices", number, len(found.markets)))
    refs = [market.ref for _, market in found.markets.values()]
    settled = archive.resolutions(refs, as_of=as_of).found
    found.settled = {name: revisions[-1].settled_at.timestamp() for name, revisions in settled.items() if revisions}
    return _known(found, archive.name, as_of)


def ledger_markets(store: Store, venue: str, as_of: datetime) -> KnownMarkets:
    """Return all markets that runs of a ledger had played by an instant, with what was observed of them by then."""
    found = _Listed()
    with store.read() as connection, store.rows_blamed():
        for run in stored_runs(connection):
            if run.venue_name == venue and run.voided_at is None and run.as_of <= as_of:
                found.take(frozen_events(connection, run.id))
        names = [market.market_id for market in named_markets(connection, venue)]
        record = track_record(connection, venue, as_of)
    binary = {name for name, _ in _binary(found)}
    # A price that a decision was booked at is one too.
    market = np.concatenate([record.observation_market, record.bet_market])
    at = np.concatenate([record.observation_at, record.decided_at[record.bet_decision]])
    price = np.concatenate([record.observation_price_yes, record.bet_price_yes])
    for row, instant, price_yes in zip(market.tolist(), at.tolist(), price.tolist(), strict=True):
        if names[row] in binary:
            found.price_of.append(names[row])
            found.at.append(instant)
            found.price_yes.append(price_yes)
    found.settled = {name: at for name, at in zip(names, record.settled_at.tolist(), strict=True) if not np.isnan(at)}
    return _known(found, venue, as_of)


def _binary(found: _Listed) -> Iterator[tuple[str, tuple[Event, Market]]]:
    for name, (event, market) in found.markets.items():
        if not market.is_named and not market.is_share:
            yield name, (event, market)


def _known(found: _Listed, venue: str, as_of: datetime) -> KnownMarkets:
    binary = dict(_binary(found))
    priced = set(found.price_of)
    names = sorted(priced & binary.keys())
    row = {name: number for number, name in enumerate(names)}
    prices = daily_prices(
        np.array([row[name] for name in found.price_of], dtype=np.int64),
        np.array(found.at, dtype=np.float64),
        np.array(found.price_yes, dtype=np.float64),
        settled_at=np.array([found.settled.get(name, np.nan) for name in names], dtype=np.float64),
        as_of=as_of.timestamp(),
    )
    titles = {name: binary[name][1].question for name in names}
    descriptions = {name: binary[name][1].description or binary[name][0].description for name in names}
    volumes = [binary[name][1].volume_usd for name in names]
    beliefs = Beliefs(
        market_ids=tuple(names),
        event_ids=tuple(binary[name][0].id for name in names),
        texts=tuple(f"{titles[name]}\n{descriptions[name]}" for name in names),
        tags=tuple(frozenset(tag.slug for tag in binary[name][0].tags) for name in names),
        domains=tuple(category_of(binary[name][0].tags) or NO_DOMAIN for name in names),
        volume_usd=np.array([np.nan if volume is None else volume for volume in volumes], dtype=np.float64),
        prices=prices,
    ).in_order()
    funnel = Counter({"markets listed": len(found.markets)})
    funnel["- not of two outcomes"] = len(found.markets) - len(binary)
    funnel["- prices unreadable"] = found.funnel["- prices unreadable"]
    funnel["- without a price"] = len(binary) - len(names) - funnel["- prices unreadable"]
    return KnownMarkets(venue, as_of, beliefs, titles, descriptions, funnel)
