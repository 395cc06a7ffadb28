"""Invariants of runs: their recipes and bots, and the subject, time and cost of decisions."""

import hashlib
import json
import math
from collections.abc import Iterator
from datetime import datetime, timedelta

from sqlalchemy import Connection, func, select

from predibot.errors import PluginError, UsageError
from predibot.ledger.read.invariants import Checked, Violation
from predibot.ledger.write.claims import attempts, subjects
from predibot.ledger.write.decisions import bots, decisions
from predibot.ledger.write.events import events
from predibot.ledger.write.runs import IMPORTED, runs, with_decisions
from predibot.plugins.strategies import spec_of, starts_program

_CLOCK_SLACK = timedelta(minutes=1)
"""A clock may be set back so far while a decision is made."""
_COST_TOLERANCE_USD = 1e-9
_NO_RULES = {"event"}
"""Overrides that change no digest of a run's recipe."""


def checks_of_runs(connection: Connection, checked: Checked) -> Iterator[Iterator[Violation]]:
    """Yield checks, each of which yields every row that breaks it."""
    for check in (_check_recipes, _check_bots, _check_subjects, _check_decisions):
        yield check(connection, checked)


def _check_recipes(connection: Connection, checked: Checked) -> Iterator[Violation]:
    check = "runs are their recipes"
    columns = runs.c["key", "recipe", "game", "seed", "digest", "recipe_json"]
    for run in connection.execute(select(*columns, runs.c.overrides_json).order_by(runs.c.id)):
        checked[check] += 1
        recipe = json.loads(run.recipe_json)
        for name, stored in (("name", run.recipe), ("game", run.game), ("seed", run.seed)):
            if recipe[name] != stored:
                yield Violation(check, run.key, f"its {name} is {stored!r}, in its recipe {recipe[name]!r}")
        is_known = {*json.loads(run.overrides_json)} <= _NO_RULES and not run.digest.startswith(IMPORTED)
        del recipe["bots"]
        text = json.dumps(recipe, sort_keys=True, separators=(",", ":"))
        if is_known and hashlib.sha256(text.encode()).hexdigest() != run.digest:
            yield Violation(check, run.key, "its digest is not that of its recipe")


def _check_bots(connection: Connection, checked: Checked) -> Iterator[Violation]:
    """Yield bots that pool others than their arguments name, if their strategy's code is the same."""
    check = "members as named"
    columns = (runs.c.key, *bots.c["name", "strategy", "arguments_json", "source_sha256"])
    statement = select(*columns, bots.c.members_json).join(runs, runs.c.id == bots.c.run_id)
    for bot in connection.execute(statement.where(bots.c.members_json.is_not(None)).order_by(bots.c.id)):
        try:
            if starts_program(bot.strategy):
                # Such a strategy starts a program when it is made, and a ledger may come from anybody.
                continue
            spec = spec_of(bot.strategy, json.loads(bot.arguments_json))
        except (PluginError, UsageError):
            continue
        if spec.source_sha256 != bot.source_sha256:
            continue
        checked[check] += 1
        members = json.loads(bot.members_json)
        if members != [*spec.needs.members]:
            yield Violation(
                check, f"{bot.key}/{bot.name}", f"it pools {members}, its arguments name {[*spec.needs.members]}"
            )


def _check_subjects(connection: Connection, checked: Checked) -> Iterator[Violation]:
    """Yield subjects whose kind and id do not agree with the event that their row refers to."""
    check = "subjects are what they say"
    of = (events.c.venue.label("of_venue"), events.c.event_id)
    statement = select(subjects, *of).outerjoin(events, events.c.id == subjects.c.event_row).order_by(subjects.c.id)
    for row in connection.execute(statement):
        checked[check] += 1
        expected = (row.venue, row.subject_id) if row.kind == "event" else (None, None)
        if (row.of_venue, row.event_id) != expected:
            is_of = "no event" if row.event_id is None else f"event {row.event_id} of {row.of_venue}"
            yield Violation(check, f"{row.venue}/{row.kind}/{row.subject_id}", f"its row says that it is {is_of}")


def _check_decisions(connection: Connection, checked: Checked) -> Iterator[Violation]:
    """Yield decisions outside the time of their run and tries, and those with two costs."""
    check = "decisions in their time"
    tried = (
        select(
            attempts.c.task_id,
            func.min(attempts.c.started_at).label("began_at"),
            func.max(attempts.c.ended_at).label("ended_at"),
        )
        .group_by(attempts.c.task_id)
        .subquery()
    )
    columns = (runs.c.key, bots.c.name, subjects.c.subject_id, runs.c.as_of, tried.c.began_at, tried.c.ended_at)
    costs = decisions.c["decided_at", "cost_usd", "cost_known_usd"]
    statement = with_decisions(*columns, *costs).outerjoin(tried, tried.c.task_id == decisions.c.task_id)
    for row in connection.execute(statement.order_by(decisions.c.id).execution_options(yield_per=1_000)):
        name = f"{row.key}/{row.name}/{row.subject_id}"
        checked[check] += 1
        # A replay decides at the instant of its run; any other decision is made during its tries.
        if row.decided_at != row.as_of and not _is_within(row.decided_at, row.began_at or row.as_of, row.ended_at):
            yield Violation(
                check,
                name,
                f"decided at {row.decided_at.isoformat()}, which is neither the instant of its run nor within its "
                "attempts",
            )
        checked["costs are what was paid"] += 1
        if row.cost_usd is not None and not math.isclose(
            row.cost_usd, row.cost_known_usd, rel_tol=_COST_TOLERANCE_USD, abs_tol=_COST_TOLERANCE_USD
        ):
            yield Violation(
                "costs are what was paid", name, f"it cost ${row.cost_usd!r}, and ${row.cost_known_usd!r} are known"
            )


def _is_within(at: datetime, began_at: datetime, ended_at: datetime | None) -> bool:
    return began_at - _CLOCK_SLACK <= at and (ended_at is None or at <= ended_at + _CLOCK_SLACK)
