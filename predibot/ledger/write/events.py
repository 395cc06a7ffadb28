"""A venue's events, markets and instruments in the ledger, each stored once, and the news of markets."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from sqlalchemy import Connection, Select, insert, select, update

from predibot.domain.account_past import NewsItem
from predibot.domain.event import Event, Market, MarketRef
from predibot.domain.price import BINARY_OUTCOME, EQUITY, SIDES, Instrument, Side
from predibot.ledger.schema.tables import EventRow, InstrumentRow, MarketRow, NewsRow, RunEventRow
from predibot.ledger.schema.upsert import insert_new, table_of
from predibot.plugins.venues import venue_or_defaults

events, markets, instruments = table_of(EventRow), table_of(MarketRow), table_of(InstrumentRow)
run_events = table_of(RunEventRow)

NAME_OF_INSTRUMENT = instruments.c["venue", "kind", "instrument_id"]
"""The columns from which an `Instrument` is made."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Row numbers of what a run plays, by the venue's names."""

    event_rows: Mapping[str, int]
    market_rows: Mapping[str, int]
    instrument_rows: Mapping[Instrument, int]
    market_of: Mapping[int, int]
    """Market row by instrument row of an outcome."""
    outcome_rows: Mapping[tuple[int, Side], int]
    """Instrument row by market row and side; the oldest where it was listed before it had tokens."""


def store_events(connection: Connection, venue: str, listed: Sequence[Event]) -> Mapping[str, int]:
    """Store new events, markets and instruments; return the rows of all events of the venue."""
    insert_new(connection, EventRow, [{"venue": venue, "event_id": e.id, "title": e.title} for e in listed])
    found = connection.execute(select(events.c.event_id, events.c.id).where(events.c.venue == venue))
    event_rows = {name: row for name, row in found}
    insert_new(
        connection,
        MarketRow,
        [
            {
                "venue": venue,
                "market_id": market.id,
                "event_row": event_rows[event.id],
                "condition_id": market.ref.condition_id,
                "token_ids_json": json.dumps(market.ref.token_ids),
                "question": market.question,
                "outcomes_json": json.dumps(market.outcomes) if market.is_named or market.is_share else None,
            }
            for event in listed
            for market in event.markets
        ],
    )
    known = [market for event in listed for market in event.markets]
    for ref in (market.ref for market in known):
        if ref.token_ids:
            # It may have been listed before it had any.
            connection.execute(
                update(markets)
                .where(markets.c.venue == venue, markets.c.market_id == ref.id, markets.c.token_ids_json == "[]")
                .values(token_ids_json=json.dumps(ref.token_ids))
            )
    store_instruments(connection, venue, known)
    return event_rows


def catalogue(connection: Connection, run_id: int) -> Catalogue:
    """Return the row numbers of everything a run plays."""
    played = select(run_events.c.event_row).where(run_events.c.run_id == run_id).scalar_subquery()
    event_rows = connection.execute(select(events.c.event_id, events.c.id).where(events.c.id.in_(played)))
    listed = connection.execute(select(markets.c.market_id, markets.c.id).where(markets.c.event_row.in_(played)))
    instrument_rows = connection.execute(
        select(instruments)
        .join(markets, markets.c.id == instruments.c.market_row)
        .where(markets.c.event_row.in_(played))
        .order_by(instruments.c.id)
    ).all()
    return Catalogue(
        event_rows={name: row for name, row in event_rows},
        market_rows={name: row for name, row in listed},
        instrument_rows={Instrument(row.venue, row.kind, row.instrument_id): row.id for row in instrument_rows},
        market_of={row.id: row.market_row for row in instrument_rows},
        outcome_rows={(row.market_row, row.side): row.id for row in reversed(instrument_rows)},
    )


def market_refs(connection: Connection, venue: str) -> Mapping[int, MarketRef]:
    """Return a venue's markets by row."""
    rows = connection.execute(select(markets).where(markets.c.venue == venue).order_by(markets.c.id))
    return {row.id: market_ref(row) for row in rows}


def market_ref(row: Any) -> MarketRef:
    """Return what a venue needs to find a stored market; a single outcome means a share."""
    kind = EQUITY if len(parse_outcomes(row.outcomes_json)) == 1 else BINARY_OUTCOME
    return MarketRef(row.market_id, row.condition_id, tuple(json.loads(row.token_ids_json)), kind)


def market_rows(connection: Connection, venue: str) -> Mapping[str, int]:
    """Return the rows of a venue's markets by id."""
    found = connection.execute(select(markets.c.market_id, markets.c.id).where(markets.c.venue == venue))
    return {name: row for name, row in found}


def store_instruments(connection: Connection, venue: str, listed: Sequence[Market]) -> None:
    """Store the new instruments of stored markets."""
    row_of = market_rows(connection, venue)
    rows = [
        instrument_values(
            instrument,
            market_row=row_of[market.id],
            side=None if market.is_named or market.is_share else SIDES[number],
            outcome=number if market.is_named or market.is_share else None,
        )
        for market in listed
        for number, instrument in enumerate(market.instruments(venue))
    ]
    insert_new(connection, InstrumentRow, rows)


def parse_outcomes(outcomes_json: str | None) -> tuple[str, ...]:
    """Return the outcomes of a stored market: YES and NO unless it has other names, or is a share."""
    return SIDES if outcomes_json is None else tuple(json.loads(outcomes_json))


def instrument_values(
    instrument: Instrument, *, market_row: int | None = None, side: str | None = None, outcome: int | None = None
) -> dict[str, Any]:
    """Return the row of an instrument; an outcome has a side, or of more than two a number from 0."""
    lowest, highest = instrument.price_bound
    return {
        "venue": instrument.venue,
        "kind": instrument.kind,
        "instrument_id": instrument.id,
        "market_row": market_row,
        "side": side,
        "outcome": outcome,
        "currency": venue_or_defaults(instrument.venue).currency,
        "lowest_price": lowest,
        "highest_price": highest if isfinite(highest) else None,
    }


def instrument_rows(connection: Connection, wanted: Collection[Instrument]) -> Mapping[Instrument, int]:
    """Return the row of each instrument, stored if it is new."""
    statement: Select[Any] = select(*NAME_OF_INSTRUMENT, instruments.c.id).where(
        instruments.c.instrument_id.in_([each.id for each in wanted])
    )
    rows = {Instrument(*name): row for *name, row in connection.execute(statement)}
    if new := [instrument_values(each) for each in wanted if each not in rows]:
        insert_new(connection, InstrumentRow, new)
        rows = {Instrument(*name): row for *name, row in connection.execute(statement)}
    return {each: rows[each] for each in wanted}


news = table_of(NewsRow)


def read_news(connection: Connection, run_id: int) -> Mapping[str, tuple[NewsItem, ...] | None]:
    """Return a run's news by market id, None for a failed search; markets without a search are absent."""
    statement = select(news, markets.c.market_id).join(markets, markets.c.id == news.c.market_row)
    found: dict[str, tuple[NewsItem, ...] | None] = {}
    rows = connection.execute(statement.where(news.c.run_id == run_id).order_by(news.c.market_row, news.c.number))
    for row in rows:
        if row.number == 0:
            found[row.market_id] = () if row.failure is None else None
        else:
            item = NewsItem(row.title, row.snippet, row.published_at, row.url)
            found[row.market_id] = (*(found[row.market_id] or ()), item)
    return found


def add_news(
    connection: Connection,
    run_id: int,
    market_id: str,
    venue: str,
    query: str,
    items: Sequence[NewsItem],
    *,
    failure: str | None = None,
) -> None:
    """Store the result of a run's search; another process's earlier news stay."""
    same = select(markets.c.id).where(markets.c.venue == venue, markets.c.market_id == market_id)
    key = {"run_id": run_id, "market_row": connection.execute(same).scalar_one()}
    text = {"title": query, "snippet": "", "published_at": None, "failure": failure}
    if not insert_new(connection, NewsRow, [{**key, "number": 0, **text}]) or not items:
        return
    connection.execute(insert(news), [{**key, "number": n, **asdict(each)} for n, each in enumerate(items, start=1)])


def news_failures(connection: Connection, run_id: int) -> tuple[str, ...]:
    """Return why searches for news failed, one reason a market."""
    failed = select(news.c.failure).where(news.c.run_id == run_id, news.c.failure.is_not(None))
    return tuple(connection.execute(failed.order_by(news.c.market_row)).scalars())
