"""Lists of events with what their markets cost and paid, of decisions with what they gained, and of open positions."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, case, func, or_, select, true

from predibot.domain.price import EQUITY, highest_price
from predibot.ledger.read.row_filter import RowFilter, payouts
from predibot.ledger.read.rows_for_python import LedgerDecision, read_in_order, sort_rows
from predibot.ledger.schema.column_types import bind_list, to_microseconds
from predibot.ledger.schema.packed_points import unpack_points
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bets_of, bots, decisions, forecasts, of_same_market
from predibot.ledger.write.events import events, instruments, markets
from predibot.ledger.write.prices_and_resolutions import price_paths, resolutions
from predibot.ledger.write.runs import is_late, runs, with_decisions
from predibot.rows import grouped
from predibot.scoring.metrics.returns import horizon_gains


@dataclass(frozen=True, slots=True)
class ListedMarket:
    """A market that bots forecast."""

    question: str
    price_then: float | None
    """The price of YES at the first decision; None if no price was booked."""
    price_now: float | None
    """The last price that is stored."""
    payout_yes: float | None
    """In [0, 1]; None while it is open, and where stakes were given back."""
    settled_at: datetime | None
    """None while it is open."""

    @property
    def weight(self) -> tuple[float, ...]:
        """Return the sort key that finds the leading market of an event: its payout, then its prices."""
        return tuple(-1.0 if each is None else each for each in (self.payout_yes, self.price_now, self.price_then))


@dataclass(frozen=True, slots=True)
class ListedEvent:
    """What bots did on an event."""

    bots: int
    markets: tuple[ListedMarket, ...]
    """Those with a forecast, the leading one first."""

    @property
    def settled(self) -> int:
        """Return the number of its markets that are settled."""
        return sum(each.settled_at is not None for each in self.markets)


def list_events(connection: Connection, events: Sequence[int]) -> Mapping[int, ListedEvent]:
    """Return what bots did on some events, by their row numbers."""
    counted = (subjects.c.event_row.in_(bind_list(events)), runs.c.voided_at.is_(None))
    who = with_decisions(subjects.c.event_row, func.count(bots.c.name.distinct())).where(
        *counted, decisions.c.status == "recorded"
    )
    number = {event: n for event, n in connection.execute(who.group_by(subjects.c.event_row))}
    first = (
        with_decisions(forecasts.c.market_row, func.min(decisions.c.id).label("decision_id"))
        .join(forecasts, forecasts.c.decision_id == decisions.c.id)
        .where(*counted)
        .group_by(forecasts.c.market_row)
        .subquery("first")
    )
    booked = bets_of(select(first.c.decision_id))
    statement = (
        select(*markets.c["id", "event_row", "question"], booked.c.price_yes)
        .add_columns(payouts.c.payout_yes, payouts.c.settled_at)
        .join(first, first.c.market_row == markets.c.id)
        .outerjoin(booked, (booked.c.decision_id == first.c.decision_id) & (booked.c.market_row == markets.c.id))
        .outerjoin(payouts, payouts.c.market_row == markets.c.id)
        .order_by(markets.c.id)
    )
    prices = last_prices(connection, events)
    found = grouped(
        (event, ListedMarket(question, then, prices.get(market), payout, settled_at))
        for market, event, question, then, payout, settled_at in connection.execute(statement)
    )
    return {
        event: ListedEvent(
            number.get(event, 0), tuple(sorted(found[event], key=lambda each: each.weight, reverse=True))
        )
        for event in events
    }


def last_prices(connection: Connection, events: Sequence[int], as_of: datetime | None = None) -> Mapping[int, float]:
    """Return the last stored price, up to `as_of`, of YES or of the stock, by the row of each market of some events."""
    chosen = (
        select(markets.c.id, instruments.c.kind, price_paths.c.points)
        .join(instruments, instruments.c.id == price_paths.c.instrument_row)
        .join(markets, markets.c.id == instruments.c.market_row)
        .where(
            markets.c.event_row.in_(bind_list(events)), or_(instruments.c.side == "YES", instruments.c.kind == EQUITY)
        )
        .order_by(price_paths.c.instrument_row)
    )
    paths = defaultdict[str, dict[int, bytes]](dict)
    for market, kind, blob in connection.execute(chosen):
        paths[kind][market] = blob
    found = dict[int, float]()
    for kind, of_kind in paths.items():
        points, counts = unpack_points([*of_kind.values()], highest=highest_price(kind))
        ends = np.cumsum(counts)
        starts = ends - counts
        if as_of is not None:
            # Points of a path lie in order of time.
            seen = np.append(0, np.cumsum(points["at"] <= to_microseconds(as_of)))
            ends = starts + seen[ends] - seen[starts]
        has_price = ends > starts
        prices = points["price"][ends[has_price] - 1].tolist()
        found |= zip(np.array([*of_kind])[has_price].tolist(), prices, strict=True)
    return found


@dataclass(frozen=True, slots=True)
class OpenPosition:
    """What bots hold of one side of a market that is open."""

    event_id: str
    question: str
    side: str
    """YES or NO."""
    bets: int
    staked_usd: float
    shares: float
    """What the stakes bought at the booked prices, without fees."""
    price_now: float | None
    """The last stored price of this side, in [0, 1]."""

    @property
    def price_then(self) -> float:
        """Return the mean price that was paid for a share of this side, in (0, 1)."""
        return self.staked_usd / self.shares

    @property
    def gain_usd(self) -> float | None:
        """Return what the bets have gained by the last price; None without one."""
        return None if self.price_now is None else self.shares * self.price_now - self.staked_usd


def total_gain_usd(positions: Sequence[OpenPosition]) -> float | None:
    """Return what positions have gained by the last prices; None if no price of theirs is stored."""
    known = [each.gain_usd for each in positions if each.gain_usd is not None]
    return sum(known) if known else None


def open_positions(connection: Connection, row_filter: RowFilter) -> Sequence[OpenPosition]:
    """Return the open positions of some decisions that are in scores, the largest stake first.

    A market that settled after the filter's `as_of` is open, and a later price is not read.
    """
    as_of = row_filter.as_of
    known = true() if as_of is None else (resolutions.c.effective_at <= as_of) & (resolutions.c.settled_at <= as_of)
    is_settled = select(resolutions.c.market_row).where(resolutions.c.market_row == markets.c.id, known).exists()
    counted = (*row_filter.conditions(connection), subjects.c.kind == "event", ~is_late())
    booked = bets_of(with_decisions(decisions.c.id).where(*counted))
    cost = case((booked.c.sign > 0.0, booked.c.price_yes), else_=1.0 - booked.c.price_yes)
    staked = func.abs(booked.c.booked_usd)
    of_side = (events.c.id, events.c.event_id, markets.c.id, markets.c.question, booked.c.sign)
    statement = (
        select(*of_side, func.count(), func.sum(staked), func.sum(staked / func.nullif(cost, 0.0)))
        .join(markets, markets.c.id == booked.c.market_row)
        .join(events, events.c.id == markets.c.event_row)
        .where(booked.c.booked_usd != 0.0, cost > 0.0, ~is_settled)
        .group_by(*of_side)
    )
    rows = connection.execute(statement).all()
    prices = last_prices(connection, sorted({event for event, *_ in rows}), as_of)
    found = []
    for _, event_id, market, question, sign, n, staked_usd, shares in rows:
        price = prices.get(market)
        now = price if price is None or sign > 0.0 else 1.0 - price
        found.append(OpenPosition(event_id, question, "YES" if sign > 0.0 else "NO", n, staked_usd, shares, now))
    return sorted(found, key=lambda each: (-each.staked_usd, each.event_id, each.question))


@dataclass(frozen=True, slots=True)
class BookedForecast:
    """A forecast of one market, its bet, and what the market paid."""

    probability: float
    """The probability of YES, in [0, 1]."""
    price_yes: float | None
    """The booked price of YES, strictly between 0 and 1."""
    booked_usd: float | None
    """Positive on YES, negative on NO."""
    payout_yes: float | None
    """In [0, 1]; None while the market is open, and where stakes were given back."""
    settled_at: datetime | None
    """None while the market is open."""
    gain_usd: float | None
    """What the settled bet gained at the booked price; None without a bet, or while it is open."""


@dataclass(frozen=True, slots=True)
class ListedDecision:
    """A decision with its forecasts."""

    decision: LedgerDecision
    forecasts: tuple[BookedForecast, ...]

    @property
    def settled(self) -> int:
        """Return the number of its markets that are settled."""
        return sum(each.settled_at is not None for each in self.forecasts)

    @property
    def staked_usd(self) -> float:
        """Return the sum of its bets."""
        return sum(abs(each.booked_usd or 0.0) for each in self.forecasts)

    @property
    def gain_usd(self) -> float | None:
        """Return what its settled bets gained; None without any."""
        known = [gain for each in self.forecasts if (gain := each.gain_usd) is not None]
        return sum(known) if known else None


def list_decisions(
    connection: Connection, row_filter: RowFilter, *, limit: int, skip: int = 0, by: str = "slot", rising: bool = False
) -> tuple[ListedDecision, ...]:
    """Return a page of a sorted list of decisions; the arguments are those of `sort_rows`."""
    rows = sort_rows(connection, row_filter, limit=limit, skip=skip, by=by, rising=rising)
    of_row = _forecasts_of(connection, rows)
    found = read_in_order(connection, row_filter, rows)
    return tuple(ListedDecision(each, tuple(of_row[row])) for row, each in zip(rows, found, strict=True))


def _forecasts_of(connection: Connection, rows: Sequence[int]) -> dict[int, list[BookedForecast]]:
    booked = bets_of(bind_list(rows))
    statement: Select[Any] = (
        select(
            *forecasts.c["decision_id", "probability"],
            *booked.c["price_yes", "booked_usd"],
            *payouts.c["payout_yes", "settled_at"],
        )
        .outerjoin(booked, of_same_market(booked, forecasts))
        .outerjoin(payouts, payouts.c.market_row == forecasts.c.market_row)
        .where(forecasts.c.decision_id.in_(bind_list(rows)))
        .order_by(forecasts.c.decision_id, forecasts.c.market_row)
    )
    listed = connection.execute(statement).all()
    settled = [n for n, row in enumerate(listed) if row.booked_usd and row.price_yes is not None and row.settled_at]
    bets_usd, prices, paid = ([listed[n][column] for n in settled] for column in (3, 2, 4))
    # Stakes that were given back gained nothing.
    gained = horizon_gains(bets_usd, prices, [np.nan if each is None else each for each in paid])
    gains = dict(zip(settled, np.nan_to_num(gained).tolist(), strict=True))
    return grouped((row[0], BookedForecast(*(*row[1:], gains.get(n)))) for n, row in enumerate(listed))
