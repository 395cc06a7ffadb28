"""Bots as runs froze them: which are the same, their set-up, traces and evidence, and what they settled."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, case, func, not_, or_, select

from predibot.domain.replicates import split_replicate
from predibot.domain.resolution import SettledForecast
from predibot.ledger.read.event_facts import of_category
from predibot.ledger.read.row_filter import RowFilter, is_bot, recipe_and_bot_conditions, run_conditions
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bets, bots, decisions, forecasts, of_same_market, sources
from predibot.ledger.write.events import events, markets
from predibot.ledger.write.prices_and_resolutions import resolutions
from predibot.ledger.write.runs import (
    NEWEST_FIRST,
    PROMPT_SHA256,
    is_late,
    live_venues,
    runs,
    whole_arguments,
    with_decisions,
)
from predibot.scoring.records.part import Part

_COSTS_AND_WAITS = ("usd_per_call", "seconds_between")
"""Keys of [search] that change no answer."""


@dataclass(frozen=True, slots=True)
class PromptPair:
    """Two bots that had different prompts and were otherwise the same in some runs."""

    first: str
    second: str
    first_prompt: str
    """The SHA-256 of its text; empty for the packaged prompt of the strategy."""
    second_prompt: str
    runs: Sequence[int]
    """Rows of these runs; in others the bots may differ in more, or have other prompts."""

    def swap(self) -> Self:
        """Return the pair the other way round."""
        return type(self)(self.second, self.first, self.second_prompt, self.first_prompt, self.runs)


def specification(bot: Row[Any], recipe: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what makes a bot the same one in two runs, but for the bots that it waits for; `recipe` is its run's.

    These are its strategy, arguments, prompt, code and model; and of one with a model the server that the recipe names
    for it, what a decision may spend, and how the recipe searches. What only costs or waits is left out.
    """
    arguments = whole_arguments(bot.arguments_json, bot.name, recipe)
    found = (bot.strategy, json.dumps(arguments, sort_keys=True), bot.source_sha256, bot.model)
    if bot.model is None:
        return found
    tables = {name: recipe.get(name) or {} for name in ("limits", "search")}
    search = {name: value for name, value in tables["search"].items() if name not in _COSTS_AND_WAITS}
    return (*found, json.dumps([tables["limits"].get("decision"), search], sort_keys=True))


def pairs_by_prompt(connection: Connection, venue_name: str, part: Part) -> tuple[PromptPair, ...]:
    """Return each two bots of the same runs that differ in their prompt alone, by name; replicates are one bot."""
    statement = (
        select(*bots.c["run_id", "name", "strategy", "model", "source_sha256", "arguments_json"])
        .join(runs, runs.c.id == bots.c.run_id)
        .where(runs.c.venue_name == venue_name, runs.c.voided_at.is_(None))
        .where(*run_conditions(connection, part), *recipe_and_bot_conditions(part))
        .order_by(runs.c.slot_at, bots.c.id)
    )
    alike: dict[tuple[object, ...], dict[str, str]] = defaultdict(dict)
    for run, name, strategy, model, source, text in connection.execute(statement):
        arguments = json.loads(text)
        prompt = str(arguments.pop(PROMPT_SHA256, ""))
        alike[run, strategy, model, source, json.dumps(arguments, sort_keys=True)][split_replicate(name)[0]] = prompt
    shared: dict[tuple[str, str, str, str], list[int]] = defaultdict(list)
    for (run, *_), prompts in alike.items():
        for (first, one), (second, other) in combinations(sorted(prompts.items()), 2):
            if one != other:
                shared[first, second, one, other].append(int(str(run)))
    return tuple(PromptPair(*pair, runs=tuple(which)) for pair, which in sorted(shared.items()))


def names_of_pools(connection: Connection, names: Collection[str]) -> frozenset[str]:
    """Return which of these bots pool samples or wrap other bots in any run."""
    pooling = select(bots.c.name).where(bots.c.members_json.is_not(None), bots.c.members_json != "[]").distinct()
    return frozenset(names) & {split_replicate(name)[0] for name in connection.execute(pooling).scalars()}


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
        .order_by(*NEWEST_FIRST)
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
            *run_conditions(connection, part),
            *of_category(connection, venue, as_of, part),
            *recipe_and_bot_conditions(part),
        )
        .group_by(*own, decisions.c.decided_at)
        .order_by(decisions.c.decided_at.desc(), decisions.c.id.desc())
    )
    return connection.execute(chosen).all()


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
