"""Claims on pieces of work, so that none is done twice and none is lost.

A claim is taken before a cent is spent. It carries a random token and a lease. The work ends in one transaction, which
needs the same token. A claim whose owner is gone is taken over: at once where the owner was a process of this machine,
after its lease anywhere else.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import ColumnElement, Connection, Row, bindparam, func, insert, select, update

from predibot.domain.decision import ReasonKind, Subject
from predibot.errors import ClaimLost
from predibot.ledger.schema.tables import AttemptRow, DecisionRow, EventRow, RunRow, SubjectRow, TaskRow
from predibot.ledger.schema.upsert import insert_new, insert_one, table_of

RETRY_PAUSES = (timedelta(0), timedelta(minutes=30), timedelta(hours=6))
"""Pauses before the tries that follow failures unasked, in later calls of `decide`.

The first is at once: a user who has set the missing key runs the command again. The others let an outage pass.
"""
MAX_RETRIES = len(RETRY_PAUSES)

Retry = Literal["failed", "abstained"]
RETRIES: tuple[Retry, ...] = ("failed", "abstained")
"""What a user may ask for again: failures at any time, and abstentions whose reason may have passed."""
_PASSING: tuple[ReasonKind, ...] = ("budget", "members")

tasks, attempts = table_of(TaskRow), table_of(AttemptRow)
decisions, subjects = table_of(DecisionRow), table_of(SubjectRow)
_runs, _events = table_of(RunRow), table_of(EventRow)

# Built once, because building them takes longer than running them.
_END_TASK = (
    update(tasks)
    .where(tasks.c.id == bindparam("its_id"), tasks.c.token == bindparam("its_token"))
    .values(
        status=bindparam("its_status"),
        token=None,
        owner=None,
        lease_until=None,
        failures=tasks.c.failures + bindparam("failed"),
    )
    .returning(tasks.c.failures)
)
_FIND_SUBJECT = (
    select(subjects.c.id)
    .join(_runs, _runs.c.venue_name == subjects.c.venue)
    .where(
        _runs.c.id == bindparam("its_run"),
        subjects.c.kind == bindparam("its_kind"),
        subjects.c.subject_id == bindparam("its_subject"),
    )
)
_END_ATTEMPT = (
    update(attempts)
    .where(attempts.c.task_id == bindparam("its_id"), attempts.c.number == bindparam("its_number"))
    .values(ended_at=bindparam("now"), outcome=bindparam("its_outcome"), message=bindparam("said"))
)

Outcome = Literal["recorded", "refused", "failed", "abstained", "interrupted", "lost"]


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to do one piece of work, until somebody else has it."""

    task_id: int
    token: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Claimant:
    """A process that asks for claims."""

    owner: str
    lease: timedelta
    began_at: datetime
    """What fails later is not tried again in the same call."""
    is_gone: Callable[[str], bool]
    retry: frozenset[Retry] = frozenset()


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_hex(16)


def claim(
    connection: Connection,
    run_id: int,
    bot_id: int,
    subject: Subject,
    claimant: Claimant,
    *,
    now: datetime,
    token: str | None = None,
) -> Claim | str:
    """Return the claim on a piece of work; else its final status, or `claimed` while somebody is at work.

    A repeated request with the same `token`, because no answer came, gets the claim of the first one.
    """
    token = token or new_token()
    held = {"status": "claimed", "token": token, "owner": claimant.owner, "lease_until": now + claimant.lease}
    row = {"run_id": run_id, "bot_id": bot_id, "subject_row": subject_row(connection, run_id, subject)}
    task_id = insert_one(connection, TaskRow, {**row, **held, "failures": 0})
    if task_id is not None:
        return Claim(task_id, token, _begin_attempt(connection, task_id, 1, now=now))
    task = connection.execute(select(tasks).where(*(tasks.c[name] == value for name, value in row.items()))).one()
    if task.token == token:
        return Claim(task.id, token, _last_attempt(connection, task.id))
    if not _is_free(connection, task, claimant, now=now):
        return str(task.status)
    if not _take_over(connection, task, held):
        return "claimed"
    _end_open_attempts(connection, task.id, "lost", now=now)
    number = _last_attempt(connection, task.id) + 1
    return Claim(task.id, token, _begin_attempt(connection, task.id, number, now=now))


def subject_row(connection: Connection, run_id: int, subject: Subject) -> int:
    """Return the row of a subject on a run's venue, stored if it is new."""
    about = {"its_run": run_id, "its_kind": subject.kind, "its_subject": subject.id}
    found = connection.execute(_FIND_SUBJECT, about).scalar()
    if found is None:
        venue = connection.execute(select(_runs.c.venue_name).where(_runs.c.id == run_id)).scalar_one()
        of_event = select(_events.c.id).where(_events.c.venue == venue, _events.c.event_id == subject.id)
        event_row = connection.execute(of_event).scalar() if subject.kind == "event" else None
        row = {"venue": venue, "kind": subject.kind, "subject_id": subject.id, "event_row": event_row}
        insert_new(connection, SubjectRow, [row])
        found = connection.execute(_FIND_SUBJECT, about).scalar_one()
    return int(found)


def find_claim(connection: Connection, run_id: int, bot_id: int, subject: Subject, owner: str) -> Claim | None:
    """Return the claim an owner holds on a piece of work, or None."""
    row = connection.execute(
        select(tasks.c.id, tasks.c.token, func.max(attempts.c.number))
        .join(attempts, attempts.c.task_id == tasks.c.id)
        .join(subjects, subjects.c.id == tasks.c.subject_row)
        .where(*_is_task_of(run_id, bot_id, subject), tasks.c.owner == owner, tasks.c.status == "claimed")
        .group_by(tasks.c.id, tasks.c.token)
    ).first()
    return None if row is None else Claim(*row)


def has_ended_since(connection: Connection, run_id: int, bot_id: int, subject: Subject, since: datetime) -> bool:
    """Return whether a piece of work ended at an instant or later."""
    ended_at = connection.execute(
        select(func.max(attempts.c.ended_at))
        .join(tasks, tasks.c.id == attempts.c.task_id)
        .join(subjects, subjects.c.id == tasks.c.subject_row)
        .where(*_is_task_of(run_id, bot_id, subject))
    ).scalar_one()
    return ended_at is not None and bool(ended_at >= since)


def _is_task_of(run_id: int, bot_id: int, subject: Subject) -> tuple[ColumnElement[bool], ...]:
    is_about = (subjects.c.kind == subject.kind, subjects.c.subject_id == subject.id)
    return (tasks.c.run_id == run_id, tasks.c.bot_id == bot_id, *is_about)


def renew_claims(connection: Connection, owner: str, *, lease: timedelta, now: datetime) -> None:
    """Give every claim of an owner a new lease: its sign of life."""
    connection.execute(
        update(tasks).where(tasks.c.owner == owner, tasks.c.status == "claimed").values(lease_until=now + lease)
    )


def release_claims(connection: Connection, owner: str, *, now: datetime) -> int:
    """Give back every claim of an interrupted owner, and return how many."""
    given = (
        update(tasks)
        .where(tasks.c.owner == owner, tasks.c.status == "claimed")
        .values(status="open", token=None, owner=None, lease_until=None)
        .returning(tasks.c.id)
    )
    released = connection.execute(given).scalars().all()
    for task_id in released:
        _end_open_attempts(connection, task_id, "interrupted", now=now)
    return len(released)


def end_claim(
    connection: Connection, held: Claim, status: Outcome, *, message: str, now: datetime, for_good: bool = False
) -> bool:
    """End a claim, in the transaction that stores the result; return whether anything is left to store.

    Nothing is left where an earlier call with the same instant did all, and only its answer was lost. With `for_good` a
    failure is tried again only on request. ClaimLost is raised if somebody else has the claim now.
    """
    ended = {"its_id": held.task_id, "its_token": held.token, "its_status": status, "failed": int(status == "failed")}
    failures = connection.execute(_END_TASK, ended).scalar_one_or_none()
    if failures is None:
        its_end = select(attempts.c.outcome, attempts.c.ended_at).where(
            attempts.c.task_id == held.task_id, attempts.c.number == held.attempt
        )
        if tuple(connection.execute(its_end).one()) == (status, now):
            return False
        raise ClaimLost("this work was taken over by another process; its own result stands")
    if status == "failed":
        pause = RETRY_PAUSES[failures - 1] if failures <= MAX_RETRIES and not for_good else None
        next_try_at = (now + pause).replace(microsecond=0) if pause else None
        connection.execute(update(tasks).where(tasks.c.id == held.task_id).values(next_try_at=next_try_at))
    attempt = {"its_id": held.task_id, "its_number": held.attempt, "now": now, "its_outcome": status, "said": message}
    connection.execute(_END_ATTEMPT, attempt)
    return True


def _is_free(connection: Connection, task: Row[tuple[object, ...]], claimant: Claimant, *, now: datetime) -> bool:
    if task.status == "open":
        return True
    if task.status == "claimed":
        return is_abandoned(task, claimant, now=now)
    is_due = task.status == "failed" and task.failures <= MAX_RETRIES
    is_due = is_due and (task.next_try_at is None or task.next_try_at <= now)
    if not (task.status in claimant.retry or is_due):
        return False
    kind = connection.execute(
        select(decisions.c.reason_kind).where(decisions.c.task_id == task.id)
    ).scalar_one_or_none()
    if task.status == "abstained" and kind not in _PASSING:
        return False
    if kind == "answer" and task.status not in claimant.retry:
        # Each unusable answer was paid for, and another one would be too.
        return False
    ended_at = connection.execute(
        select(func.max(attempts.c.ended_at)).where(attempts.c.task_id == task.id)
    ).scalar_one()
    return bool(ended_at < claimant.began_at)


def is_abandoned(task: Row[tuple[object, ...]], claimant: Claimant, *, now: datetime) -> bool:
    """Return whether nobody works at a claimed task any more."""
    return bool(task.lease_until <= now or claimant.is_gone(task.owner))


def _take_over(connection: Connection, task: Row[tuple[object, ...]], held: dict[str, object]) -> bool:
    same_token = tasks.c.token.is_(None) if task.token is None else tasks.c.token == task.token
    same = (tasks.c.id == task.id, tasks.c.status == task.status, tasks.c.failures == task.failures, same_token)
    return connection.execute(update(tasks).where(*same).values(**held).returning(tasks.c.id)).first() is not None


def _last_attempt(connection: Connection, task_id: int) -> int:
    numbers = select(func.max(attempts.c.number)).where(attempts.c.task_id == task_id)
    return int(connection.execute(numbers).scalar_one())


def _begin_attempt(connection: Connection, task_id: int, number: int, *, now: datetime) -> int:
    row = {"task_id": task_id, "number": number, "started_at": now, "message": ""}
    connection.execute(insert(attempts), row)
    return number


def _end_open_attempts(connection: Connection, task_id: int, outcome: Outcome, *, now: datetime) -> None:
    connection.execute(
        update(attempts)
        .where(attempts.c.task_id == task_id, attempts.c.ended_at.is_(None))
        .values(ended_at=now, outcome=outcome)
    )
