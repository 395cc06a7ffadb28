"""Conditions on runs and decisions: the part of a ledger that a reader asks for."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, or_, select

from predibot.domain.decision import ITEM_SUBJECTS
from predibot.ledger.read.outcomes import OUTCOMES
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots, decisions
from predibot.ledger.write.runs import live_venues, runs
from predibot.scoring.records.part import Part


def runs_in(connection: Connection, part: Part) -> list[ColumnElement[bool]]:
    """Return the conditions on runs of a part; `of_category` has those on events."""
    is_live = None if part.mode is None else runs.c.venue.in_(live_venues(connection))
    chosen = [
        None if part.since is None else runs.c.slot_at >= part.since,
        None if part.until is None else runs.c.slot_at < part.until,
        is_live if part.mode == "live" or is_live is None else ~is_live,
    ]
    return [each for each in chosen if each is not None]


def by_recipe_and_bots(part: Part) -> list[ColumnElement[bool]]:
    """Return the conditions on recipe and bots of a part."""
    of_recipe = [] if part.recipe is None else [runs.c.recipe == part.recipe]
    return [*of_recipe, *([is_bot(bots.c.name, part.bots)] if part.bots else [])]


def is_bot(column: ColumnElement[str], names: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that a column names one of some bots or a replicate of one."""
    # Names of recipes alone have replicates; what stands in a foreign ledger is no pattern.
    # A longer pattern is too complex for SQLite.
    plain = (name for name in names if len(name) < 1_000 and name.replace("-", "_").replace(".", "_").isidentifier())
    return or_(column.in_(names), *(column.startswith(f"{name}#", autoescape=True) for name in plain))


@dataclass(frozen=True, slots=True)
class RowFilter(Part):
    """Which decisions and forecasts to read."""

    run: str | None = None
    void: bool = False
    """Whether void runs are read too."""
    venue_name: str | None = None
    """The name of the venue itself, by which runs of one world belong together, whatever `venue` they state."""
    event: str | None = None
    events: Sequence[str] | None = None
    subject: str | None = None
    """Id of a subject, an event or not."""
    status: str | None = None
    outcome: str | None = None
    """One of `OUTCOMES`."""
    items: bool = True
    """Whether labels of a study's items are read too."""
    rows: Sequence[int] | None = None
    """Row numbers of decisions."""

    def conditions(self, connection: Connection) -> list[ColumnElement[bool]]:
        """Return the conditions on decisions, runs and bots."""
        chosen = [
            *runs_in(connection, self),
            *by_recipe_and_bots(self),
            None if self.run is None else runs.c.key == self.run,
            None if self.as_of is None else decisions.c.decided_at <= self.as_of,
            None if self.void else runs.c.voided_at.is_(None),
            None if self.event is None else _is_about([self.event], "event"),
            None if self.events is None else _is_about(self.events, "event"),
            None if self.subject is None else _is_about([self.subject]),
            None if self.items else subjects.c.kind.not_in(ITEM_SUBJECTS),
            None if self.status is None else decisions.c.status == self.status,
            None if self.outcome is None else OUTCOMES[self.outcome],
            None if self.venue is None else runs.c.venue == self.venue,
            None if self.venue_name is None else runs.c.venue_name == self.venue_name,
            None if self.rows is None else decisions.c.id.in_(self.rows),
        ]
        return [each for each in chosen if each is not None]


def _is_about(ids: Sequence[str], *kinds: str) -> ColumnElement[bool]:
    """Return the condition on the subjects of decisions, written so that their index is used."""
    of_kind = [subjects.c.kind.in_(kinds)] if kinds else []
    return decisions.c.subject_row.in_(select(subjects.c.id).where(subjects.c.subject_id.in_(ids), *of_kind))
