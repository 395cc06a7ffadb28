"""Archived cohorts: those that are in no score and decide no more, with the reason; nothing of them is lost."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, update

from predibot.ledger.schema.tables import CohortRow
from predibot.ledger.schema.upsert import table_of

_cohorts = table_of(CohortRow)


def archive_cohorts(connection: Connection, rows: Sequence[int], reason: str, *, at: datetime) -> int:
    """Archive cohorts, and return how many were not yet; one that is archived keeps its first reason.

    Args:
        connection: A writing transaction.
        rows: Their rows.
        reason: Why, for people.
        at: The instant it is.
    """
    changed = update(_cohorts).where(_cohorts.c.id.in_(rows), _cohorts.c.archived_at.is_(None))
    return connection.execute(changed.values(archived_at=at, archived_reason=reason)).rowcount


def unarchive_cohorts(connection: Connection, rows: Sequence[int]) -> int:
    """Count cohorts in scores again, and return how many were archived."""
    changed = update(_cohorts).where(_cohorts.c.id.in_(rows), _cohorts.c.archived_at.is_not(None))
    return connection.execute(changed.values(archived_at=None, archived_reason=None)).rowcount
