"""Settled forecasts: those on the markets that settled last, and those of one bot before an instant."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, or_, select

from predibot.domain.resolution import SettledForecast
from predibot.ledger.read.details.bot_kinship import specification
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bets, bots, decisions, forecasts, of_same_market
from predibot.ledger.write.events import events, markets
from predibot.ledger.write.prices_and_resolutions import resolutions
from predibot.ledger.write.runs import is_late, live_venues, runs, with_decisions


def settled_forecasts_of_bot(
    connection: Connection, run_id: int, name: str, *, before: datetime
) -> tuple[SettledForecast, ...]:
    """Return the forecasts of a run's bot, and of equal bots of other runs, on markets that had settled by then.

    They come by event, decision and market; there are none where the run has no bot of this name. Only runs of the same
    venue count that are live where this one is, or replays where it is one; void runs and late decisions do not. Left
    out are markets that paid neither 0 nor 1, markets that settled, or were known to, at `before` or later, and
    forecasts made after the settlement.
    """
    own = connection.execute(
        select(bots, runs.c.venue_name, runs.c.venue)
        .join(runs, runs.c.id == bots.c.run_id)
        .where(bots.c.run_id == run_id, bots.c.name == name)
    ).one_or_none()
    if own is None:
        return ()
    live = live_venues(connection)
    is_live = runs.c.venue.in_(live)
    names = (events.c.event_id, markets.c.market_id)
    known = (bets.c.price_yes, forecasts.c.probability, resolutions.c.payout_yes)
    statement = (
        with_decisions(decisions.c.id, *names, *known, decisions.c.decided_at, resolutions.c.settled_at)
        .join(events, events.c.id == subjects.c.event_row)
        .join(forecasts, forecasts.c.decision_id == decisions.c.id)
        .join(markets, markets.c.id == forecasts.c.market_row)
        .join(bets, and_(bets.c.decision_id == decisions.c.id, bets.c.market_row == markets.c.id))
        .join(resolutions, resolutions.c.market_row == markets.c.id)
        .where(
            decisions.c.bot_id.in_(_equal_bots(connection, own)),
            runs.c.venue_name == own.venue_name,
            is_live if own.venue in live else ~is_live,
            runs.c.voided_at.is_(None),
            ~is_late(),
            decisions.c.status == "recorded",
            resolutions.c.settled_at < before,
            resolutions.c.effective_at < before,
        )
        .order_by(events.c.event_id, decisions.c.id, markets.c.id, resolutions.c.effective_at, resolutions.c.revision)
    )
    # The last revision that was known then stands.
    last = {(row.id, row.market_id): row for row in connection.execute(statement)}
    ended = (row for row in last.values() if row.payout_yes in (0.0, 1.0) and row.decided_at < row.settled_at)
    return tuple(SettledForecast(*forecast) for _, *forecast in ended)


def _equal_bots(connection: Connection, own: Row[Any]) -> list[int]:
    """Return the ids of the bots of all runs that equal this one, and pool or wrap equal bots."""
    alike = [bots.c[each].is_not_distinct_from(getattr(own, each)) for each in ("strategy", "source_sha256", "model")]
    found = connection.execute(select(bots).where(*alike)).all()
    in_runs = select(bots.c.run_id).where(*alike)
    by_run = defaultdict[int, dict[str, Row[Any]]](dict)
    for row in connection.execute(select(bots).where(bots.c.run_id.in_(in_runs))):
        by_run[row.run_id][row.name] = row
    stored = connection.execute(select(runs.c.id, runs.c.recipe_json).where(runs.c.id.in_(in_runs)))
    recipes = {run_id: recipe for run_id, recipe in stored}
    parsed = {text: json.loads(text) for text in {*recipes.values()}}

    def whole(bot: Row[Any], of_run: Mapping[str, Row[Any]]) -> tuple[object, ...]:
        # A ledger that predibot did not write may have members in a circle.
        others = {name: row for name, row in of_run.items() if name != bot.name}
        members = [others[name] for name in json.loads(bot.members_json or "[]") if name in others]
        return (specification(bot, parsed[recipes[bot.run_id]]), *(whole(each, others) for each in members))

    wanted = whole(own, by_run[own.run_id])
    return [row.id for row in found if whole(row, by_run[row.run_id]) == wanted]


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
    named = (bots.c.name.label("bot"), bots.c.strategy, runs.c.key.label("run"))
    subject = (subjects.c.kind.label("subject_kind"), subjects.c.subject_id)
    columns = (*named, *subject, decisions.c.decided_at, forecasts.c.probability, bets.c.price_yes)
    statement = (
        with_decisions(*about, last.c.payout_yes, last.c.settled_at, *columns)
        .join(forecasts, forecasts.c.decision_id == decisions.c.id)
        .join(last, last.c.market_row == forecasts.c.market_row)
        .join(markets, markets.c.id == forecasts.c.market_row)
        .join(events, events.c.id == markets.c.event_row)
        .outerjoin(bets, of_same_market(bets, forecasts))
        .where(runs.c.voided_at.is_(None))
        .order_by(last.c.settled_at.desc(), markets.c.id, decisions.c.decided_at, decisions.c.id)
    )
    return connection.execute(statement).all()


def _is_last() -> ColumnElement[bool]:
    later = resolutions.alias("later")
    known_later = or_(
        later.c.effective_at > resolutions.c.effective_at,
        and_(later.c.effective_at == resolutions.c.effective_at, later.c.revision > resolutions.c.revision),
    )
    return ~select(later.c.market_row).where(later.c.market_row == resolutions.c.market_row, known_later).exists()
