"""Decisions of accounts: their status, what they cost, and who made them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, and_, case, literal

from predibot.domain.decision import STATUSES
from predibot.ledger.read.columns import Columns, read_columns
from predibot.ledger.read.model_knowledge import knowledge_of_decisions, run_is_live
from predibot.ledger.schema.column_types import MICROSECONDS
from predibot.ledger.write.accounts import accounts
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import OPENED_MODEL, decisions
from predibot.ledger.write.turns import account_decisions
from predibot.scoring.arguments import Floats

HELD_BY_SYSTEM = len(STATUSES)
"""Status code of a decision that the system made, because the bot's answer could not be used."""


def decisions_of_accounts(connection: Connection, venue: str, own: Sequence[int], as_of: datetime) -> Columns:
    """Return the decisions of accounts, by account and then by time.

    `status` is an index into `STATUSES`, or `HELD_BY_SYSTEM`. `knowledge`, what the models behind it can have known, is
    an index into `KNOWLEDGE`. All bots are read for it, because one may pool another.
    """
    status = case(
        # Recorded without a usable answer: the system held.
        (and_(decisions.c.reason_kind == "answer", decisions.c.status == "recorded"), HELD_BY_SYSTEM),
        *((decisions.c.status == name, number) for number, name in enumerate(STATUSES)),
    )
    columns = decisions.c["cost_usd", "cost_known_usd", "bot_id", "subject_row", "decided_at"]
    statement = (
        decisions_by(as_of, accounts.c.id.label("account_id"), status.label("status"), *columns)
        .add_columns(OPENED_MODEL.label("opened"), run_is_live(connection).label("live"), literal(0).label("knowledge"))
        .join(subjects, subjects.c.id == accounts.c.subject_row)
        .where(subjects.c.venue == venue)
        .order_by(accounts.c.id, decisions.c.decided_at)
    )
    found = read_columns(connection, statement, nullable="cost_usd")
    if len(found):
        found["knowledge"] = knowledge_of_decisions(
            connection,
            found["cost_usd"],
            found["cost_known_usd"],
            bot_row=found["bot_id"].astype(np.int64),
            event=found["subject_row"].astype(np.int64),
            opened_model=found["opened"] == 1.0,
            is_live=found["live"] == 1.0,
            decided_at=found["decided_at"] / MICROSECONDS,
            # A portfolio never ends.
            event_settled_at=np.full(len(found), np.inf),
        )
    return found[np.isin(found["account_id"], own)]


def count_statuses(status: Floats) -> Mapping[str, int]:
    """Return the number of decisions by status; those of the system count as failed."""
    counts = np.bincount(status.astype(np.int64), minlength=HELD_BY_SYSTEM + 1).tolist()
    found = dict(zip(STATUSES, counts, strict=False))
    return {**found, "failed": found["failed"] + counts[HELD_BY_SYSTEM]}


def sum_costs(costs_usd: Floats) -> float | None:
    """Return the cost of decisions together; None where a part is unknown."""
    return None if np.isnan(costs_usd).any() else float(costs_usd.sum())


def decisions_by(as_of: datetime, *columns: Any) -> Select[Any]:
    """Return a statement over the decisions of accounts by an instant, those of void runs apart."""
    return account_decisions(*columns).where(decisions.c.decided_at <= as_of)
