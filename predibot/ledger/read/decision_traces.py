"""Which decisions have a trace, and whose they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection

from predibot.domain.decision import ReasonKind
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots, decisions
from predibot.ledger.write.runs import is_late, runs, with_decisions


@dataclass(frozen=True, slots=True)
class TracedDecision:
    """A decision by the names things have, and the hash of its trace."""

    run: str
    bot: str
    event_id: str
    status: str
    message: str
    trace_sha256: str | None
    reason_kind: ReasonKind | None = None
    """Of the message, where it abstained."""
    late: bool = False
    """Whether it was made after the deadline of its run, and is in no score."""

    @property
    def name(self) -> str:
        """Return what a person asks for it by."""
        return f"{self.run}/{self.bot}/{self.event_id}"


def decisions_with_traces(connection: Connection) -> tuple[TracedDecision, ...]:
    """Return every decision that has a trace, of void runs too, in the order in which they were stored."""
    return _found(connection, [decisions.c.trace_sha256.is_not(None)])


def decisions_named(connection: Connection, run: str, bot: str, event_id: str) -> tuple[TracedDecision, ...]:
    """Return the decisions with this name, that of a run that is not void first, then the newest first."""
    found = _found(connection, [runs.c.key == run, bots.c.name == bot, subjects.c.subject_id == event_id])
    return tuple(reversed(found))


def _found(connection: Connection, chosen: Sequence[ColumnElement[Any]]) -> tuple[TracedDecision, ...]:
    statement = (
        with_decisions(
            runs.c.key,
            bots.c.name,
            subjects.c.subject_id,
            decisions.c.status,
            decisions.c.message,
            decisions.c.trace_sha256,
            decisions.c.reason_kind,
            is_late(),
        )
        .where(*chosen)
        .order_by(runs.c.voided_at.is_(None), decisions.c.id)
    )
    return tuple(TracedDecision(*row) for row in connection.execute(statement))
