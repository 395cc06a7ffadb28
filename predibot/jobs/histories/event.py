"""An event's history: the prices of its markets, and all forecasts on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Row

from predibot.domain.spelling import nearest
from predibot.errors import UsageError
from predibot.jobs.open_venue import Clock, locate
from predibot.ledger.read.details.decisions import list_markets
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import (
    LedgerDecision,
    LedgerForecast,
    select_events,
    select_with_forecasts,
)
from predibot.ledger.read.scoring_arrays import track_record
from predibot.ledger.store import Store
from predibot.plugins.venues import venue_or_defaults
from predibot.scoring.records.part import EVERYTHING, Part
from predibot.scoring.records.track_record import TrackRecord

_LISTED = 20


@dataclass(frozen=True, slots=True)
class MarketHistory:
    """A market's prices of YES and its payout."""

    market: Row[Any]
    prices: tuple[tuple[float, float], ...]
    """Instants in seconds since 1970 and prices of YES, by time; quotes of bookings are included."""
    payout_yes: float | None
    """None while it is open, like `settled_at`."""
    settled_at: float | None
    decisions: tuple["PricedDecision", ...] = ()
    """By time."""


@dataclass(frozen=True, slots=True)
class PricedDecision:
    """A bot's forecast and bet on a market, with its price."""

    bot: str
    decided_at: float
    price_yes: float
    probability: float | None
    bet_usd: float
    baseline: bool = False


@dataclass(frozen=True, slots=True)
class EventHistory:
    """The page of one event."""

    event_id: str
    title: str
    as_of: datetime
    markets: tuple[MarketHistory, ...]
    forecasts: tuple[LedgerForecast, ...]
    """By slot, bot and market, of all bots."""
    decisions: tuple[LedgerDecision, ...]
    """Likewise, with those without an answer."""
    currency: str
    """The currency of bets."""


def event_history(store: Store, event_id: str, part: Part = EVERYTHING, *, clock: Clock) -> EventHistory:
    """Return what a ledger holds of an event, by its id or number, as of an instant; no venue is asked.

    Raises:
        UsageError: If no run of the ledger played the event, or as `locate`.
    """
    there = locate(store, part, clock)
    part, at = there.part, there.as_of
    with store.read() as connection, store.blame_all_rows():
        listed = list_markets(connection, there.venue_name)
        known = {market.event_id for market in listed}
        if event_id not in known and event_id.isascii() and event_id.isdigit():
            numbers = {str(each.number): each.event_id for each in select_events(connection)}
            event_id = numbers.get(event_id, event_id)
        rows = [row for row, market in enumerate(listed) if market.event_id == event_id]
        if not rows:
            near = nearest(event_id, known)
            hint = f"Did you mean {near!r}?" if near else "`predibot report --event` lists the latest"
            raise UsageError(f"no run of the ledger has an event {event_id!r}. {hint}")
        record = track_record(connection, there.venue_name, at, part)
        row_filter = RowFilter(
            recipe=part.recipe, bots=part.bots, as_of=at, venue_name=there.venue_name, event=event_id
        )
        decisions, forecasts = select_with_forecasts(connection, row_filter)
    return EventHistory(
        event_id=event_id,
        title=listed[rows[0]].title,
        as_of=at,
        markets=tuple(market_history(record, row, listed[row]) for row in rows),
        forecasts=forecasts,
        decisions=decisions,
        currency=venue_or_defaults(there.venue_name).currency,
    )


def latest_events(store: Store) -> Sequence[Row[Any]]:
    """Return the twenty events that were played last, with their numbers in the ledger, the newest first."""
    return store.run_read(select_events)[:_LISTED]


def market_history(record: TrackRecord, row: int, market: Row[Any]) -> MarketHistory:
    """Return the history of the market in a row of a record with all its prices."""
    seen, booked = record.observation_market == row, record.bet_market == row
    at = np.concatenate([record.observation_at[seen], record.decided_at[record.bet_decision[booked]]])
    price = np.concatenate([record.observation_price_yes[seen], record.bet_price_yes[booked]])
    # The last price of an instant counts; two bots may have been booked at once.
    points = dict(sorted(zip(at.tolist(), price.tolist(), strict=True), key=lambda point: point[0]))
    settled = record.settled_at[row] <= record.as_of
    return MarketHistory(
        market,
        tuple(points.items()),
        float(record.payout_yes[row]) if settled else None,
        float(record.settled_at[row]) if settled else None,
        tuple(
            PricedDecision(
                record.bots[record.decision_bot[decision]],
                float(record.decided_at[decision]),
                float(record.bet_price_yes[bet]),
                None if np.isnan(probability := record.bet_probability[bet]) else float(probability),
                float(record.bet_usd[bet]),
                record.bots[record.decision_bot[decision]] in record.baselines,
            )
            for bet in np.flatnonzero(booked).tolist()
            for decision in (int(record.bet_decision[bet]),)
        ),
    )


def jumping_markets(record: TrackRecord, listed: Sequence[Row[Any]], most: int) -> tuple[MarketHistory, ...]:
    """Return the markets with decisions that have the largest jumps in price, at most one an event."""
    order = np.lexsort((record.observation_at, record.observation_market))
    market, price = record.observation_market[order], record.observation_price_yes[order]
    jumps = np.zeros(record.payout_yes.size)
    within = market[1:] == market[:-1]
    np.maximum.at(jumps, market[1:][within], np.abs(np.diff(price))[within])
    decided = np.unique(record.bet_market)
    ordered = decided[np.argsort(-jumps[decided], kind="stable")].tolist()
    # Markets of one event jump together, so one is enough.
    one_each = {listed[row].event_id: row for row in reversed(ordered)}
    chosen = [row for row in ordered if one_each[listed[row].event_id] == row][:most]
    return tuple(market_history(record, row, listed[row]) for row in chosen)
