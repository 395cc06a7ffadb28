"""Cohorts in the ledger: started once with a fixed line-up, and archived without losing anything."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import Connection, update

from predibot.domain.account import Mode
from predibot.games.cohorts import Member
from predibot.ledger.schema.tables import CohortRow
from predibot.ledger.schema.upsert import insert_one, table_of
from predibot.ledger.write.runs import StoredRun

cohorts = table_of(CohortRow)


def start_cohort(
    connection: Connection, run: StoredRun, name: str, *, mode: Mode, methodology: str, line_up: Sequence[Member]
) -> bool:
    """Start a cohort of a Sunday, such as `2026-03-01`, whose universe is what a run froze; return whether it is new.

    Its line-up stays, whatever a recipe says later.
    """
    row = {
        **{"recipe": run.recipe, "game": run.game, "mode": mode, "venue": run.venue_name, "name": name},
        **{"methodology": methodology, "run_id": run.id, "started_at": run.as_of},
        "line_up": json.dumps([asdict(member) for member in line_up]),
    }
    return insert_one(connection, CohortRow, row) is not None


def archive_cohorts(connection: Connection, rows: Sequence[int], reason: str, *, at: datetime) -> int:
    """Archive cohorts, and return how many were not; an archived one keeps its first reason."""
    changed = update(cohorts).where(cohorts.c.id.in_(rows), cohorts.c.archived_at.is_(None))
    return connection.execute(changed.values(archived_at=at, archived_reason=reason)).rowcount


def unarchive_cohorts(connection: Connection, rows: Sequence[int]) -> int:
    """Count cohorts in scores again, and return how many were archived."""
    changed = update(cohorts).where(cohorts.c.id.in_(rows), cohorts.c.archived_at.is_not(None))
    return connection.execute(changed.values(archived_at=None, archived_reason=None)).rowcount
