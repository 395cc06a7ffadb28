"""Rerunning a run: every decision is made again from its recorded answers, and compared with the stored one."""

import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from predibot.contracts import Progress, ProgressListener
from predibot.domain.clock import parse_instant
from predibot.domain.decision import Subject
from predibot.domain.event import Event
from predibot.domain.price import QUOTE_PRICES, Quote
from predibot.domain.trace import GivenUpStep, ModelFailedStep, StoredTrace
from predibot.errors import LedgerError, PluginError, UsageError
from predibot.jobs.decide import bot_plan
from predibot.jobs.deciding.decide_one import work
from predibot.jobs.deciding.worker import DecideJob, Worker
from predibot.jobs.replay.recordings import Record, RecordedQuotes, RecordedVenue
from predibot.ledger.files.traces import Traces
from predibot.ledger.read.decision_traces import TracedDecision, find_decisions
from predibot.ledger.read.export import DecisionKey, Rows, decision_rows
from predibot.ledger.store import Store
from predibot.ledger.url import sqlite_address
from predibot.ledger.write.claims import Claimant
from predibot.ledger.write.events import catalogue
from predibot.ledger.write.process_identity import is_gone, new_owner
from predibot.ledger.write.runs import StoredRun, add_bots, find_run, freeze_run, frozen_events
from predibot.plugins.strategies import spec_of
from predibot.recipe.recipe import BotSpec, Recipe, in_order
from predibot.trust import allowed_programs
from predibot.version import __version__

_log = logging.getLogger(__name__)

_LEASE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Rerun:
    """The comparison of one decision."""

    bot: str
    event_id: str
    status: str
    equal: bool | None
    """Whether all its rows are the same; None where its trace is not enough to rerun it."""
    difference: str = ""
    """The tables whose rows differ, or why it was not rerun."""


_NO_EVENT = "it is about no event, and decisions of games with accounts are not rerun yet"


def rerun(
    store: Store, run_key: str, *, clock: Callable[[], datetime], listener: ProgressListener
) -> tuple[Rerun, ...]:
    """Make each decision of a run again from its recorded answers, and compare it; no model, tool or venue is asked.

    The same code decides into a scratch ledger; the rows of the canonical export are compared. UsageError is raised if
    no run has the key, or a trace was changed or is gone.
    """
    with store.read() as connection:
        run = find_run(connection, run_key)
        if run is None:
            raise UsageError(f"no run holds the key {run_key[:100]!r}; `predibot runs` lists them")
        events = frozen_events(connection, run.id)
        before = decision_rows(connection, run.key)
    recipe, lacking = _with_needs(Recipe.from_json(run.recipe_json))
    with scratch_ledger() as again:
        plan = replace(run, id=0, voided_at=None, void_reason=None, code_version=__version__, created_at=clock())
        with again.write() as connection:
            replica = freeze_run(connection, plan, events)
        worker = _make_worker(again, replica, events, recipe, clock())
        with again.write() as connection:
            bot_rows = add_bots(connection, replica, [bot_plan(bot) for bot in recipe.bots])
        found: list[Rerun] = []
        named = {bot.name: bot for bot in recipe.bots}
        order = in_order({name: bot.members for name, bot in named.items()})
        pairs = [(named[name], event) for names in order for name in names for event in events]
        for bot, event in pairs:
            if (bot.name, event.id) not in before:
                continue
            with store.read() as connection:
                stored = find_decisions(connection, run.key, bot.name, event.id)[0]
            kept = Traces(store).read(stored.trace_sha256) if stored.trace_sha256 else StoredTrace()
            if bot.name in lacking:
                found.append(Rerun(bot.name, event.id, stored.status, False, lacking[bot.name]))
            elif reason := _why_not_rerun(bot, stored, kept):
                found.append(Rerun(bot.name, event.id, stored.status, None, reason))
            else:
                record = Record(kept, stored.message, stored.reason_kind or "bot")
                own = _worker_of_decision(worker, before[bot.name, event.id], record)
                _decide_again(DecideJob(bot, bot_rows[bot.name], Subject("event", event.id)), own)
                found.append(_compare(stored, before, again, record))
            listener(Progress("rerun", len(found), len(before), f"{bot.name} on {event.id}"))
    others = [rows["decisions"][0] for rows in before.values() if rows["decisions"][0]["subject_kind"] != "event"]
    return (*found, *(Rerun(row["bot"], row["subject_id"], row["status"], None, _NO_EVENT) for row in others))


@contextmanager
def scratch_ledger() -> Iterator[Store]:
    """Yield an empty ledger in a temporary folder."""
    with (
        tempfile.TemporaryDirectory(prefix="predibot-scratch-") as folder,
        Store.open(sqlite_address(Path(folder, "ledger.db"))) as store,
    ):
        yield store


def _with_needs(recipe: Recipe) -> tuple[Recipe, Mapping[str, str]]:
    """Return a stored recipe with its strategies' needs of today, and why some bots cannot be made."""
    bots, lacking, allowed = [], {}, allowed_programs(Path())
    for bot in recipe.bots:
        try:
            if not allowed.issuperset(bot.programs):
                raise PluginError("it starts programs, and no recipe here that starts them is trusted")
            needs = spec_of(bot.strategy.name, bot.strategy.arguments).needs
            bots.append(replace(bot, strategy=replace(bot.strategy, needs=needs)))
        except PluginError as error:
            bots.append(bot)
            lacking[bot.name] = str(error)
    return replace(recipe, bots=tuple(bots)), lacking


def _decide_again(job: DecideJob, worker: Worker) -> None:
    """Make one decision; a crash of a strategy is recorded, as it was then."""
    try:
        work(job, worker)
    except (LedgerError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a strategy raises is its result
        _log.info("%s crashed on %s: %s", job.bot.name, job.subject.id, error)


def _make_worker(store: Store, run: StoredRun, events: tuple[Event, ...], recipe: Recipe, now: datetime) -> Worker:
    with store.read() as connection:
        known = catalogue(connection, run.id)
    venue = RecordedVenue(run.venue_name)
    return Worker(
        store=store,
        venue=venue,
        game=recipe.make_game(),
        run=run,
        events={event.id: event for event in events},
        catalogue=known,
        claimant=Claimant(new_owner(), _LEASE, now, is_gone),
        clock=lambda: now,
        board=RecordedQuotes(venue, now),
    )


def _worker_of_decision(worker: Worker, rows: Rows, record: Record) -> Worker:
    decided_at = parse_instant(rows["decisions"][0]["decided_at"])
    quotes = [_recorded_quotes(rows["quotes"], role) for role in ("shown", "booked")]
    return replace(
        worker,
        run=replace(worker.run, as_of=decided_at),
        board=RecordedQuotes(worker.venue, decided_at, *quotes),
        agents=record,
        loopback=record.loopback(),
    )


def _recorded_quotes(rows: list[Mapping[str, Any]], role: str) -> Mapping[str, Quote]:
    return {
        row["market_id"]: Quote(parse_instant(row["at"]), **{name: row[name] for name in QUOTE_PRICES})
        for row in rows
        if row["role"] == role
    }


def _why_not_rerun(bot: BotSpec, stored: TracedDecision, kept: StoredTrace) -> str:
    """Return why a decision cannot be made again: its failure or its data is in no trace."""
    if bot.needs.history and not bot.needs.models:
        return "it follows from daily prices, which are not recorded"
    if bot.needs.settled:
        return "it follows from what had settled in the ledger then, which is not recorded"
    kinds = {step.kind for step in kept.steps}
    # The trace of an abandoned decision ends before the call in which it hung.
    is_of_model = stored.reason_kind == "answer" or ModelFailedStep.kind in kinds
    if stored.status != "failed" or (is_of_model and GivenUpStep.kind not in kinds):
        return ""
    return f"what failed it is not recorded: {stored.message}"


def _compare(stored: TracedDecision, before: Mapping[DecisionKey, Rows], again: Store, record: Record) -> Rerun:
    bot, event_id = stored.bot, stored.event_id
    with again.read() as connection:
        new = decision_rows(connection, stored.run).get((bot, event_id), {})
    old = before[bot, event_id]
    differing = [table for table in old if old[table] != new.get(table, [])]
    differences = [f"not the same: {', '.join(differing)}"] if differing else []
    if rest := record.rest():
        differences.append(f"{rest} recorded answers were not asked for")
    return Rerun(bot, event_id, stored.status, not differences, "; ".join(differences))
