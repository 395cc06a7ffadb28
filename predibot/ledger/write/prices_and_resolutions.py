"""What `track` stores: observed prices, and resolutions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, bindparam, func, insert, or_, select, update

from predibot.domain.price import SIDES, Instrument, PricePoint
from predibot.domain.resolution import Resolution, unseen_revisions
from predibot.ledger.schema.column_types import to_microseconds
from predibot.ledger.schema.tables import JournalEntryRow, PricePathRow, ResolutionRow
from predibot.ledger.schema.upsert import insert_new, table_of
from predibot.ledger.write.events import events, instruments, markets, run_events
from predibot.ledger.write.runs import runs

price_paths, resolutions = table_of(PricePathRow), table_of(ResolutionRow)


def read_yes_paths(connection: Connection, *which: ColumnElement[bool]) -> Sequence[Row[Any]]:
    """Return `market_row` and the packed `points` of some instruments' prices of YES, in the order of instruments."""
    statement: Select[Any] = (
        select(instruments.c.market_row, price_paths.c.points)
        .join(instruments, instruments.c.id == price_paths.c.instrument_row)
        .where(instruments.c.side == "YES", *which)
        .order_by(price_paths.c.instrument_row)
    )
    return connection.execute(statement).all()


_journal = table_of(JournalEntryRow)
ObservationSource = Literal["history", "quote"]


@dataclass(frozen=True, slots=True)
class TrackedInstrument:
    """An instrument whose price is tracked: YES of a market in some run, or a held outcome."""

    row: int
    instrument: Instrument
    market_row: int
    event_id: str
    wanted_from: datetime
    """The instant of the first run that plays it."""
    tracked_from: datetime | None
    tracked_until: datetime | None
    is_named: bool = False


def list_tracked_instruments(
    connection: Connection, venue: str, *, spec: str | None = None
) -> tuple[TrackedInstrument, ...]:
    """Return every YES instrument of a venue that a run plays, in a stable order.

    Of more than two outcomes, those are tracked that some account ever had: a market may have a hundred.
    `spec` restricts the runs to one venue of that name, such as one of several archives.
    """
    wanted_from = func.min(runs.c.as_of)
    had = select(_journal.c.instrument_row).where(_journal.c.instrument_row.is_not(None))
    followed_here = or_(
        instruments.c.side == "YES", and_(instruments.c.outcome.is_not(None), instruments.c.id.in_(had))
    )
    rows = connection.execute(
        select(instruments, events.c.event_id, wanted_from.label("wanted_from"))
        .join(markets, markets.c.id == instruments.c.market_row)
        .join(events, events.c.id == markets.c.event_row)
        .join(run_events, run_events.c.event_row == markets.c.event_row)
        .join(runs, runs.c.id == run_events.c.run_id)
        .where(instruments.c.venue == venue, followed_here, *([] if spec is None else [runs.c.venue == spec]))
        .group_by(*instruments.c, events.c.event_id)
        .order_by(instruments.c.id)
    )
    return tuple(
        TrackedInstrument(
            row=row.id,
            instrument=Instrument(row.venue, row.kind, row.instrument_id),
            market_row=row.market_row,
            event_id=row.event_id,
            wanted_from=row.wanted_from,
            tracked_from=row.tracked_from,
            tracked_until=row.tracked_until,
            is_named=row.outcome is not None,
        )
        for row in rows
    )


def add_observations(
    connection: Connection, points: Mapping[int, Sequence[PricePoint]], source: ObservationSource
) -> int:
    """Store new points by instrument row, and return how many were new.

    Two trackers lock the instruments in the same order, so that neither loses the other's points.
    """
    # Imported late: only storing prices needs numpy.
    import numpy as np

    from predibot.ledger.schema import packed_points

    rows, code = sorted(row for row, seen in points.items() if seen), packed_points.SOURCES.index(source)
    # The lock allows references, so that no decision waits to book a fill.
    found = connection.execute(
        select(instruments.c.id, instruments.c.highest_price)
        .where(instruments.c.id.in_(rows))
        .order_by(instruments.c.id)
        .with_for_update(key_share=True)
    ).all()
    paths = connection.execute(select(price_paths).where(price_paths.c.instrument_row.in_(rows)))
    path_of = {path.instrument_row: path for path in paths}
    new, first, changed = 0, list[Mapping[str, Any]](), list[Mapping[str, Any]]()
    for row, most in found:
        path = path_of.get(row)
        held, _ = packed_points.unpack_points(
            [] if path is None else [path.points], highest=inf if most is None else most
        )
        more = np.array(
            [(to_microseconds(point.at), code, point.price) for point in points[row]], dtype=packed_points.POINT
        )
        merged = packed_points.merge_points(held, more)
        new += int(merged.size - held.size)
        if path is None:
            first.append({"instrument_row": row, "points": packed_points.pack_points(merged)})
        elif merged.size > held.size:
            numbers = path.receipts
            if numbers is not None:
                numbers = packed_points.merge_numbers(packed_points.receipt_numbers(numbers, held.size), held, merged)
            changed.append({"of_row": row, "points": packed_points.pack_points(merged), "receipts": numbers})
    if first:
        connection.execute(insert(price_paths), first)
    if changed:
        connection.execute(update(price_paths).where(price_paths.c.instrument_row == bindparam("of_row")), changed)
    return new


def note_tracking(connection: Connection, stretches: Sequence[tuple[int, datetime, datetime]]) -> None:
    """Store from when until when the prices of some instruments, by row, are known.

    The known span has no gap. So a span apart from it is not noted, and its prices are read again some day.
    """
    columns = instruments.c["id", "tracked_from", "tracked_until"]
    statement = select(*columns).where(instruments.c.id.in_([row for row, *_ in stretches]))
    held = {row: (begin, end) for row, begin, end in connection.execute(statement)}
    changed = dict[int, Mapping[str, Any]]()
    for row, start, until in stretches:
        begin, end = held[row]
        if begin is None or (until >= begin and start <= end):
            held[row] = min(start, begin or start), max(until, end or until)
            changed[row] = dict(zip(("of_row", "tracked_from", "tracked_until"), (row, *held[row]), strict=True))
    if changed:
        of_row = update(instruments).where(instruments.c.id == bindparam("of_row"))
        connection.execute(of_row, list(changed.values()))


def read_resolutions(connection: Connection, venue: str) -> Mapping[int, tuple[Resolution, ...]]:
    """Return all revisions of a venue's resolutions by market row, oldest first."""
    return resolutions_of(connection, select(markets.c.id).where(markets.c.venue == venue))


def resolutions_of(
    connection: Connection, market_rows: Sequence[int] | Select[Any]
) -> Mapping[int, tuple[Resolution, ...]]:
    """Return all revisions of some markets' resolutions by market row, oldest first."""
    statement = select(resolutions).where(resolutions.c.market_row.in_(market_rows))
    found: dict[int, tuple[Resolution, ...]] = {}
    for row in connection.execute(statement.order_by(resolutions.c.market_row, resolutions.c.revision)):
        found[row.market_row] = (*found.get(row.market_row, ()), resolution_of(row))
    return found


CAUSE_OF_BOOKING = and_(*(resolutions.c[name] == _journal.c[name] for name in ("market_row", "revision")))
"""Joins a row of a journal with the revision that it follows from."""


def paid_by(row: Any) -> float | None:
    """Return what the revision in a row of `resolutions` pays for the outcome in the same row, None for nothing."""
    number = row.outcome if row.side is None else SIDES.index(row.side)
    paid = None if number is None or row.settled_at is None else resolution_of(row).of_outcome(number)
    return None if paid is None else paid.payout_yes


def resolution_of(row: Any) -> Resolution:
    """Return the revision in a row of `resolutions`."""
    payouts = () if row.payouts_json is None else tuple(json.loads(row.payouts_json))
    return Resolution(row.payout_yes, row.settled_at, row.settled_source, row.effective_at, payouts)


def add_resolutions(
    connection: Connection, market_row: int, revisions: Sequence[Resolution], *, stored: int, seen_at: datetime
) -> None:
    """Store further revisions of a market's resolution; where two trackers bring the same one, the first stays."""
    rows = [
        {
            "market_row": market_row,
            "revision": number,
            **{name: getattr(revision, name) for name in Resolution.__slots__ if name != "payouts"},
            "seen_at": seen_at,
            "payouts_json": json.dumps(revision.payouts) if revision.payouts else None,
        }
        for number, revision in enumerate(revisions, start=stored + 1)
    ]
    insert_new(connection, ResolutionRow, rows)


def add_unseen_resolutions(
    connection: Connection,
    stored: Mapping[int, Sequence[Resolution]],
    reported: Mapping[int, Sequence[Resolution]],
    *,
    seen_at: datetime,
) -> int:
    """Store those reported revisions of each market that are not stored yet, and return how many there are."""
    count = 0
    for market_row, revisions in reported.items():
        known = stored.get(market_row, ())
        unseen = unseen_revisions(known, revisions, seen_at)
        add_resolutions(connection, market_row, unseen, stored=len(known), seen_at=seen_at)
        count += len(unseen)
    return count
