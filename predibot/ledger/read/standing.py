"""State of a ledger for monitoring, counted by the database, so that a year costs no more than a day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Row, Select, and_, case, func, select, type_coerce

from predibot.agents.budget.account import Exact
from predibot.domain.budget import Spending
from predibot.domain.schedule import SlotStatus
from predibot.ledger.schema.tables import ResolutionRow, SlotRow
from predibot.ledger.schema.upsert import table_of
from predibot.ledger.write.claims import MAX_RETRIES, attempts, subjects, tasks
from predibot.ledger.write.decisions import bots, decisions
from predibot.ledger.write.events import events, instruments, markets, run_events
from predibot.ledger.write.runs import live_venues, runs
from predibot.ledger.write.slots import read_slot
from predibot.ledger.write.spending import reservations, spending

_slots, _resolutions = table_of(SlotRow), table_of(ResolutionRow)


@dataclass(frozen=True, slots=True)
class SlotCounts:
    """Counts of a recipe's slots since an instant."""

    last: SlotRow | None
    """The newest one, whenever it was."""
    counts: Mapping[SlotStatus, int]
    latest: timedelta | None
    """Largest delay of a start; None where none started."""


@dataclass(frozen=True, slots=True)
class OwnerHolds:
    """Claims and reservations of an owner."""

    claims: int
    set_aside_usd: float
    lease_until: datetime


def slot_counts(connection: Connection, recipe: str, *, since: datetime, now: datetime) -> SlotCounts:
    """Return the counts of a recipe's slots."""
    of_recipe = (_slots.c.recipe == recipe, _slots.c.slot_at <= now)
    last_at = connection.execute(select(func.max(_slots.c.slot_at)).where(*of_recipe)).scalar_one()
    late = type_coerce(_slots.c.started_at, BigInteger) - type_coerce(_slots.c.slot_at, BigInteger)
    statement = (
        select(_slots.c.status, func.count(), func.max(late))
        .where(*of_recipe, _slots.c.slot_at > since)
        .group_by(_slots.c.status)
    )
    found = connection.execute(statement).all()
    latest = [microseconds for *_, microseconds in found if microseconds is not None]
    return SlotCounts(
        None if last_at is None else read_slot(connection, recipe, last_at),
        {status: count for status, count, _ in found},
        timedelta(microseconds=int(max(latest))) if latest else None,
    )


_COST = (
    func.coalesce(func.sum(decisions.c.cost_known_usd), 0.0).label("known_usd"),
    func.coalesce(func.sum(case((decisions.c.cost_usd.is_(None), 1), else_=0)), 0).label("unknown"),
)


def cost_of(connection: Connection, recipe: str, *, since: datetime, run_key: str | None = None) -> Row[float, int]:
    """Return the cost of decisions of a recipe's runs since an instant, or of one run; void ones too.

    `known_usd` is what is known of it, and `unknown` how many decisions have an unknown part.
    """
    which = runs.c.slot_at > since if run_key is None else runs.c.key == run_key
    statement = select(*_COST).join(runs, runs.c.id == decisions.c.run_id).where(runs.c.recipe == recipe, which)
    return connection.execute(statement).one()


def costs_of_runs(connection: Connection, keys: Sequence[str]) -> Mapping[tuple[str, datetime | None], Row[Any]]:
    """Return the cost of decisions of some runs, as `cost_of`, by key and when the run was voided, if it was."""
    statement: Select[Any] = (
        select(runs.c.key, runs.c.voided_at, *_COST)
        .join(decisions, decisions.c.run_id == runs.c.id)
        .where(runs.c.key.in_(keys))
        .group_by(*runs.c["id", "key", "voided_at"])
    )
    return {(row.key, row.voided_at): row for row in connection.execute(statement)}


def open_retries(connection: Connection) -> Row[int, Any]:
    """Return how many failed decisions of runs that count are `open`, to be tried again when their run goes on.

    `next_try_at` is the first instant of such a try; None for none, or at once.
    """
    statement = (
        select(func.count().label("open"), func.min(tasks.c.next_try_at).label("next_try_at"))
        .join(runs, runs.c.id == tasks.c.run_id)
        .outerjoin(decisions, decisions.c.task_id == tasks.c.id)
        .where(
            tasks.c.status == "failed",
            tasks.c.failures <= MAX_RETRIES,
            func.coalesce(decisions.c.reason_kind, "") != "answer",
            runs.c.voided_at.is_(None),
        )
    )
    return connection.execute(statement).one()


def holdings_by_owner(connection: Connection) -> Mapping[str, OwnerHolds]:
    """Return claims and reservations by owner."""
    claimed = select(tasks.c.owner, func.count(), func.max(tasks.c.lease_until)).where(tasks.c.status == "claimed")
    held = {
        owner: OwnerHolds(count, 0.0, until) for owner, count, until in connection.execute(claimed.group_by("owner"))
    }
    columns = (reservations.c.owner, func.max(reservations.c.usd), func.max(reservations.c.lease_until))
    for owner, usd, until in connection.execute(select(*columns).group_by(reservations.c.owner)):
        before = held.get(owner, OwnerHolds(0, 0.0, until))
        # The same amount is reserved at several levels.
        held[owner] = OwnerHolds(before.claims, Exact(usd=int(usd)).spending().usd, max(before.lease_until, until))
    return held


def open_markets(connection: Connection, *, now: datetime, stale: timedelta) -> Row[int, Any, int, int]:
    """Return the number of unsettled `markets` of live runs that count, and how old prices are.

    `tracked_until` is the newest price of a history, or None. Markets are `unreadable` if they were played for longer
    than `stale` and have no price, and `stale` if their newest price is older than that.
    """
    played = (
        select(run_events.c.event_row)
        .join(runs, runs.c.id == run_events.c.run_id)
        .where(runs.c.venue.in_(live_venues(connection)), runs.c.voided_at.is_(None))
    )
    long_ago, until = played.where(runs.c.as_of < now - stale), instruments.c.tracked_until

    def count_where(*which: ColumnElement[bool]) -> ColumnElement[int]:
        return func.coalesce(func.sum(case((and_(*which), 1), else_=0)), 0)

    is_old = markets.c.event_row.in_(long_ago)
    statement = (
        select(
            func.count().label("markets"),
            func.max(until).label("tracked_until"),
            count_where(is_old, until.is_(None)).label("unreadable"),
            count_where(is_old, until < now - stale).label("stale"),
        )
        .select_from(instruments)
        .join(markets, markets.c.id == instruments.c.market_row)
        .where(
            instruments.c.side == "YES",
            markets.c.event_row.in_(played),
            ~select(_resolutions.c.market_row).where(_resolutions.c.market_row == markets.c.id).exists(),
        )
    )
    return connection.execute(statement).one()


def spending_on(connection: Connection, day: datetime) -> Spending:
    """Return what is settled and reserved on a UTC day."""
    account = f"day/{day:%Y-%m-%d}"
    total = Exact()
    for table in (spending, reservations):
        columns = [table.c[name] for name in Exact.__dataclass_fields__]
        for row in connection.execute(select(*columns).where(table.c.account == account)):
            total = total.plus(Exact(*row))
    return total.spending()


def under_way(connection: Connection, now: datetime, most: int) -> Sequence[Row[Any]]:
    """Return the decisions with a valid claim, and when their try began, latest first."""
    named = (runs.c.key.label("run"), bots.c.name.label("bot"))
    about = (subjects.c.kind.label("subject_kind"), subjects.c.subject_id)
    statement: Select[Any] = (
        select(*named, *about, events.c.title, func.max(attempts.c.started_at).label("since"))
        .select_from(tasks)
        .join(runs, runs.c.id == tasks.c.run_id)
        .join(bots, bots.c.id == tasks.c.bot_id)
        .join(subjects, subjects.c.id == tasks.c.subject_row)
        .outerjoin(events, events.c.id == subjects.c.event_row)
        .outerjoin(attempts, and_(attempts.c.task_id == tasks.c.id, attempts.c.ended_at.is_(None)))
        .where(tasks.c.status == "claimed", tasks.c.lease_until > now, runs.c.voided_at.is_(None))
        .group_by(*named, *about, events.c.title, tasks.c.id)
        .order_by(func.max(attempts.c.started_at).desc(), tasks.c.id)
        .limit(most)
    )
    return connection.execute(statement).all()
