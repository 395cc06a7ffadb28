"""Where the prices of what accounts hold come from: quotes of decisions, what was observed, and marks of valuations."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from predibot.domain.price import Quote
from predibot.ledger.schema.column_types import from_microseconds
from predibot.ledger.schema.packed_points import SOURCES, unpacked_points
from predibot.ledger.write.accounts import journal, marks
from predibot.ledger.write.decisions import decisions, quotes
from predibot.ledger.write.events import instruments, markets
from predibot.ledger.write.prices_and_resolutions import price_paths
from predibot.scoring.accounts.price_provenance import SeenPrice

MARK = "valuation"


def prices_seen(connection: Connection, own: Sequence[int], as_of: datetime) -> tuple[SeenPrice, ...]:
    """Return every stored price of the outcomes that accounts ever held, up to an instant.

    A price of NO counts as one of YES, which is what it lacks to one dollar.

    Args:
        connection: A reading transaction.
        own: The rows of the accounts.
        as_of: The instant.

    Raises:
        LedgerUnusable: If observed prices are not as predibot writes them.
    """
    held = select(journal.c.instrument_row).where(journal.c.account_id.in_(own), journal.c.shares != 0.0).distinct()
    statement = (
        select(instruments.c.id, instruments.c.market_row, instruments.c.side, instruments.c.instrument_id)
        .add_columns(markets.c.market_id)
        .join(markets, markets.c.id == instruments.c.market_row)
        .where(instruments.c.market_row.in_(select(instruments.c.market_row).where(instruments.c.id.in_(held))))
    )
    known = {row.id: row for row in connection.execute(statement)}
    return (
        *_of_quotes(connection, own, known, as_of),
        *_observed(connection, known, as_of),
        *_marked(connection, own, known, as_of),
    )


def outcome_name(market_id: str, side: str | None, instrument_id: str) -> str:
    """Return what the prices of an outcome are found by: of a market of two outcomes it is the market."""
    return market_id if side is not None else instrument_id


def _of_quotes(
    connection: Connection, own: Sequence[int], known: Mapping[int, Any], as_of: datetime
) -> Iterator[SeenPrice]:
    """Yield the prices of the quotes that decisions of these accounts were booked at."""
    named = {row.market_row: row.market_id for row in known.values() if row.side is not None}
    decided = select(journal.c.decision_id).where(journal.c.account_id.in_(own), journal.c.decision_id.is_not(None))
    prices = (quotes.c.bid, quotes.c.ask, quotes.c.displayed, quotes.c.last, quotes.c.history)
    statement = (
        select(quotes.c.market_row, quotes.c.at, *prices)
        .join(decisions, decisions.c.id == quotes.c.decision_id)
        .where(quotes.c.decision_id.in_(decided), quotes.c.market_row.in_(named), quotes.c.at <= as_of)
        .distinct()
        .order_by(quotes.c.at, quotes.c.market_row)
    )
    for market_row, at, bid, ask, displayed, last, history in connection.execute(statement):
        quote = Quote(at, bid=bid, ask=ask, displayed=displayed, last=last, history=history)
        for source, price in quote.by_source.items():
            yield SeenPrice(named[market_row], at, source, price)


def _observed(connection: Connection, known: Mapping[int, Any], as_of: datetime) -> Iterator[SeenPrice]:
    statement = (
        select(price_paths.c.instrument_row, price_paths.c.points)
        .where(price_paths.c.instrument_row.in_([row for row, each in known.items() if each.side != "NO"]))
        .order_by(price_paths.c.instrument_row)
    )
    for instrument_row, packed in connection.execute(statement):
        points, _ = unpacked_points([packed])
        row = known[instrument_row]
        name = outcome_name(row.market_id, row.side, row.instrument_id)
        for at, source, price in points.tolist():
            if (instant := from_microseconds(at)) <= as_of:
                yield SeenPrice(name, instant, f"observed {SOURCES[source]}", price)


def _marked(
    connection: Connection, own: Sequence[int], known: Mapping[int, Any], as_of: datetime
) -> Iterator[SeenPrice]:
    """Yield what was marked while it was quoted; what was not has the price of another instant."""
    statement = (
        select(marks.c.instrument_row, marks.c.priced_at, marks.c.price)
        .where(marks.c.account_id.in_(own), marks.c.at <= as_of, marks.c.state == "quoted")
        .where(marks.c.instrument_row.in_(known))
        .distinct()
        .order_by(marks.c.priced_at, marks.c.instrument_row)
    )
    for instrument_row, at, price in connection.execute(statement):
        row = known[instrument_row]
        name = outcome_name(row.market_id, row.side, row.instrument_id)
        yield SeenPrice(name, at, MARK, 1.0 - price if row.side == "NO" else price)
