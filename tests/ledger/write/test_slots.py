"""Slots in the ledger: a row for each, whatever became of it, and one process that runs them."""

from datetime import timedelta

import pytest

from predibot.domain.clock import parse_instant
from predibot.ledger.store import Store
from predibot.ledger.write.slots import (
    SERVICE,
    SlotResult,
    add_schedule,
    begin_slot,
    change_schedule,
    end_slot,
    leave_service,
    miss_slots,
    read_schedules,
    read_service,
    read_slots,
    renew_service,
    take_service,
)

NOON = parse_instant("2026-11-22T12:00Z")
MINUTE, DAY, LEASE = timedelta(minutes=1), timedelta(days=1), timedelta(seconds=60)


def test_a_slot_is_begun_once_however_often_it_is_tried(store: Store) -> None:
    with store.write() as connection:
        first = begin_slot(connection, "daily", NOON, now=NOON + MINUTE)
        failed, done = SlotResult("failed", "a venue was away"), SlotResult("done", run_key="daily@x")
        end_slot(connection, "daily", NOON, failed, next_try_at=NOON + 31 * MINUTE, now=NOON + 2 * MINUTE)
        again = begin_slot(connection, "daily", NOON, now=NOON + 31 * MINUTE)
        end_slot(connection, "daily", NOON, done, next_try_at=None, now=NOON + 40 * MINUTE)
    assert (first.tries, first.late, again.tries, again.late) == (1, MINUTE, 2, MINUTE)
    with store.read() as connection:
        (row,) = read_slots(connection, "daily")
    assert (row.status, row.run_key, row.ended_at, row.next_try_at) == ("done", "daily@x", NOON + 40 * MINUTE, None)


def test_what_was_played_is_not_missed_as_well(store: Store) -> None:
    with store.write() as connection:
        begin_slot(connection, "daily", NOON, now=NOON)
        miss_slots(connection, "daily", [NOON, NOON + DAY], "the machine was off", now=NOON + 2 * DAY)
        miss_slots(connection, "daily", [NOON + DAY], "another reason", now=NOON + 3 * DAY)
    with store.read() as connection:
        rows = read_slots(connection, "daily")
        assert read_slots(connection, "daily", NOON) == rows[1:]
    assert [(row.status, row.reason) for row in rows] == [("running", ""), ("missed", "the machine was off")]
    assert rows[1].late is None


def test_a_schedule_begins_when_it_is_first_seen(store: Store) -> None:
    with store.write() as connection:
        add_schedule(connection, "daily", "runs/daily.toml", now=NOON)
        change_schedule(connection, "daily", paused_at=NOON, problem="line 3")
        again = add_schedule(connection, "daily", "other.toml", now=NOON + DAY)
        assert not change_schedule(connection, "weekly", paused_at=NOON)
    assert (again.since, again.argument, again.paused_at, again.problem) == (NOON, "other.toml", NOON, "")
    with store.read() as connection:
        assert read_schedules(connection) == [again]


def test_one_process_runs_the_schedules_and_a_dead_one_is_replaced(store: Store) -> None:
    def take(owner: str, gone: str = "", after: timedelta = timedelta(0)) -> str | None:
        with store.write() as connection:
            is_gone = gone.__eq__
            before = take_service(connection, SERVICE, owner, lease=LEASE, is_gone=is_gone, now=NOON + after)
        return before.owner if before else None

    assert take("a") is None
    with pytest.raises(LookupError, match="a"):
        take("b")
    assert take("b", gone="a") == "a"
    with store.write() as connection:
        assert not renew_service(connection, SERVICE, "a", lease=LEASE, now=NOON)
        assert renew_service(connection, SERVICE, "b", lease=LEASE, now=NOON + MINUTE)
    with pytest.raises(LookupError, match="b"):
        take("c", after=MINUTE)
    assert take("c", after=3 * MINUTE) == "b"
    with store.write() as connection:
        leave_service(connection, SERVICE, "b")
        assert read_service(connection) is not None
        leave_service(connection, SERVICE, "c")
        assert read_service(connection) is None
