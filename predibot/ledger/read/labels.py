"""Labels of a run: what it asked about, and what each bot said."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Connection, and_, select

from predibot.domain.decision import LENIENT
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots, decisions, labels
from predibot.ledger.write.events import events, run_events
from predibot.ledger.write.runs import StoredRun, stored_runs, with_decisions


class SaidLabel(NamedTuple):
    """What became of one decision on a text."""

    bot: str
    model: str | None
    subject_id: str
    status: str
    reason_kind: str | None
    label: str | None
    """None where there is none."""
    message: str | None
    """Why there is none, or what was noted."""
    notes_json: str

    @property
    def is_lenient(self) -> bool:
        """Return whether the label did not stand alone in what a model wrote."""
        return LENIENT in json.loads(self.notes_json)


class LabellingBot(NamedTuple):
    """A bot of a run of texts."""

    name: str
    knowledge_cutoff: str | None
    """The date until which its model was trained; None where that is not known."""
    members: tuple[str, ...]
    """The bots whose answers it was shown."""


def labelling_bots(connection: Connection, run_id: int) -> tuple[LabellingBot, ...]:
    """Return the bots of a run in order of entry."""
    statement = (
        select(bots.c.name, bots.c.knowledge_cutoff, bots.c.members_json)
        .where(bots.c.run_id == run_id)
        .order_by(bots.c.id)
    )
    return tuple(
        LabellingBot(name, cutoff, tuple(json.loads(members or "[]")))
        for name, cutoff, members in connection.execute(statement)
    )


def labelled_runs(connection: Connection, game: str) -> tuple[StoredRun, ...]:
    """Return the runs of a game that are not void, the latest made last."""
    found = (run for run in stored_runs(connection) if run.game == game and run.voided_at is None)
    return tuple(sorted(found, key=lambda run: run.id))


def frozen_items(connection: Connection, run_id: int) -> Iterator[tuple[str, str]]:
    """Yield the id and the payload of everything that a run froze, in its order."""
    statement = (
        select(events.c.event_id, run_events.c.payload)
        .join(events, events.c.id == run_events.c.event_row)
        .where(run_events.c.run_id == run_id)
        .order_by(run_events.c.position)
    )
    yield from ((row.event_id, row.payload) for row in connection.execute(statement))


def said_labels(connection: Connection, run_id: int) -> Iterator[SaidLabel]:
    """Yield what each bot said of each text, by bot in order of entry."""
    said = (bots.c.name, bots.c.model, subjects.c.subject_id, decisions.c.status, decisions.c.reason_kind)
    statement = (
        with_decisions(*said, labels.c.label, decisions.c.message, decisions.c.notes_json)
        .outerjoin(labels, and_(labels.c.decision_id == decisions.c.id, labels.c.number == 1))
        .where(decisions.c.run_id == run_id)
        .order_by(bots.c.id, subjects.c.subject_id)
    )
    yield from (SaidLabel(*row) for row in connection.execute(statement))
