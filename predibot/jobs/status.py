"""The status of a ledger: its schedules, what is open, and what needs attention."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row

from predibot.domain.budget import Limits, Spending, format_limit_usd
from predibot.domain.clock import format_length, short_instant
from predibot.domain.decision import WITHOUT_SEARCH, WITHOUT_TOOLS
from predibot.errors import PredibotError
from predibot.jobs.schedule.scheduled_recipe import ScheduledRecipe
from predibot.ledger.read.standing import (
    OwnerHolds,
    SlotCounts,
    cost_of,
    holdings_by_owner,
    open_markets,
    open_retries,
    slot_counts,
    spending_on,
)
from predibot.ledger.schema.tables import ServiceRow
from predibot.ledger.store import Store
from predibot.ledger.write.process_identity import is_gone
from predibot.ledger.write.runs import count_decisions_with_note, runs
from predibot.ledger.write.slots import is_alive, read_schedules, read_service

STALE = timedelta(days=1)
"""The age from which the last price of an open market is old."""
COUNTED = timedelta(days=30)
"""The days over which slots are counted and costs added up."""
_UNTIL_OVERDUE = timedelta(minutes=15)
"""How long a slot may be late."""


@dataclass(frozen=True, slots=True)
class ScheduleStatus:
    """The state of a recipe's schedule; slots and cost are of the last days."""

    stored: Row[Any]
    slots: SlotCounts
    cost: Row[float, int]
    last_cost: Row[float, int] | None
    """The cost of the last slot's run; None where it has none."""
    expected_at: datetime | None = None
    """The oldest slot that should have begun and has no result."""
    is_overdue: bool = False
    """Whether it is late by more than a few minutes."""
    next_at: datetime | None = None
    """None where the recipe cannot be read here."""
    day_limits: Limits | None = None
    """The day's limits of its runs; None without a limit, or where the recipe cannot be read here."""
    problem: str = ""
    """Why the recipe cannot be read here, or its service's complaint."""

    @property
    def recipe(self) -> str:
        """Return the name of its runs."""
        return str(self.stored.recipe)


@dataclass(frozen=True, slots=True)
class LedgerStatus:
    """The state of everything that runs by itself."""

    at: datetime
    ledger: str
    service: ServiceRow | None
    """The process that runs the schedules; None where there is none."""
    is_service_alive: bool
    schedules: tuple[ScheduleStatus, ...]
    retries: Row[int, Any]
    left_behind: Mapping[str, OwnerHolds]
    """Claims and amounts of dead processes, by owner; the next run takes them over."""
    markets: Row[int, Any, int, int]
    spent: Spending
    without_tools: Mapping[str, int]
    """How many decisions of the last days came from models that call no tools, by bot."""
    without_search: Mapping[str, int]
    """How many came from agents whose searches all failed, by bot."""
    problems: tuple[str, ...]
    """What needs attention, a sentence each; any makes the exit code 1."""


def status_of(store: Store, clock: Callable[[], datetime]) -> LedgerStatus:
    """Return the state of a ledger; no host is asked, and nothing is changed."""
    now = clock()
    with store.read() as connection:
        service = read_service(connection)
        alive = service is not None and is_alive(service, is_gone, now)
        schedules = tuple(_schedule_status(connection, each, now) for each in read_schedules(connection))
        claims = holdings_by_owner(connection)
        retries, markets = open_retries(connection), open_markets(connection, now=now, stale=STALE)
        spent = spending_on(connection, now)
        bare, blind = (
            count_decisions_with_note(connection, note, runs.c.created_at > now - COUNTED)
            for note in (WITHOUT_TOOLS, WITHOUT_SEARCH)
        )
    gone = {owner: each for owner, each in claims.items() if is_gone(owner) or each.lease_until < now}
    problems = []
    if service is not None and not alive:
        problems.append(
            f"the service that ran since {short_instant(service.started_at)} is gone. Start `predibot schedule` again"
        )
    problems += [problem for each in schedules for problem in _schedule_problems(each, spent, now)]
    if markets.stale or markets.unreadable:
        problems.append(
            f"of {markets.markets:,} open markets {markets.stale:,} have no price of the last "
            f"{format_length(STALE)} and {markets.unreadable:,} none at all. Run `predibot track` and read what it says"
        )
    return LedgerStatus(
        now, store.address, service, alive, schedules, retries, gone, markets, spent, bare, blind, tuple(problems)
    )


def _schedule_status(connection: Connection, stored: Row[Any], now: datetime) -> ScheduleStatus:
    since = now - COUNTED
    slots = slot_counts(connection, stored.recipe, since=since, now=now)
    cost, last = cost_of(connection, stored.recipe, since=since), None
    if slots.last is not None and slots.last.run_key is not None:
        last = cost_of(connection, stored.recipe, since=since, run_key=slots.last.run_key)
    try:
        read = ScheduledRecipe.read(stored.argument)
    except PredibotError as error:
        return ScheduleStatus(stored, slots, cost, last, problem=stored.problem or str(error))
    schedule, recipe = read.schedule, read.request.recipe
    known_until = max(stored.since, slots.last.slot_at) if slots.last is not None else stored.since
    begun = (at for at in schedule.slots(max(known_until, since), now) if schedule.begins_at(at, read.seed) <= now)
    expected_at = next(begun, None)
    return ScheduleStatus(
        stored,
        slots,
        cost,
        last,
        expected_at=expected_at,
        is_overdue=expected_at is not None and now - schedule.begins_at(expected_at, read.seed) > _UNTIL_OVERDUE,
        next_at=schedule.next_slot(now),
        day_limits=recipe.limits.get("day"),
        problem=stored.problem,
    )


def _schedule_problems(each: ScheduleStatus, spent: Spending, now: datetime) -> Iterator[str]:
    if each.problem:
        yield f"recipe {each.recipe}: {each.problem}"
    limit = None if each.day_limits is None else each.day_limits.usd
    if limit is not None and spent.usd >= limit:
        usd = format_limit_usd(limit)
        yield f"recipe {each.recipe}: the {usd} that a day may cost are spent. Raise [limits], or wait"
    if each.stored.paused_at is not None:
        return
    if each.expected_at is not None and each.is_overdue:
        late = format_length(timedelta(minutes=(now - each.expected_at) // timedelta(minutes=1)))
        yield (
            f"recipe {each.recipe}: the run of {short_instant(each.expected_at)} has not begun, {late} after it. "
            "Look whether `predibot schedule` runs"
        )
    last = each.slots.last
    if last is not None and last.status in ("failed", "partly", "missed"):
        yield f"recipe {each.recipe}: the run of {short_instant(last.slot_at)} is {last.status}: {last.reason}"
