"""The models behind each decision, those of pooled bots too: what they can have known, and what they cost."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Case, ColumnElement, Connection, and_, case, or_, select

from predibot.domain.clock import parse_instant
from predibot.ledger.read.columns import Columns
from predibot.ledger.schema.column_types import MICROSECONDS
from predibot.ledger.write.decisions import bots
from predibot.ledger.write.runs import live_venues, runs
from predibot.plugins.venues import venue_or_defaults
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.records.knowledge import inherited_knowledge, knowledge_of


def run_is_live(connection: Connection) -> "Case[int]":
    """Return whether a decision's run was live, to be selected beside it."""
    return case((runs.c.venue.in_(live_venues(connection)), 1), else_=0)


def knowledge_of_decisions(
    connection: Connection, decided: Columns, event: Ints, event_settled_at: Floats, *, is_live: NDArray[np.bool_]
) -> NDArray[np.int8]:
    """Return what the models behind each decision can have known, (n,), as indices into `KNOWLEDGE`.

    In an invented world a model without a cutoff has read nothing later. All decisions of a run are needed, because one
    may pool others.

    Args:
        decided: The decisions, (n,): `bot_id`, which is another one in every run, `opened` as `OPENED_MODEL` says, and
            `decided_at`. To `cost_usd` and `cost_known_usd`, where they are columns, the costs of the decisions that
            one pools are added in place, NaN where a part is unknown. So a cost is what must be paid to run a bot
            alone, and costs of bots that share members do not add up.
        event: Their events, (n,).
        event_settled_at: Seconds since 1970, (n,); infinite where a market of the event has not settled.
        is_live: Whether their runs were live, (n,).
    """
    bot_row = decided["bot_id"].astype(np.int64)
    pooling, pooled = _pooled_decisions(connection, bot_row, event)
    for costs in (decided[name] for name in ("cost_usd", "cost_known_usd") if name in (decided.dtype.names or ())):
        np.add.at(costs, pooling, costs[pooled])
    present, index = np.unique(bot_row, return_inverse=True)
    # No others are read: a page of decisions is of few bots among those of all runs.
    first, last = (int(present[0]), int(present[-1])) if present.size else (0, 0)
    near = bots.c.id.between(first, last)
    # A cutoff counts from the start of its UTC day.
    statement = select(bots.c.id, bots.c.knowledge_cutoff).where(bots.c.knowledge_cutoff.is_not(None), near)
    days = {row: day for row, day in connection.execute(statement)}
    starts = {day: parse_instant(day).timestamp() for day in set(days.values())}
    cutoffs = dict.fromkeys(_invented_world_bots(connection, near), -np.inf) | {
        row: starts[day] for row, day in days.items()
    }
    cutoff_at = np.array([cutoffs.get(int(row), np.nan) for row in present], dtype=np.float64)
    own = knowledge_of(
        decided["opened"] == 1.0,
        cutoff_at[index],
        is_live=is_live,
        decided_at=decided["decided_at"] / MICROSECONDS,
        event_settled_at=event_settled_at,
    )
    return inherited_knowledge(own, pooling, pooled)


def _invented_world_bots(connection: Connection, near: ColumnElement[bool]) -> list[int]:
    names = connection.execute(select(runs.c.venue_name).distinct()).scalars()
    invented = runs.c.venue_name.in_([name for name in names if venue_or_defaults(name).invented])
    statement = select(bots.c.id).join(runs, runs.c.id == bots.c.run_id).where(invented, near)
    return list(connection.execute(statement).scalars())


def _pooled_decisions(connection: Connection, bot_row: Ints, event: Ints) -> tuple[Ints, Ints]:
    """Return decisions that pool others on the same event, and the pooled ones, as two arrays of rows, (m,) each.

    A pool of pools rests on each decision once, however many of its members do.
    """
    members = _pooled_bots(connection)
    pooling, pooled = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    by_bot = np.argsort(bot_row, kind="stable")
    ordered = bot_row[by_bot]

    def rows_of(bot: int) -> Ints:
        return by_bot[np.searchsorted(ordered, bot) : np.searchsorted(ordered, bot, "right")]

    for bot in members:
        own = rows_of(bot)
        for member in _all_members(bot, members) if own.size else ():
            theirs = rows_of(member)
            _, mine, other = np.intersect1d(event[own], event[theirs], return_indices=True)
            pooling.append(own[mine])
            pooled.append(theirs[other])
    return np.concatenate(pooling), np.concatenate(pooled)


def _all_members(bot: int, members: Mapping[int, tuple[int, ...]]) -> set[int]:
    """Return the members of a bot, and theirs; a ledger that predibot did not write may have some in a circle."""
    found, new = set[int](), {*members[bot]}
    while new:
        found |= new
        new = {each for one in new for each in members.get(one, ())} - found
    return found - {bot}


def _pooled_bots(connection: Connection) -> Mapping[int, tuple[int, ...]]:
    # An older bot's members stand only in its strategy's arguments.
    untold = and_(bots.c.members_json.is_(None), bots.c.arguments_json.contains('"members"'))
    pools = or_(bots.c.members_json.not_in(("", "[]", "null")), untold)
    columns = bots.c["id", "run_id", "members_json", "arguments_json"]
    named: list[tuple[int, int, Any]] = [
        (row, run_id, json.loads(arguments).get("members") if members is None else json.loads(members))
        for row, run_id, members, arguments in connection.execute(select(*columns).where(pools))
    ]
    if not named:
        return {}
    beside = bots.c.run_id.in_(select(bots.c.run_id).where(pools))
    found = connection.execute(select(*bots.c["run_id", "name", "id"]).where(beside))
    rows = {(run_id, name): row for run_id, name, row in found}
    return {
        row: tuple(rows[run_id, member] for member in members if (run_id, member) in rows)
        for row, run_id, members in named
        if isinstance(members, list)
    }
