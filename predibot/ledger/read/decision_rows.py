"""The rows of a run's decisions, as two ledgers that decided the same have them."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from predibot.ledger.read.export import export_rows

TABLES = ("decisions", "forecasts", "bets", "fills", "sources", "quotes")
"""Everything that is stored of a decision."""

DecisionKey = tuple[str, str]
"""A bot and an event."""
Rows = Mapping[str, list[Mapping[str, Any]]]
"""The rows of one decision, by table."""


def decision_rows(connection: Connection, run_key: str) -> Mapping[DecisionKey, Rows]:
    """Return the canonical rows of every decision of a run, by bot and event; those of a void run are left out."""
    found: dict[DecisionKey, dict[str, list[Mapping[str, Any]]]] = {}
    for table in TABLES:
        for row in export_rows(connection, table, canonical=True, run_key=run_key):
            if row["void"] == 0:
                key = (row["bot"], row["subject_id"])
                found.setdefault(key, {each: [] for each in TABLES})[table].append(row)
    return found
