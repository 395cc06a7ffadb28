"""Runs in the ledger: frozen once, resumed ever after, taken out of all scores when void."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, select, text, update

from predibot.domain.event import Event
from predibot.errors import RunConflict, UsageError
from predibot.ledger.schema.tables import (
    BotRow,
    DecisionRow,
    JournalEntryRow,
    OrderRow,
    RunEventRow,
    RunRow,
    SubjectRow,
    TurnRow,
)
from predibot.ledger.schema.upsert import insert_new, insert_one, table_of
from predibot.ledger.schema.values import PASSED_OVER, event_from_json, event_to_json
from predibot.ledger.write.events import events, run_events, store_events
from predibot.plugins.venues import venue_or_defaults

runs, bots = table_of(RunRow), table_of(BotRow)
decisions, subjects = table_of(DecisionRow), table_of(SubjectRow)
_journal, _orders, _turns = table_of(JournalEntryRow), table_of(OrderRow), table_of(TurnRow)
_FREEZING = 7_305_991_202
PROMPT_SHA256 = "prompt_sha256"
"""Its key among a bot's arguments."""
BASE_URL = "base_url"
"""The key, among a bot's arguments, of the server that a recipe names for its models."""
IMPORTED = "import:"
"""The digest of a run that was imported from somebody's files begins with this."""


NEWEST_FIRST = (decisions.c.decided_at.desc(), runs.c.id.desc(), bots.c.id, subjects.c.subject_id)
"""Sorts decisions of `with_decisions`. Those of one instant, as in a replay, stand in the order of their run's bots and
of ids, not in that in which threads finished."""


def with_decisions(*columns: Any) -> Select[Any]:
    """Return a statement over all decisions, each with its run, its bot and its subject."""
    return (
        select(*columns)
        .select_from(decisions)
        .join(runs, runs.c.id == decisions.c.run_id)
        .join(bots, bots.c.id == decisions.c.bot_id)
        .join(subjects, subjects.c.id == decisions.c.subject_row)
    )


def live_venues(connection: Connection) -> tuple[str, ...]:
    """Return those venues of the runs that are live, as runs name them.

    Any other run is a replay, whose events may have ended before a model was trained.
    """
    return tuple(
        spec for spec in connection.execute(select(runs.c.venue).distinct()).scalars() if venue_or_defaults(spec).live
    )


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as it is stored."""

    key: str
    recipe: str
    slot_at: datetime
    as_of: datetime
    venue: str
    """As the user named it, such as `archive:<folder>`."""
    venue_name: str
    """The name of the venue itself, which instruments have."""
    game: str
    seed: int
    digest: str
    recipe_json: str
    overrides: Mapping[str, Any]
    code_version: str
    created_at: datetime
    passed_over: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...]
    deadline_at: datetime | None = None
    """Later decisions are in no score; None for no deadline."""
    voided_at: datetime | None = None
    void_reason: str | None = None
    id: int = 0
    """Its row; 0 before it has one."""

    @property
    def slot(self) -> datetime:
        """Return the slot, under its name in documents."""
        return self.slot_at


@dataclass(frozen=True, slots=True)
class BotPlan:
    """A bot of a run, before it has a row."""

    name: str
    strategy: str
    arguments: Mapping[str, Any]
    source_sha256: str
    model: str | None = None
    knowledge_cutoff: date | None = None
    """Last day of its model's training data; None where unknown."""
    members: tuple[str, ...] = ()
    prompt_sha256: str = ""
    """Digest of a prompt of its own, which makes it another bot, as its arguments do; empty for the packaged one."""


def find_run(connection: Connection, key: str) -> StoredRun | None:
    """Return the run that has this key and is not void, or None."""
    return next(iter(_runs_where(connection, runs.c.key == key, runs.c.voided_at.is_(None))), None)


def runs_of_slot(connection: Connection, recipe: str, slot_at: datetime) -> tuple[StoredRun, ...]:
    """Return the runs of a recipe's slot that are not void, oldest first."""
    return _runs_where(connection, runs.c.recipe == recipe, runs.c.slot_at == slot_at, runs.c.voided_at.is_(None))


def freeze_run(connection: Connection, plan: StoredRun, events: Sequence[Event]) -> StoredRun:
    """Store a run with all it plays, and return it; where the key is taken, return that run.

    Two processes may plan the same run at once: the first one's choice stays.
    """
    row = {
        **{name: getattr(plan, name) for name in StoredRun.__slots__ if name in runs.c and name != "id"},
        "overrides_json": json.dumps(dict(plan.overrides), sort_keys=True),
        "passed_over_json": json.dumps([dict(each) for each in plan.passed_over]),
        "notes_json": json.dumps(plan.notes),
        "receipted": "imported" if plan.digest.startswith(IMPORTED) else None,
    }
    if connection.dialect.name == "postgresql":
        # Else two runs that list the same events in another order would wait for each other.
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _FREEZING})
    run_id = insert_one(connection, RunRow, row)
    if run_id is not None:
        rows = store_events(connection, plan.venue_name, events)
        frozen = [
            {
                "run_id": run_id,
                "position": position,
                "event_row": rows[event.id],
                "event_json": event_to_json(event),
                "payload": event.payload,
            }
            for position, event in enumerate(events)
        ]
        insert_new(connection, RunEventRow, frozen)
    held = find_run(connection, plan.key)
    if held is None:
        raise RunConflict(f"the run {plan.key} was voided while it was being made. Run the same command again")
    return held


def add_bots(connection: Connection, run: StoredRun, wanted: Sequence[BotPlan]) -> Mapping[str, int]:
    """Store a run's new bots, and return the rows of all wanted ones by name.

    Raises:
        RunConflict: If a bot of this name has another strategy, model, knowledge cutoff or arguments.
    """
    plans = [
        {
            "run_id": run.id,
            "name": bot.name,
            "strategy": bot.strategy,
            "arguments_json": json.dumps(
                {**bot.arguments, **({PROMPT_SHA256: bot.prompt_sha256} if bot.prompt_sha256 else {})}, sort_keys=True
            ),
            "source_sha256": bot.source_sha256,
            "model": bot.model,
            "knowledge_cutoff": bot.knowledge_cutoff.isoformat() if bot.knowledge_cutoff else None,
            "members_json": json.dumps(bot.members),
        }
        for bot in wanted
    ]
    insert_new(connection, BotRow, plans)
    stored = {row["name"]: row for row in connection.execute(select(bots).where(bots.c.run_id == run.id)).mappings()}
    recipe = json.loads(run.recipe_json)
    of_recipe = {each.get("name") for each in recipe.get("bots", ())}
    for plan in plans:
        held, planned = stored[plan["name"]], json.loads(str(plan["arguments_json"]))
        arguments = whole_arguments(held["arguments_json"], held["name"], recipe)
        if held["name"] not in of_recipe and BASE_URL not in arguments:
            # Of a bot that joined a run later, an older predibot stored no server, so it may be this one.
            planned.pop(BASE_URL, None)
        before, now = _identity(held, arguments), _identity(plan, planned)
        if before != now:
            raise RunConflict(
                f"bot {plan['name']!r} of run {run.key} is {before}, the recipe now says {now}. "
                "Give it another name, or start over with --new-run"
            )
    return {bot.name: stored[bot.name]["id"] for bot in wanted}


def whole_arguments(arguments_json: str, bot: str, recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return a bot's stored arguments with its `BASE_URL`; where an old row lacks it, that of the recipe."""
    known = dict[str, Any]()
    for each in recipe.get("bots", ()):
        match each:
            case {"name": str(name), "terms": {"base_url": str(address)}} if name == bot:
                known = {BASE_URL: address}
    return {**known, **json.loads(arguments_json)}


def select_last_frozen(columns: Sequence[ColumnElement[Any]], *which: ColumnElement[bool]) -> Select[Any]:
    """Return the statement of each event as the last run that counts froze it, among some runs."""
    newest = select(run_events.c.event_row, func.max(run_events.c.run_id).label("run_id"))
    of_runs = newest.join(runs, runs.c.id == run_events.c.run_id).where(runs.c.voided_at.is_(None), *which)
    last = of_runs.group_by(run_events.c.event_row).subquery()
    return (
        select(*columns)
        .select_from(run_events)
        .join(last, (last.c.run_id == run_events.c.run_id) & (last.c.event_row == run_events.c.event_row))
        .join(events, events.c.id == run_events.c.event_row)
    )


def frozen_events(connection: Connection, run_id: int) -> tuple[Event, ...]:
    """Return the events a run plays, in order, as they were when it was made."""
    rows = connection.execute(
        select(run_events.c.event_json, run_events.c.payload)
        .where(run_events.c.run_id == run_id)
        .order_by(run_events.c.position)
    )
    return tuple(event_from_json(text, payload) for text, payload in rows)


def read_runs(connection: Connection) -> tuple[StoredRun, ...]:
    """Return all runs, void ones too, oldest slot first."""
    return _runs_where(connection)


def _runs_where(connection: Connection, *which: ColumnElement[bool]) -> tuple[StoredRun, ...]:
    rows = connection.execute(select(runs).where(*which).order_by(runs.c.slot_at, runs.c.id)).mappings()
    return tuple(map(_to_run, rows))


def bots_by_recipe(connection: Connection) -> Mapping[str, set[str]]:
    """Return the names of all bots of each recipe's runs, void ones too."""
    statement = select(runs.c.recipe, bots.c.name).distinct().outerjoin(bots, bots.c.run_id == runs.c.id)
    found: dict[str, set[str]] = {}
    for recipe, bot in connection.execute(statement):
        found.setdefault(recipe, set()).update([] if bot is None else [bot])
    return found


def is_late() -> ColumnElement[bool]:
    """Return whether a decision was made after the deadline of its run, to be selected beside it."""
    return and_(runs.c.deadline_at.is_not(None), decisions.c.decided_at > runs.c.deadline_at)


def is_imported() -> ColumnElement[bool]:
    """Return whether a run was imported from somebody's files."""
    return runs.c.digest.startswith(IMPORTED, autoescape=True)


def count_late_by_run(connection: Connection, run_ids: Collection[int] | None = None) -> Mapping[int, int]:
    """Return how many decisions were made after their run's deadline, by run; runs without any are absent."""
    statement = with_decisions(runs.c.id, func.count()).where(is_late()).group_by(runs.c.id)
    if run_ids is not None:
        statement = statement.where(runs.c.id.in_(run_ids))
    return {run_id: count for run_id, count in connection.execute(statement)}


def count_decisions_with_note(connection: Connection, note: str, *which: ColumnElement[bool]) -> Mapping[str, int]:
    """Return how many decisions have a note, by bot."""
    statement = (
        with_decisions(bots.c.name, func.count())
        .where(runs.c.voided_at.is_(None), decisions.c.notes_json.contains(json.dumps(note), autoescape=True), *which)
        .group_by(bots.c.name)
        .order_by(bots.c.name)
    )
    return {name: count for name, count in connection.execute(statement)}


def count_by_game(
    connection: Connection, venue: str, as_of: datetime, *which: ColumnElement[bool]
) -> Mapping[str, int]:
    """Return how many decisions of runs that count fulfil some conditions, by game."""
    counted = (runs.c.venue_name == venue, runs.c.voided_at.is_(None), decisions.c.decided_at <= as_of)
    statement = with_decisions(runs.c.game, func.count()).where(*counted, *which).group_by(runs.c.game)
    return {game: n for game, n in connection.execute(statement.order_by(runs.c.game))}


def void_run(connection: Connection, key: str, *, reason: str, at: datetime) -> None:
    """Take a run out of all scores; its slot is free again, its rows stay.

    Its pending orders expire. What an account did in a run is never undone: a run stays if its accounts traded, or went
    on with a later slot.

    Raises:
        UsageError: If no run has the key, the reason is empty, or accounts rest on the run.
    """
    if not reason.strip():
        raise UsageError("a run is voided for a reason. Say which with --reason")
    _require_no_journal(connection, key)
    changed = connection.execute(
        update(runs)
        .where(runs.c.key == key, runs.c.voided_at.is_(None))
        .values(voided_at=at, void_reason=reason)
        .returning(runs.c.id)
    ).all()
    for (run_id,) in changed:
        _end_pending(connection, run_id, at=at)
    if not changed:
        known = connection.execute(select(runs.c.key).where(runs.c.voided_at.is_(None)).order_by(runs.c.key)).scalars()
        listed = ", ".join(list(known)[-5:]) or "none"
        raise UsageError(f"no run holds the key {key[:100]!r}. The latest are: {listed}")


def _end_pending(connection: Connection, run_id: int, *, at: datetime) -> None:
    """Let the pending orders of a run expire; earlier notes stay."""
    of_run = select(decisions.c.id).where(decisions.c.run_id == run_id)
    note = func.coalesce(_orders.c.note, "its run was voided")
    ended = update(_orders).where(_orders.c.status == "pending", _orders.c.decision_id.in_(of_run))
    connection.execute(ended.values(status="expired", note=note, ended_at=at))


def _require_no_journal(connection: Connection, key: str) -> None:
    """Refuse to void a run on which holdings of accounts rest."""
    run = runs.c.key == key, runs.c.voided_at.is_(None)
    booked = select(_journal.c.number).join(decisions, decisions.c.id == _journal.c.decision_id)
    booked = booked.join(runs, runs.c.id == decisions.c.run_id).where(*run)
    own = select(*_turns.c["account_id", "slot_at", "at"]).join(runs, runs.c.id == _turns.c.run_id)
    of_run = own.where(*run).subquery()
    later = select(_turns.c.account_id).join(of_run, of_run.c.account_id == _turns.c.account_id)
    later = later.where(_turns.c.slot_at > of_run.c.slot_at)
    moved = select(_journal.c.number).join(of_run, of_run.c.account_id == _journal.c.account_id)
    moved = moved.where(_journal.c.kind != "deposit", _journal.c.at >= of_run.c.at)
    if connection.execute(later).first() is not None:
        why = "accounts went on with a later run"
    elif connection.execute(booked).first() is not None or connection.execute(moved).first() is not None:
        why = "accounts traded or were settled in it"
    else:
        return
    raise UsageError(
        f"run {key[:100]!r} cannot be voided: {why}, and a journal is only ever added to. Play the recipe on under "
        "another name, which begins with accounts of its own"
    )


def _identity(bot: Mapping[Any, Any], arguments: Mapping[str, Any]) -> str:
    """Return what makes a bot of a run the same; its code may be fixed, so the digest is no part."""
    parts = [f"{bot['strategy']} {json.dumps(arguments, sort_keys=True)}"]
    if bot["model"] is not None:
        parts.append(f"with {bot['model']}")
    if bot["knowledge_cutoff"] is not None:
        parts.append(f"trained until {bot['knowledge_cutoff']}")
    return " ".join(parts)


def _to_run(row: Any) -> StoredRun:
    taken = {name: row[name] for name in StoredRun.__slots__ if name in row}
    return StoredRun(
        **taken,
        overrides=json.loads(row["overrides_json"]),
        passed_over=tuple({name: each[name] for name in PASSED_OVER} for each in json.loads(row["passed_over_json"])),
        notes=tuple(json.loads(row["notes_json"])),
    )
