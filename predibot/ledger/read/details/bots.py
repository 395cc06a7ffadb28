"""Bots as runs froze them: their set-up, traces, and the evidence behind each decision."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, case, func, not_, select

from predibot.ledger.read.details.bot_kinship import specification
from predibot.ledger.read.event_facts import of_category
from predibot.ledger.read.row_filter import RowFilter, by_recipe_and_bots, is_bot, runs_in
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots, decisions, sources
from predibot.ledger.write.runs import is_late, runs, with_decisions
from predibot.scoring.records.part import Part

_SETUP = bots.c["strategy", "arguments_json", "source_sha256", "model"]


def bot_setup(connection: Connection, name: str) -> Row[Any] | None:
    """Return a bot's set-up in its newest run that counts, None where it took part in none; texts come from recipes."""
    own = (is_bot(bots.c.name, (name,)), runs.c.voided_at.is_(None))
    of_run = (runs.c.key.label("run"), *runs.c["recipe", "slot_at", "recipe_json", "code_version"])
    newest: Select[Any] = (
        select(*of_run, *_SETUP, bots.c.knowledge_cutoff, bots.c.members_json)
        .join(runs, runs.c.id == bots.c.run_id)
        .where(*own)
        .order_by(runs.c.slot_at.desc(), runs.c.id.desc())
    )
    return connection.execute(newest.limit(1)).first()


def count_setups(connection: Connection, name: str) -> int:
    """Return in how many ways a bot was set up in the runs that count; replicates are one bot."""
    own = (is_bot(bots.c.name, (name,)), runs.c.voided_at.is_(None))
    of_bot = (bots.c.name, *_SETUP, runs.c.recipe_json)
    chosen: Select[Any] = select(*of_bot).join(runs, runs.c.id == bots.c.run_id).where(*own)
    return len({specification(row, json.loads(row.recipe_json)) for row in connection.execute(chosen.distinct())})


def list_decision_results(connection: Connection, row_filter: RowFilter) -> Sequence[Row[Any]]:
    """Return decisions by slot, without facts of their events and markets."""
    of_bot = (bots.c.model, bots.c.strategy)
    names = ("decided_at", "status", "message", "reason_kind", "cost_usd", "cost_known_usd")
    chosen = with_decisions(*of_bot, *(decisions.c[name] for name in names)).where(*row_filter.conditions(connection))
    return connection.execute(chosen.order_by(runs.c.slot_at, runs.c.id, decisions.c.id)).all()


def evidence_of_bot(connection: Connection, name: str) -> Mapping[tuple[str, datetime], int | None]:
    """Return the searches and pages of each decision of a bot, by event id and instant; None where two share these."""
    chosen = (
        with_decisions(decisions.c.id, subjects.c.subject_id, decisions.c.decided_at, func.count(sources.c.number))
        .outerjoin(sources, sources.c.decision_id == decisions.c.id)
        .where(
            # So that the index of bots is used.
            decisions.c.bot_id.in_(select(bots.c.id).where(is_bot(bots.c.name, (name,)))),
            subjects.c.kind == "event",
            runs.c.voided_at.is_(None),
        )
        .group_by(decisions.c.id, subjects.c.subject_id, decisions.c.decided_at)
    )
    found = dict[tuple[str, datetime], int | None]()
    for _, event_id, at, n in connection.execute(chosen):
        found[event_id, at] = None if (event_id, at) in found else n
    return found


def newest_traces(connection: Connection, name: str, most: int) -> tuple[str, ...]:
    """Return the trace hashes of a bot's newest decisions that have one, newest first."""
    chosen = (
        with_decisions(decisions.c.trace_sha256)
        .where(is_bot(bots.c.name, (name,)), runs.c.voided_at.is_(None), decisions.c.trace_sha256.is_not(None))
        .order_by(decisions.c.decided_at.desc(), decisions.c.id.desc())
        .limit(most)
    )
    return tuple(connection.execute(chosen).scalars())


def list_decision_efforts(connection: Connection, venue: str, as_of: datetime, part: Part) -> Sequence[Row[Any]]:
    """Return the searches, pages, seconds and costs of decisions on events by bots with a model, newest first.

    Decisions after the deadline of their run are left out, as they are in no score.
    """
    searches, pages = (func.sum(case((sources.c.kind == kind, 1), else_=0)) for kind in ("search", "page"))
    own = (bots.c.name.label("bot"), *decisions.c["id", "seconds", "cost_usd", "trace_sha256"])
    chosen = (
        with_decisions(*own, searches.label("searches"), pages.label("pages"))
        .outerjoin(sources, sources.c.decision_id == decisions.c.id)
        .where(
            bots.c.model.is_not(None),
            runs.c.venue_name == venue,
            runs.c.voided_at.is_(None),
            subjects.c.event_row.is_not(None),
            decisions.c.decided_at <= as_of,
            not_(is_late()),
            *runs_in(connection, part),
            *of_category(connection, venue, as_of, part),
            *by_recipe_and_bots(part),
        )
        .group_by(*own, decisions.c.decided_at)
        .order_by(decisions.c.decided_at.desc(), decisions.c.id.desc())
    )
    return connection.execute(chosen).all()
