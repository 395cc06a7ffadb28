"""Recent activity: decisions under way, and the markets with forecasts that settled last."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, or_, select

from predibot.ledger.write.claims import attempts, subjects, tasks
from predibot.ledger.write.decisions import bets, bots, decisions, forecasts
from predibot.ledger.write.events import events, markets
from predibot.ledger.write.prices_and_resolutions import resolutions
from predibot.ledger.write.runs import runs, with_decisions


def under_way(connection: Connection, now: datetime, most: int) -> Sequence[Row[Any]]:
    """Return the decisions with a valid claim, and when their try began, latest first."""
    statement: Select[Any] = (
        select(*_name_columns(), events.c.title, func.max(attempts.c.started_at).label("since"))
        .select_from(tasks)
        .join(runs, runs.c.id == tasks.c.run_id)
        .join(bots, bots.c.id == tasks.c.bot_id)
        .join(subjects, subjects.c.id == tasks.c.subject_row)
        .outerjoin(events, events.c.id == subjects.c.event_row)
        .outerjoin(attempts, and_(attempts.c.task_id == tasks.c.id, attempts.c.ended_at.is_(None)))
        .where(tasks.c.status == "claimed", tasks.c.lease_until > now, runs.c.voided_at.is_(None))
        .group_by(*_name_columns(), events.c.title, tasks.c.id)
        .order_by(func.max(attempts.c.started_at).desc(), tasks.c.id)
        .limit(most)
    )
    return connection.execute(statement).all()


def list_settled_forecasts(connection: Connection, most: int) -> Sequence[Row[Any]]:
    """Return all forecasts on the markets that settled last, newest settlement first, then by time.

    Markets without a forecast in a run that counts, or without a payout, are left out.
    """
    counted = (
        with_decisions(forecasts.c.market_row)
        .join(forecasts, forecasts.c.decision_id == decisions.c.id)
        .where(runs.c.voided_at.is_(None))
    )
    last = (
        select(*resolutions.c["market_row", "payout_yes", "settled_at"])
        .where(_is_last(), resolutions.c.payout_yes.is_not(None), resolutions.c.market_row.in_(counted))
        .order_by(resolutions.c.settled_at.desc(), resolutions.c.market_row)
        .limit(most)
        .subquery()
    )
    about = (markets.c.market_id, markets.c.question, events.c.event_id, events.c.title)
    run, bot, *subject = _name_columns()
    columns = (bot, bots.c.strategy, run, *subject, decisions.c.decided_at, forecasts.c.probability, bets.c.price_yes)
    statement = (
        with_decisions(*about, last.c.payout_yes, last.c.settled_at, *columns)
        .join(forecasts, forecasts.c.decision_id == decisions.c.id)
        .join(last, last.c.market_row == forecasts.c.market_row)
        .join(markets, markets.c.id == forecasts.c.market_row)
        .join(events, events.c.id == markets.c.event_row)
        .outerjoin(bets, and_(bets.c.decision_id == decisions.c.id, bets.c.market_row == forecasts.c.market_row))
        .where(runs.c.voided_at.is_(None))
        .order_by(last.c.settled_at.desc(), markets.c.id, decisions.c.decided_at, decisions.c.id)
    )
    return connection.execute(statement).all()


def _name_columns() -> Sequence[ColumnElement[Any]]:
    kind = subjects.c.kind.label("subject_kind")
    return (runs.c.key.label("run"), bots.c.name.label("bot"), kind, subjects.c.subject_id)


def _is_last() -> ColumnElement[bool]:
    later = resolutions.alias("later")
    known_later = or_(
        later.c.effective_at > resolutions.c.effective_at,
        and_(later.c.effective_at == resolutions.c.effective_at, later.c.revision > resolutions.c.revision),
    )
    return ~select(later.c.market_row).where(later.c.market_row == resolutions.c.market_row, known_later).exists()
