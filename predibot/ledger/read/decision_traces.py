"""Traces of decisions: which decision each belongs to."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select

from predibot.domain.decision import ReasonKind
from predibot.ledger.read.row_filter import is_bot
from predibot.ledger.write.claims import attempts, subjects
from predibot.ledger.write.decisions import bots, decisions
from predibot.ledger.write.events import events
from predibot.ledger.write.runs import PROMPT_SHA256, is_late, runs, with_decisions


@dataclass(frozen=True, slots=True)
class TracedDecision:
    """A decision by names, and the hash of its trace."""

    run: str
    bot: str
    event_id: str
    status: str
    message: str
    trace_sha256: str | None
    reason_kind: ReasonKind | None = None
    """Why it abstained, or failed by its answer."""
    late: bool = False
    """Whether it was made after its run's deadline, and is in no score."""
    number: int = 0
    """The decision's number in this ledger; a copy of the ledger may number it differently."""
    void: bool = False
    """Whether its run was voided, and it is in no score."""
    prompt_sha256: str = ""
    """Digest of the prompt of the user's own; empty for the packaged one."""
    title: str = ""
    """Title of its event; untrusted, and empty for a decision on no event."""
    tries: int = 1
    """How often it was tried; the trace is of the last one."""
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name that users type."""
        return f"{self.run}/{self.bot}/{self.event_id}"


def decisions_with_traces(connection: Connection, prefix: str = "") -> tuple[TracedDecision, ...]:
    """Return every decision whose trace hash has a prefix, of void runs too, in the order of storing."""
    begins = [decisions.c.trace_sha256.startswith(prefix, autoescape=True)] if prefix else []
    return _select_traces(connection, [decisions.c.trace_sha256.is_not(None), *begins])


def latest_traces(connection: Connection, most: int) -> tuple[TracedDecision, ...]:
    """Return the decisions with a trace that were stored last, the newest first."""
    newest = select(decisions.c.id).where(decisions.c.trace_sha256.is_not(None)).order_by(decisions.c.id.desc())
    found = _select_traces(connection, [decisions.c.id.in_(newest.limit(most))])
    return tuple(sorted(found, key=attrgetter("number"), reverse=True))


def latest_of_bot(connection: Connection, bot: str) -> TracedDecision | None:
    """Return the last stored decision of a bot or its replicates with a trace, of no void run; None without one."""
    newest = with_decisions(func.max(decisions.c.id)).where(
        is_bot(bots.c.name, (bot,)), runs.c.voided_at.is_(None), decisions.c.trace_sha256.is_not(None)
    )
    return next(iter(_select_traces(connection, [decisions.c.id == newest.scalar_subquery()])), None)


def numbered_decision(connection: Connection, number: int) -> TracedDecision | None:
    """Return the decision of this number; None without one."""
    return next(iter(_select_traces(connection, [decisions.c.id == number])), None)


def find_decisions(connection: Connection, run: str, bot: str, event_id: str) -> tuple[TracedDecision, ...]:
    """Return the decisions with this name: first of the run that is not void, then the newest first."""
    found = _select_traces(connection, [runs.c.key == run, bots.c.name == bot, subjects.c.subject_id == event_id])
    return tuple(reversed(found))


def _select_traces(connection: Connection, chosen: Sequence[ColumnElement[Any]]) -> tuple[TracedDecision, ...]:
    tries = select(func.count()).where(attempts.c.task_id == decisions.c.task_id).scalar_subquery()
    said = decisions.c["status", "message", "trace_sha256", "reason_kind"]
    facts = (is_late(), decisions.c.id, runs.c.voided_at.is_not(None), func.coalesce(events.c.title, ""), tries)
    statement = (
        with_decisions(runs.c.key, bots.c.name, subjects.c.subject_id, *said, *facts)
        .add_columns(bots.c.arguments_json, decisions.c.notes_json)
        .outerjoin(events, events.c.id == subjects.c.event_row)
        .where(*chosen)
        .order_by(runs.c.voided_at.is_(None), decisions.c.id)
    )
    found = []
    for *values, arguments_json, notes_json in connection.execute(statement):
        prompt = json.loads(arguments_json).get(PROMPT_SHA256, "")
        *known, title, count = values
        found.append(TracedDecision(*(*known, prompt, title, count, tuple(json.loads(notes_json)))))
    return tuple(found)


def list_decision_times(
    connection: Connection, run: str, *, since: datetime | None = None, named: tuple[str, str] | None = None
) -> Sequence[Row[Any]]:
    """Return the decisions of a run that have a trace, and when their last try began and ended.

    `since` leaves out those that ended earlier; `named` takes only that of this bot on this subject id.
    """
    tries = attempts.alias()
    last = select(func.max(tries.c.number)).where(tries.c.task_id == decisions.c.task_id).scalar_subquery()
    statement = (
        with_decisions(
            # The key of a void run is given again to a later run.
            *(runs.c.key.label("run"), runs.c.created_at, bots.c.name.label("bot")),
            *(subjects.c.kind.label("subject_kind"), subjects.c.subject_id),
            *(decisions.c.status, decisions.c.message, decisions.c.cost_usd, decisions.c.trace_sha256),
            *(attempts.c.started_at.label("began_at"), attempts.c.ended_at),
        )
        .join(attempts, (attempts.c.task_id == decisions.c.task_id) & (attempts.c.number == last))
        .where(runs.c.key == run, runs.c.voided_at.is_(None), decisions.c.trace_sha256.is_not(None))
        .where(attempts.c.ended_at.is_not(None))
        .order_by(decisions.c.id)
    )
    if since is not None:
        statement = statement.where(attempts.c.ended_at >= since)
    if named is not None:
        statement = statement.where(bots.c.name == named[0], subjects.c.subject_id == named[1])
    return connection.execute(statement).all()
