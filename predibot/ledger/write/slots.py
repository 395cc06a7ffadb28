"""Slots of schedules in the ledger: each has a row, and one process runs them at a time."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, func, literal, select, update

from predibot.domain.clock import format_instant, short_instant
from predibot.domain.schedule import SlotStatus
from predibot.errors import LedgerUnusable
from predibot.ledger.schema.column_types import Instant
from predibot.ledger.schema.tables import ScheduleRow, ServiceRow, SlotRow
from predibot.ledger.schema.upsert import insert_new, table_of
from predibot.ledger.write.process_identity import is_of_this_machine

_schedules, _slots, _services = table_of(ScheduleRow), table_of(SlotRow), table_of(ServiceRow)
SERVICE = "schedule"
"""Lock of the process that runs the schedules."""


def lock_of_slot(recipe: str, slot_at: datetime) -> str:
    """Return the name of a slot's lock."""
    return f"run {recipe}@{format_instant(slot_at)}"


@dataclass(frozen=True, slots=True)
class SlotResult:
    """The result of playing a slot."""

    status: SlotStatus
    reason: str = ""
    run_key: str | None = None
    was_tried: bool = True
    """Whether it came to its end; False where it was stopped, and goes on with the next start."""
    may_be_idle: bool = False
    """Whether there may be nothing to do: then it is tried again like a failure, and counts as done after that."""


def is_alive(service: ServiceRow, is_gone: Callable[[str], bool], now: datetime) -> bool:
    """Return whether the process that holds a lock seems to be at work.

    A process of this machine can be looked up, whatever its clock does; another one renews its lease.
    """
    return not is_gone(service.owner) and (is_of_this_machine(service.owner) or service.lease_until > now)


def add_schedule(connection: Connection, recipe: str, argument: str, *, problem: str = "", now: datetime) -> Row[Any]:
    """Return a recipe's schedule, which begins now if it is new."""
    values = {"argument": argument, "problem": problem}
    insert_new(connection, ScheduleRow, [{"recipe": recipe, "since": now, **values}])
    change_schedule(connection, recipe, **values)
    # The clock may have been ahead when it began.
    connection.execute(
        update(_schedules).where(_schedules.c.recipe == recipe, _schedules.c.since > now).values(since=now)
    )
    return next(each for each in read_schedules(connection) if each.recipe == recipe)


def change_schedule(connection: Connection, recipe: str, **values: datetime | str | None) -> bool:
    """Store changes of a schedule, and return whether there is one of that name."""
    statement = update(_schedules).where(_schedules.c.recipe == recipe).values(**values).returning(_schedules.c.recipe)
    return connection.execute(statement).first() is not None


def read_schedules(connection: Connection) -> Sequence[Row[Any]]:
    """Return all schedules by name."""
    return connection.execute(select(_schedules).order_by(_schedules.c.recipe)).all()


def read_slots(connection: Connection, recipe: str, since: datetime | None = None) -> tuple[SlotRow, ...]:
    """Return the slots of a recipe with a row, oldest first; only those after `since`, if given."""
    return _slots_where(connection, recipe, *([] if since is None else [_slots.c.slot_at > since]))


def read_slot(connection: Connection, recipe: str, slot_at: datetime) -> SlotRow | None:
    """Return the row of a slot, or None."""
    return next(iter(_slots_where(connection, recipe, _slots.c.slot_at == slot_at)), None)


def _slots_where(connection: Connection, recipe: str, *which: ColumnElement[bool]) -> tuple[SlotRow, ...]:
    statement = select(_slots).where(_slots.c.recipe == recipe, *which).order_by(_slots.c.slot_at)
    return tuple(SlotRow(**row) for row in connection.execute(statement).mappings())


def pause_reason(at: datetime) -> str:
    """Return why slots of a pause are missed."""
    return f"paused since {short_instant(at)}"


def miss_slots(connection: Connection, recipe: str, slots: Iterable[datetime], reason: str, *, now: datetime) -> None:
    """Store slots as missed, unless they have a row."""
    row = {"recipe": recipe, "status": "missed", "tries": 0, "ended_at": now, "reason": reason}
    insert_new(connection, SlotRow, [{**row, "slot_at": slot} for slot in slots])


def begin_slot(connection: Connection, recipe: str, slot_at: datetime, *, now: datetime) -> SlotRow:
    """Store that a slot is being played, for the first time or again."""
    row = {"recipe": recipe, "slot_at": slot_at, "status": "running", "tries": 0, "started_at": now, "reason": ""}
    insert_new(connection, SlotRow, [row])
    return _change_slot(
        connection,
        recipe,
        slot_at,
        status="running",
        tries=_slots.c.tries + 1,
        started_at=func.coalesce(_slots.c.started_at, literal(now, Instant())),
        ended_at=None,
        next_try_at=None,
    )


def end_slot(
    connection: Connection,
    recipe: str,
    slot_at: datetime,
    played: SlotResult,
    *,
    next_try_at: datetime | None,
    now: datetime,
) -> SlotRow:
    """Store how a slot ended."""
    # A later try may end before it has a run; the earlier run stays.
    values = {"status": played.status, "reason": played.reason, "run_key": played.run_key or _slots.c.run_key}
    return _change_slot(connection, recipe, slot_at, **values, next_try_at=next_try_at, ended_at=now)


def _change_slot(connection: Connection, recipe: str, slot_at: datetime, **values: Any) -> SlotRow:
    of_slot = update(_slots).where(_slots.c.recipe == recipe, _slots.c.slot_at == slot_at)
    row = connection.execute(of_slot.values(**values).returning(_slots)).mappings().first()
    if row is None:
        raise LedgerUnusable(
            f"the row of the run of {format_instant(slot_at)} of {recipe} is gone. Look who else writes here"
        )
    return SlotRow(**row)


def read_service(connection: Connection, name: str = SERVICE) -> ServiceRow | None:
    """Return the last holder of a lock, or None."""
    row = connection.execute(select(_services).where(_services.c.name == name)).mappings().first()
    return None if row is None else ServiceRow(**row)


def take_service(
    connection: Connection, name: str, owner: str, *, lease: timedelta, is_gone: Callable[[str], bool], now: datetime
) -> ServiceRow | None:
    """Take a lock, and return its former holder, who is gone, or None; LookupError names a process that has it."""
    new = {"name": name, "owner": owner, "started_at": now, "lease_until": now + lease}
    if insert_new(connection, ServiceRow, [new]):
        return None
    before = read_service(connection, name)
    if before is not None and before.owner == owner:
        return None
    if before is not None and is_alive(before, is_gone, now):
        raise LookupError(before.owner)
    taken = connection.execute(
        update(_services)
        .where(_services.c.name == name, _services.c.owner == (before.owner if before else owner))
        .values(**new)
        .returning(_services.c.name)
    ).first()
    if taken is None:
        raise LookupError("another process that was faster")
    return before


def renew_service(connection: Connection, name: str, owner: str, *, lease: timedelta, now: datetime) -> bool:
    """Renew a lock's lease, and return whether the owner still has it."""
    of_owner = (_services.c.name == name, _services.c.owner == owner)
    statement = update(_services).where(*of_owner).values(lease_until=now + lease).returning(_services.c.name)
    return connection.execute(statement).first() is not None


def leave_service(connection: Connection, name: str, owner: str) -> None:
    """Release a lock."""
    connection.execute(delete(_services).where(_services.c.name == name, _services.c.owner == owner))
