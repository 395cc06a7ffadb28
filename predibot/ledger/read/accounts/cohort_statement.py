"""Statements of cohorts: members, results, shared markets, decisions due, and sources of prices."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Row, Select, case, func, select

from predibot.domain.event import Market
from predibot.domain.price import QUOTE_PRICES, Instrument, Quote
from predibot.games.cohorts import decision_week, week_of
from predibot.games.outcomes import Outcome, outcomes_of
from predibot.games.positions import CohortPosition, Standing, resolved_bets_over_time
from predibot.ledger.read.accounts.cohorts import (
    MemberAccount,
    StoredCohort,
    cohorts_as_of,
    count_markets,
    member_accounts,
    read_cohorts,
    read_universe,
)
from predibot.ledger.read.accounts.scoring import decisions_by
from predibot.ledger.schema.column_types import from_microseconds
from predibot.ledger.schema.packed_points import SOURCES, unpack_points
from predibot.ledger.write.accounts import accounts, journal, marks
from predibot.ledger.write.decisions import decisions, orders, quotes
from predibot.ledger.write.events import instruments, markets
from predibot.ledger.write.prices_and_resolutions import price_paths
from predibot.ledger.write.runs import runs
from predibot.rows import grouped
from predibot.scoring.accounts.record import SizedBet

MAX_DISAGREEMENT = 0.05
"""Two prices of one outcome at one instant that differ by more are reported."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class SeenPrice:
    """A stored price of an outcome, of any source."""

    outcome: str
    at: datetime
    source: str
    """Such as `mid`, `last` or `history` of a quote, or `valuation`."""
    price: float


@dataclass(frozen=True, slots=True)
class PriceConflict:
    """The lowest and the highest price of one outcome at one instant, which lie far apart."""

    low: SeenPrice
    high: SeenPrice

    @property
    def difference(self) -> float:
        """Return how far they lie apart."""
        return self.high.price - self.low.price


def price_conflicts(seen: Iterable[SeenPrice]) -> tuple[PriceConflict, ...]:
    """Return where prices of one outcome at one instant differ by more than .05, by time and outcome."""
    together, price = grouped(((each.at, each.outcome), each) for each in seen), attrgetter("price")
    found = (PriceConflict(min(together[key], key=price), max(together[key], key=price)) for key in sorted(together))
    return tuple(each for each in found if each.difference > MAX_DISAGREEMENT + _ROUNDING)


_FINAL = ("recorded", "refused", "abstained")


@dataclass(frozen=True, slots=True)
class PositionLine:
    """A position of a member, and the source of its last price."""

    bot: str
    market_id: str
    side: str
    """YES or NO, or the name of one of several outcomes."""
    question: str
    position: CohortPosition
    price: float | None
    """Its last mark; None if it has ended, or was never marked."""
    priced_at: datetime | None
    """When that was the price; it may be long before the valuation."""
    source: str | None
    """Source of the price; None where it is not stored."""
    is_stale: bool
    """Whether the market had no price at the last valuation."""

    @property
    def value_usd(self) -> float | None:
        """Return its value at that price."""
        return None if self.price is None else self.position.shares * self.price


@dataclass(frozen=True, slots=True)
class CohortHoldings:
    """Positions of a cohort's accounts, and where their prices come from."""

    lines: tuple[PositionLine, ...]
    """In the order in which accounts were opened, ended positions too."""
    bought_at: Mapping[str, int]
    """Filled orders by source of their price."""
    conflicts: tuple[PriceConflict, ...]


@dataclass(frozen=True, slots=True)
class SharedMarket:
    """A market in which several members hold something."""

    market_id: str
    question: str
    holders: tuple[tuple[str, str, float], ...]
    """Bot, side and shares."""


@dataclass(frozen=True, slots=True)
class CohortStatement:
    """All that is known of a cohort, as of an instant."""

    cohort: StoredCohort
    as_of: datetime
    week: int
    markets: int
    unresolved: int
    """Number of its markets that are not known to have paid."""
    decided: Mapping[str, Sequence[Row[Any]]]
    """Decisions of each member with an account, oldest first: run, instant, status and its kind of reason, message,
    number of orders, and cost.
    """
    held: CohortHoldings
    shared: tuple[SharedMarket, ...]
    """Those that most members hold first."""
    due: tuple[str, ...]
    """Members without a decision this week."""


def cohort_statements(
    connection: Connection, name: str, as_of: datetime, *, recipe: str | None = None
) -> tuple[CohortStatement, ...]:
    """Return the statement of each cohort of a Sunday: one a recipe, game, mode and methodology."""
    kept = cohorts_as_of(connection, as_of, recipe=recipe)
    return tuple(_cohort_statement(connection, each, as_of) for each in kept if each.name == name)


@dataclass(frozen=True, slots=True)
class CohortAccountPositions:
    """An account of a cohort, and its positions."""

    cohort: StoredCohort
    standing: Standing
    held: CohortHoldings
    resolved: tuple[tuple[SizedBet, ...], ...]
    """The bets that were resolved after each row of its journal."""


def positions_of_accounts(
    connection: Connection, own: Sequence[int], as_of: datetime
) -> Mapping[int, CohortAccountPositions]:
    """Return the positions of accounts at an instant, by account; those of no cohort are absent."""
    named = select(accounts.c.bot, accounts.c.recipe).where(accounts.c.id.in_(own)).distinct()
    wanted = connection.execute(named).all()
    kept = {each.row: each for each in read_cohorts(connection, as_of)}
    of_recipes = [each for each in kept.values() if each.recipe in {row.recipe for row in wanted}]
    return {
        member.row: CohortAccountPositions(
            kept[member.cohort],
            member.standing,
            _read_positions(connection, kept[member.cohort], [member], as_of),
            resolved_bets_over_time(member.known.rows),
        )
        for member in member_accounts(connection, of_recipes, as_of, bot_names=[row.bot for row in wanted])
        if member.row in own
    }


def _read_positions(
    connection: Connection, cohort: StoredCohort, members: Sequence[MemberAccount], as_of: datetime
) -> CohortHoldings:
    rows = [each.row for each in members]
    seen = _read_prices(connection, rows, as_of)
    named = {
        outcome.instrument: (market, outcome)
        for market in read_universe(connection, cohort, rows, as_of).values()
        if len(market.outcomes) >= 2
        for outcome in outcomes_of(market, cohort.venue)
    }
    lines = tuple(_position_lines(named, members, seen))
    return CohortHoldings(lines, _count_price_sources(connection, rows, as_of), price_conflicts(seen))


def _position_lines(
    named: Mapping[Instrument, tuple[Market, Outcome]], members: Sequence[MemberAccount], seen: Sequence[SeenPrice]
) -> Iterator[PositionLine]:
    # Any other source of a price goes before a valuation's.
    ordered = sorted(seen, key=lambda each: each.source != _MARK)
    sources = {(each.outcome, each.at, round(each.price, 9)): each.source for each in ordered}
    for member in members:
        for position in member.positions:
            instrument = position.instrument
            market, outcome = named.get(instrument, (None, None))
            market_id, side = (instrument.id, "") if market is None or outcome is None else (market.id, outcome.side)
            mark = member.known.marks.get(instrument) if position.is_open else None
            source = None
            if mark is not None:
                is_binary = market is not None and len(market.outcomes) == 2
                name = market_id if is_binary else instrument.id
                # A market of two outcomes has prices of YES only.
                of_yes = (round(price, 9) for price in (mark.price, 1.0 - mark.price))
                source = next((sources[key] for p in of_yes if (key := (name, mark.priced_at, p)) in sources), None)
            yield PositionLine(
                bot=member.bot,
                market_id=market_id,
                side=side,
                question="" if market is None else market.question,
                position=position,
                price=None if mark is None else mark.price,
                priced_at=None if mark is None else mark.priced_at,
                source=source,
                is_stale=mark is not None and mark.state != "quoted",
            )


def _cohort_statement(connection: Connection, cohort: StoredCohort, as_of: datetime) -> CohortStatement:
    own = cohort.accounts
    made = _read_decisions(connection, [each.row for each in own.values()], as_of)
    named = {each.bot_id: place for place, each in enumerate(cohort.members)}
    held = _read_positions(
        connection, cohort, sorted(own.values(), key=lambda each: named.get(each.bot, len(named))), as_of
    )
    decided = {bot: made[each.row] for bot, each in own.items()}
    this_week = week_of(as_of)
    done = {
        bot
        for bot, rows in decided.items()
        if any(row.status in _FINAL and week_of(row.slot_at) == this_week for row in rows)
    }
    markets, unresolved, _ = count_markets(connection, cohort, [each.row for each in own.values()], as_of)
    return CohortStatement(
        cohort=cohort,
        as_of=as_of,
        week=decision_week(cohort.start, as_of),
        markets=markets,
        unresolved=unresolved,
        decided=decided,
        held=held,
        shared=tuple(_shared_markets(held.lines)),
        due=tuple(each.bot_id for each in cohort.members if each.bot_id not in done) if cohort.decides else (),
    )


def _read_decisions(connection: Connection, own: Sequence[int], as_of: datetime) -> Mapping[int, Sequence[Row[Any]]]:
    counted = select(func.count()).where(orders.c.decision_id == decisions.c.id).correlate(decisions).scalar_subquery()
    statement = (
        decisions_by(as_of, accounts.c.id, runs.c.key.label("run"), counted.label("orders"), runs.c.slot_at)
        .add_columns(*decisions.c["decided_at", "status", "message", "reason_kind", "cost_usd"])
        .where(accounts.c.id.in_(own))
        .order_by(accounts.c.id, decisions.c.decided_at, decisions.c.id)
    )
    return grouped((row.id, row) for row in connection.execute(statement))


def _shared_markets(positions: Sequence[PositionLine]) -> Iterator[SharedMarket]:
    held = grouped((line.market_id, line) for line in positions if line.position.is_open)
    several = [lines for lines in held.values() if len({line.bot for line in lines}) > 1]
    for lines in sorted(several, key=lambda lines: (-len({line.bot for line in lines}), lines[0].market_id)):
        holders = tuple((line.bot, line.side, line.position.shares) for line in lines)
        yield SharedMarket(lines[0].market_id, lines[0].question, holders)


def _count_price_sources(connection: Connection, own: Sequence[int], as_of: datetime) -> Mapping[str, int]:
    booked = select(journal.c.decision_id).where(
        journal.c.account_id.in_(own), journal.c.kind == "fill", journal.c.at <= as_of
    )
    statement = (
        select(orders.c.price_source, func.count())
        .where(orders.c.decision_id.in_(booked), orders.c.status == "filled", orders.c.price_source.is_not(None))
        .group_by(orders.c.price_source)
        .order_by(func.count().desc(), orders.c.price_source)
    )
    return {source: number for source, number in connection.execute(statement)}


_MARK = "valuation"


def _read_prices(connection: Connection, own: Sequence[int], as_of: datetime) -> tuple[SeenPrice, ...]:
    """Return every stored price up to an instant of the outcomes that accounts ever held; one of NO as 1 minus it."""
    held = select(journal.c.instrument_row).where(journal.c.account_id.in_(own), journal.c.shares != 0.0).distinct()
    # Prices of an outcome are named by its market where that has two, else by the instrument.
    name = case((instruments.c.side.is_not(None), markets.c.market_id), else_=instruments.c.instrument_id).label("name")
    statement = (
        select(*instruments.c["id", "market_row", "side"], name)
        .join(markets, markets.c.id == instruments.c.market_row)
        .where(instruments.c.market_row.in_(select(instruments.c.market_row).where(instruments.c.id.in_(held))))
    )
    known = {row.id: row for row in connection.execute(statement)}
    return (
        *_quote_prices(connection, own, known, as_of),
        *_observed_prices(connection, known, as_of),
        *_mark_prices(connection, own, known, as_of),
    )


def _quote_prices(
    connection: Connection, own: Sequence[int], known: Mapping[int, Any], as_of: datetime
) -> Iterator[SeenPrice]:
    named = {row.market_row: row.name for row in known.values() if row.side is not None}
    decided = select(journal.c.decision_id).where(journal.c.account_id.in_(own), journal.c.decision_id.is_not(None))
    statement: Select[Any] = (
        select(*quotes.c["market_row", "at"], *quotes.c[QUOTE_PRICES])
        .join(decisions, decisions.c.id == quotes.c.decision_id)
        .where(quotes.c.decision_id.in_(decided), quotes.c.market_row.in_(named), quotes.c.at <= as_of)
        .distinct()
        .order_by(quotes.c.at, quotes.c.market_row)
    )
    for market_row, at, *prices in connection.execute(statement):
        quote = Quote(at, **dict(zip(QUOTE_PRICES, prices, strict=True)))
        for source, price in quote.by_source.items():
            yield SeenPrice(named[market_row], at, source, price)


def _observed_prices(connection: Connection, known: Mapping[int, Any], as_of: datetime) -> Iterator[SeenPrice]:
    statement = (
        select(price_paths.c.instrument_row, price_paths.c.points)
        .where(price_paths.c.instrument_row.in_([row for row, each in known.items() if each.side != "NO"]))
        .order_by(price_paths.c.instrument_row)
    )
    for instrument_row, packed in connection.execute(statement):
        points, _ = unpack_points([packed])
        row = known[instrument_row]
        for at, source, price in points.tolist():
            if (instant := from_microseconds(at)) <= as_of:
                yield SeenPrice(row.name, instant, f"observed {SOURCES[source]}", price)


def _mark_prices(
    connection: Connection, own: Sequence[int], known: Mapping[int, Any], as_of: datetime
) -> Iterator[SeenPrice]:
    """Yield marks of quoted instruments; any other mark has the price of another instant."""
    statement = (
        select(*marks.c["instrument_row", "priced_at", "price"])
        .where(marks.c.account_id.in_(own), marks.c.at <= as_of, marks.c.state == "quoted")
        .where(marks.c.instrument_row.in_(known))
        .distinct()
        .order_by(marks.c.priced_at, marks.c.instrument_row)
    )
    for instrument_row, at, price in connection.execute(statement):
        row = known[instrument_row]
        yield SeenPrice(row.name, at, _MARK, 1.0 - price if row.side == "NO" else price)
