"""The rationales of accounts, of all bots at once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from predibot.ledger.read.accounts.scoring import join_decisions
from predibot.ledger.write.accounts import accounts
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots, decisions
from predibot.ledger.write.runs import runs


def list_rationales(
    connection: Connection, recipe: str | None, subject: str | None, as_of: datetime
) -> Sequence[Row[Any]]:
    """Return what bots with accounts said by an instant, by recipe, game, mode, venue, bot and slot; void runs apart.

    Args:
        connection: To the ledger.
        recipe: Only of this recipe; None for all.
        subject: Only of this game instance, such as a week's cohort; None for all.
        as_of: Later decisions are left out.
    """
    wanted = {accounts.c.recipe: recipe, subjects.c.subject_id: subject}
    columns = (accounts.c.recipe, accounts.c.game, accounts.c.mode, subjects.c.venue, accounts.c.bot)
    statement: Select[Any] = (
        select(*columns, bots.c.strategy, decisions.c.rationale)
        .select_from(join_decisions().join(subjects, subjects.c.id == accounts.c.subject_row))
        .where(decisions.c.rationale != "", decisions.c.decided_at <= as_of, runs.c.voided_at.is_(None))
        .where(*(column == value for column, value in wanted.items() if value is not None))
        .order_by(*columns, runs.c.slot_at, decisions.c.id)
    )
    return connection.execute(statement).all()
