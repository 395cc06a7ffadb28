"""Statements of cohorts: who plays one, what each made of it, what is held by several, and what is due."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Row, func, select

from predibot.domain.price import Instrument
from predibot.games.cohorts import Member, decision_week, week_of
from predibot.games.outcomes import outcomes_of
from predibot.games.positions import CohortPosition, PositionState, Standing
from predibot.ledger.read.account_scoring import decided_accounts
from predibot.ledger.read.cohorts.accounts import (
    CohortAsOf,
    KeptCohort,
    MemberAccount,
    cohorts_as_of,
    kept_cohorts,
    member_accounts,
    unresolved_markets,
)
from predibot.ledger.read.cohorts.prices import MARK, outcome_name, prices_seen
from predibot.ledger.write.accounts import accounts, journal
from predibot.ledger.write.decisions import decisions, orders
from predibot.ledger.write.runs import frozen_events, runs
from predibot.scoring.accounts.price_provenance import PriceConflict, SeenPrice, price_conflicts

_FINAL = ("recorded", "refused", "abstained")


@dataclass(frozen=True, slots=True)
class NamedOutcome:
    """What can be bought of a market, by the names that bots use."""

    market_id: str
    side: str
    """YES or NO, or the name of one of several outcomes."""
    question: str
    is_binary: bool


@dataclass(frozen=True, slots=True)
class PositionLine:
    """A position of a member, and where its last price comes from."""

    bot: str
    outcome: NamedOutcome
    position: CohortPosition
    price: float | None
    """That it was last marked at; None of one that has ended, or was never marked."""
    priced_at: datetime | None
    """When that was the price; it may be long before the valuation."""
    source: str | None
    """What the price is; None where nobody wrote that down."""
    is_stale: bool
    """Whether the market had no price when it was last marked."""

    @property
    def value_usd(self) -> float | None:
        """Return what it is worth at that price."""
        return None if self.price is None else self.position.shares * self.price


@dataclass(frozen=True, slots=True)
class MemberLine:
    """A member of a cohort, and what it made of it."""

    member: Member
    cash_usd: float | None
    """None without an account, as the next three."""
    stake_usd: float | None
    value_usd: float | None
    """None also where nobody knows what it holds is worth."""
    valued_at: datetime | None
    standing: Standing | None
    is_owing: bool
    states: Mapping[PositionState, int]
    """How many positions are in each."""
    decisions: Mapping[str, int]
    """How many ended with each status."""
    last: Row[Any] | None
    """The run, when, the status, the message, and how many orders."""
    cost_usd: float | None
    """Of its decisions in this cohort; None where a part is unknown."""

    @property
    def profit_usd(self) -> float | None:
        """Return what it gained."""
        return None if self.value_usd is None or self.stake_usd is None else self.value_usd - self.stake_usd


@dataclass(frozen=True, slots=True)
class SharedMarket:
    """A market that several members hold something of."""

    market_id: str
    question: str
    holders: tuple[tuple[str, str, float], ...]
    """The bot, the side and the shares."""


@dataclass(frozen=True, slots=True)
class CohortStatement:
    """All that is known of a cohort, as of an instant."""

    cohort: CohortAsOf
    as_of: datetime
    week: int
    """Which week of it this is, 1 for the first."""
    markets: int
    unresolved: int
    """Markets of its universe that are not known to have paid."""
    members: tuple[MemberLine, ...]
    """In the order of the line-up."""
    positions: tuple[PositionLine, ...]
    """By member, in the order in which they were opened."""
    shared: tuple[SharedMarket, ...]
    """Those that most members hold first."""
    due: tuple[str, ...]
    """The members whose decision of this week is not made."""
    bought_at: Mapping[str, int]
    """How many filled orders were booked at a price of each source."""
    conflicts: tuple[PriceConflict, ...]


def cohort_statements(
    connection: Connection, name: str, as_of: datetime, *, recipe: str | None = None
) -> tuple[CohortStatement, ...]:
    """Return the statement of each cohort of a Sunday: one a recipe, game, mode and methodology.

    Raises:
        ValueError: If a row is not as predibot writes it.
    """
    kept = cohorts_as_of(connection, as_of, recipe=recipe)
    return tuple(_statement(connection, each, as_of) for each in kept if each.name == name)


@dataclass(frozen=True, slots=True)
class AccountPositions:
    """The positions of one account of a cohort, and its prices."""

    cohort: KeptCohort
    lines: tuple[PositionLine, ...]
    """In the order in which they were opened, ended ones too."""
    standing: Standing
    bought_at: Mapping[str, int]
    """How many filled orders were booked at a price of each source."""
    conflicts: tuple[PriceConflict, ...]


def positions_of_accounts(
    connection: Connection, own: Sequence[int], as_of: datetime
) -> Mapping[int, AccountPositions]:
    """Return the positions of accounts as they were at an instant, by account; those of no cohort are left out.

    Raises:
        ValueError: If a row is not as predibot writes it.
    """
    named = select(accounts.c.bot, accounts.c.recipe).where(accounts.c.id.in_(own)).distinct()
    wanted = connection.execute(named).all()
    kept = {each.row: each for each in kept_cohorts(connection, as_of)}
    of_recipes = [each for each in kept.values() if each.recipe in {row.recipe for row in wanted}]
    found = {}
    for member in member_accounts(connection, of_recipes, as_of, bot_names=[row.bot for row in wanted]):
        if member.row in own:
            cohort, seen = kept[member.cohort], prices_seen(connection, [member.row], as_of)
            found[member.row] = AccountPositions(
                cohort,
                position_lines(connection, cohort, [member], seen),
                member.standing,
                _bought_at(connection, [member.row], as_of),
                price_conflicts(seen),
            )
    return found


def position_lines(
    connection: Connection, cohort: KeptCohort, members: Sequence[MemberAccount], seen: Sequence[SeenPrice]
) -> tuple[PositionLine, ...]:
    """Return the positions of members with the names of what they are of, and where their last prices come from.

    Args:
        connection: A reading transaction.
        cohort: That the members play.
        members: Whose positions.
        seen: All prices of what they held, as `prices_seen` returns them.
    """
    named = _outcomes(connection, cohort)
    # What the price is goes before that somebody was valued at it.
    ordered = sorted(seen, key=lambda each: each.source != MARK)
    sources = {(each.outcome, each.at, round(each.price, 9)): each.source for each in ordered}
    lines = []
    for member in members:
        for position in member.positions:
            instrument = position.instrument
            outcome = named.get(instrument, NamedOutcome(instrument.id, "", "", is_binary=False))
            mark = member.known.marks.get(instrument) if position.is_open else None
            source = None
            if mark is not None:
                name = outcome_name(outcome.market_id, outcome.side if outcome.is_binary else None, instrument.id)
                # Of a market of two outcomes all prices are those of YES.
                of_yes = (round(price, 9) for price in (mark.price, 1.0 - mark.price))
                source = next((sources[key] for p in of_yes if (key := (name, mark.priced_at, p)) in sources), None)
            lines.append(
                PositionLine(
                    bot=member.bot,
                    outcome=outcome,
                    position=position,
                    price=None if mark is None else mark.price,
                    priced_at=None if mark is None else mark.priced_at,
                    source=source,
                    is_stale=mark is not None and mark.state != "quoted",
                )
            )
    return tuple(lines)


def _statement(connection: Connection, cohort: CohortAsOf, as_of: datetime) -> CohortStatement:
    own = cohort.accounts
    rows = [each.row for each in own.values()]
    seen = prices_seen(connection, rows, as_of)
    made = _decisions(connection, rows, as_of)
    named = {each.bot_id: place for place, each in enumerate(cohort.members)}
    ordered = sorted(own.values(), key=lambda each: named.get(each.bot, len(named)))
    positions = position_lines(connection, cohort, ordered, seen)
    this_week = week_of(as_of)
    done = {
        bot
        for bot, each in own.items()
        for one in made.get(each.row, ())
        if one.status in _FINAL and week_of(one.slot_at) == this_week
    }
    markets, unresolved, _ = unresolved_markets(connection, cohort, as_of)
    return CohortStatement(
        cohort=cohort,
        as_of=as_of,
        week=decision_week(cohort.start, as_of),
        markets=markets,
        unresolved=unresolved,
        members=tuple(member_line(each, own.get(each.bot_id), made) for each in cohort.members),
        positions=positions,
        shared=tuple(_shared(positions)),
        due=tuple(each.bot_id for each in cohort.members if each.bot_id not in done) if cohort.decides else (),
        bought_at=_bought_at(connection, rows, as_of),
        conflicts=price_conflicts(seen),
    )


def _decisions(connection: Connection, own: Sequence[int], as_of: datetime) -> Mapping[int, list[Row[Any]]]:
    """Return the decisions of each account, oldest first."""
    counted = select(func.count()).where(orders.c.decision_id == decisions.c.id).correlate(decisions).scalar_subquery()
    statement = (
        select(accounts.c.id, runs.c.key.label("run"), decisions.c.decided_at, decisions.c.status, decisions.c.message)
        .add_columns(counted.label("orders"), decisions.c.cost_usd, runs.c.slot_at)
        .select_from(decided_accounts())
        .where(accounts.c.id.in_(own), decisions.c.decided_at <= as_of, runs.c.voided_at.is_(None))
        .order_by(accounts.c.id, decisions.c.decided_at, decisions.c.id)
    )
    found = defaultdict[int, list[Row[Any]]](list)
    for row in connection.execute(statement):
        found[row.id].append(row)
    return found


def member_line(
    member: Member, own: MemberAccount | None, made: Mapping[int, Sequence[Row[Any]]] = MappingProxyType({})
) -> MemberLine:
    """Return what a member made of a cohort, with the decisions of its account where they are read."""
    decided = () if own is None else made.get(own.row, ())
    costs = [each.cost_usd for each in decided]
    return MemberLine(
        member=member,
        cash_usd=None if own is None else own.account.cash_usd,
        stake_usd=None if own is None else own.stake_usd,
        value_usd=None if own is None else own.value_usd,
        valued_at=None if own is None else own.known.valued_at,
        standing=None if own is None else own.standing,
        is_owing=own is not None and own.account.owing,
        states=Counter(position.state for position in own.positions) if own is not None else {},
        decisions=Counter(each.status for each in decided),
        last=decided[-1] if decided else None,
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
    )


def _shared(positions: Sequence[PositionLine]) -> Iterator[SharedMarket]:
    held = defaultdict[str, list[PositionLine]](list)
    for line in positions:
        if line.position.is_open:
            held[line.outcome.market_id].append(line)
    several = [lines for lines in held.values() if len({line.bot for line in lines}) > 1]
    for lines in sorted(several, key=lambda lines: (-len({line.bot for line in lines}), lines[0].outcome.market_id)):
        first = lines[0].outcome
        holders = tuple((line.bot, line.outcome.side, line.position.shares) for line in lines)
        yield SharedMarket(first.market_id, first.question, holders)


def _outcomes(connection: Connection, cohort: KeptCohort) -> Mapping[Instrument, NamedOutcome]:
    """Return the names of all outcomes of a cohort's universe."""
    return {
        outcome.instrument: NamedOutcome(market.id, outcome.side, market.question, len(market.outcomes) == 2)
        for event in frozen_events(connection, cohort.run_id)
        for market in event.markets
        if len(market.outcomes) >= 2
        for outcome in outcomes_of(market, cohort.venue)
    }


def _bought_at(connection: Connection, own: Sequence[int], as_of: datetime) -> Mapping[str, int]:
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
