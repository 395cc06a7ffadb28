"""Cohorts in the ledger: started once, with a line-up that nothing changes."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import Connection

from predibot.domain.account import Mode
from predibot.games.weekly_cohort.cohorts import Member
from predibot.ledger.schema.tables import CohortRow
from predibot.ledger.schema.upsert import insert_one
from predibot.ledger.write.runs import StoredRun


def start_cohort(
    connection: Connection, run: StoredRun, name: str, *, mode: Mode, methodology: str, line_up: Sequence[Member]
) -> bool:
    """Start a cohort whose universe is what a run froze, and return whether it was not there before.

    Args:
        connection: A writing transaction.
        run: That starts it.
        name: Its Sunday, as `2026-03-01`.
        mode: Whether the run is live.
        methodology: The version of the game's rules.
        line_up: Who plays it, whatever a recipe says later.
    """
    row = {
        **{"recipe": run.recipe, "game": run.game, "mode": mode, "venue": run.venue_name, "name": name},
        **{"methodology": methodology, "run_id": run.id, "started_at": run.as_of},
        "line_up": json.dumps([asdict(member) for member in line_up]),
    }
    return insert_one(connection, CohortRow, row) is not None
