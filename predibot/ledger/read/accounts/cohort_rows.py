"""Cohorts as objects for Python: one row a member, with the names of exports and documents."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from predibot.games.positions import Standing
from predibot.ledger.read.accounts.cohorts import cohorts_as_of
from predibot.ledger.schema.values import LAST_INSTANT

_COHORT_FIELDS = ("recipe", "game", "mode", "methodology", "started_at", "archived_reason")
_ACCOUNT_FIELDS = ("stake_usd", "cash_usd", "value_usd", "profit_usd", "standing", "valued_at")


@dataclass(frozen=True, slots=True)
class LedgerCohort:
    """A member's result in one weekly cohort."""

    cohort: str
    """Its Sunday, as `2026-03-01`."""
    recipe: str
    game: str
    mode: str
    methodology: str
    bot: str
    display_name: str
    started_at: datetime
    complete_at: datetime | None
    """When nothing could happen in it any more; None while it goes on."""
    archived_reason: str | None
    """Why it is in no score; None if it is."""
    stake_usd: float | None
    """None for a member without an account, as the next five."""
    cash_usd: float | None
    value_usd: float | None
    """None also where a position has no known value."""
    profit_usd: float | None
    standing: Standing | None
    valued_at: datetime | None
    open: int
    """Number of positions held, also in markets closed and not settled."""
    won: int
    lost: int
    exited: int
    cancelled: int


def select_cohorts(
    connection: Connection, *, recipe: str | None = None, as_of: datetime | None = None
) -> tuple[LedgerCohort, ...]:
    """Return all members of cohorts, archived ones too, by recipe, mode and Sunday, in line-up order."""
    found = []
    for cohort in cohorts_as_of(connection, as_of or LAST_INSTANT, recipe=recipe):
        for member in cohort.members:
            own = cohort.accounts.get(member.bot_id)
            states = {} if own is None else own.states
            of_account: dict[str, Any] = {name: getattr(own, name, None) for name in _ACCOUNT_FIELDS}
            found.append(
                LedgerCohort(
                    cohort=cohort.name,
                    bot=member.bot_id,
                    display_name=member.display_name,
                    complete_at=cohort.ended_at,
                    **{name: getattr(cohort, name) for name in _COHORT_FIELDS},
                    **of_account,
                    open=states.get("open", 0) + states.get("PENDING", 0),
                    won=states.get("WON", 0),
                    lost=states.get("LOST", 0),
                    exited=states.get("EXITED", 0),
                    cancelled=states.get("CANCELLED", 0),
                )
            )
    return tuple(found)
