"""Answers in label games: the items of a run, each bot's label, and decisions for bots that pool others."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, select

from predibot.domain.decision import ITEM_SUBJECTS, LENIENT, Decision, Forecast, Label, Order, Status, Subject
from predibot.domain.price import Instrument
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots, decisions, forecasts, labels, orders
from predibot.ledger.write.events import NAME_OF_INSTRUMENT, events, instruments, markets, run_events
from predibot.ledger.write.runs import StoredRun, read_runs, runs, with_decisions
from predibot.rows import grouped

_LABEL_OF_DECISION = and_(labels.c.decision_id == decisions.c.id, labels.c.number == 1)


def labelling_bots(connection: Connection, run_id: int) -> Sequence[Row[Any]]:
    """Return name, strategy, model, cutoff and members of a run's bots in order of entry; it reads members' answers."""
    columns = bots.c["name", "strategy", "model", "knowledge_cutoff", "members_json"]
    statement: Select[Any] = select(*columns)
    return connection.execute(statement.where(bots.c.run_id == run_id).order_by(bots.c.id)).all()


def runs_of_game(connection: Connection, game: str) -> tuple[StoredRun, ...]:
    """Return the runs of a game that are not void, the latest made last."""
    found = (run for run in read_runs(connection) if run.game == game and run.voided_at is None)
    return tuple(sorted(found, key=lambda run: run.id))


def labelled_items(connection: Connection, run_id: int) -> tuple[str, ...]:
    """Return the ids of the items of a run that some bot answered, in the order in which the run froze them."""
    answered = (
        select(subjects.c.subject_id)
        .join(decisions, decisions.c.subject_row == subjects.c.id)
        .where(decisions.c.run_id == run_id, subjects.c.kind.in_(ITEM_SUBJECTS))
    )
    statement = (
        select(events.c.event_id)
        .join(run_events, run_events.c.event_row == events.c.id)
        .where(run_events.c.run_id == run_id, events.c.event_id.in_(answered))
        .order_by(run_events.c.position)
    )
    return tuple(connection.execute(statement).scalars())


def item_answers(connection: Connection, run_id: int, ids: Sequence[str]) -> Mapping[str, Sequence[Row[Any]]]:
    """Return the answers on items of a run by item, each in order of entry of the bots; `label` is None for none."""
    venue = select(runs.c.venue_name).where(runs.c.id == run_id).scalar_subquery()
    named = (subjects.c.venue == venue, subjects.c.kind.in_(ITEM_SUBJECTS), subjects.c.subject_id.in_(ids))
    about = select(subjects.c.id).where(*named)
    of_decision = (decisions.c[name] for name in ("status", "message", "rationale", "cost_usd", "seconds"))
    statement = (
        with_decisions(bots.c.name.label("bot"), subjects.c.subject_id, labels.c.label, *of_decision)
        .outerjoin(labels, _LABEL_OF_DECISION)
        .add_columns(decisions.c.run_id)
        .where(decisions.c.subject_row.in_(about))
        .order_by(bots.c.id)
    )
    found: dict[str, list[Row[Any]]] = {id: [] for id in ids}
    for row in connection.execute(statement):
        # In the statement it would make SQLite read every decision of the run.
        if row.run_id == run_id:
            found[row.subject_id].append(row)
    return found


def frozen_items(connection: Connection, run_id: int, ids: Sequence[str] | None = None) -> Iterator[tuple[str, str]]:
    """Yield id and payload of every item that a run froze, or of some, in order."""
    statement = (
        select(events.c.event_id, run_events.c.payload)
        .join(events, events.c.id == run_events.c.event_row)
        .where(run_events.c.run_id == run_id, *([] if ids is None else [events.c.id.in_(_rows_of(run_id, ids))]))
        .order_by(run_events.c.position)
    )
    yield from ((row.event_id, row.payload) for row in connection.execute(statement))


def _rows_of(run_id: int, ids: Sequence[str]) -> Select[Any]:
    venue = select(runs.c.venue_name).where(runs.c.id == run_id).scalar_subquery()
    return select(events.c.id).where(events.c.venue == venue, events.c.event_id.in_(ids))


def list_labels(connection: Connection, run_id: int) -> Sequence[Row[Any]]:
    """Return each bot's label of each text, by bot in order of entry; `label` is None where there is none.

    `message` says why there is none, and `is_lenient` whether a model wrote more than the label.
    """
    is_lenient = decisions.c.notes_json.contains(json.dumps(LENIENT), autoescape=True).label("is_lenient")
    named = (bots.c.name.label("bot"), bots.c.model, subjects.c.subject_id)
    statement = (
        with_decisions(*named, decisions.c.status, decisions.c.reason_kind, labels.c.label, decisions.c.message)
        .add_columns(is_lenient)
        .outerjoin(labels, _LABEL_OF_DECISION)
        .where(decisions.c.run_id == run_id)
        .order_by(bots.c.id, subjects.c.subject_id)
    )
    return connection.execute(statement).all()


def label_reasons(connection: Connection, run_id: int) -> Mapping[str, Mapping[str, str]]:
    """Return the reasons for labels by bot and item; a label without any is left out."""
    statement = (
        with_decisions(bots.c.name.label("bot"), subjects.c.subject_id, decisions.c.rationale)
        .where(decisions.c.run_id == run_id, decisions.c.status == "recorded", decisions.c.rationale != "")
        .order_by(bots.c.id, subjects.c.subject_id)
    )
    found: dict[str, dict[str, str]] = {}
    for row in connection.execute(statement):
        found.setdefault(row.bot, {})[row.subject_id] = row.rationale
    return found


@dataclass(frozen=True, slots=True)
class LedgerLabel:
    """A bot's answer on an item of a text game: its label, or why there is none."""

    run: str
    recipe: str
    game: str
    bot: str
    model: str | None
    item: str
    status: Status
    label: str | None
    message: str
    """Why there is no label; empty for one."""
    lenient: bool
    """Whether the model wrote more than the label."""


@dataclass(frozen=True, slots=True)
class LedgerItem:
    """An item of a text game as a run froze it."""

    run: str
    game: str
    item: str
    fields: Mapping[str, Any]
    """What its data set says of it, the right label too; texts are of strangers."""


def label_rows(connection: Connection, run: StoredRun) -> Iterator[LedgerLabel]:
    """Yield each bot's answer on each item of a run."""
    for row in list_labels(connection, run.id):
        about = (run.key, run.recipe, run.game, row.bot, row.model, row.subject_id)
        yield LedgerLabel(*about, row.status, row.label, row.message or "", bool(row.is_lenient))


def item_rows(connection: Connection, run: StoredRun) -> Iterator[LedgerItem]:
    """Yield the items of a run, in the order in which it froze them."""
    for item, payload in frozen_items(connection, run.id):
        yield LedgerItem(run.key, run.game, item, json.loads(payload))


def _decided_on(run_id: int, subject: Subject, *columns: Any) -> Select[Any]:
    about = (subjects.c.kind == subject.kind, subjects.c.subject_id == subject.id)
    return with_decisions(*columns).where(decisions.c.run_id == run_id, *about)


def undecided_on(connection: Connection, run_id: int, subject: Subject) -> Mapping[str, tuple[Status, str]]:
    """Return status and message of each bot of a run that was asked about a subject and has no decision on it."""
    decided = _decided_on(run_id, subject, bots.c.name, decisions.c.status, decisions.c.message)
    statement = decided.where(decisions.c.status != "recorded")
    return {name: (status, message) for name, status, message in connection.execute(statement)}


def last_decided_at(connection: Connection, run_id: int, subject: Subject, names: Sequence[str]) -> datetime | None:
    """Return when the last of some bots of a run decided, or failed to decide, on a subject; None if none did."""
    statement = _decided_on(run_id, subject, decisions.c.decided_at).where(bots.c.name.in_(names))
    return max(connection.execute(statement).scalars(), default=None)


def decisions_on(connection: Connection, run_id: int, subject: Subject) -> Mapping[str, Decision]:
    """Return the decision of each bot of a run on a subject; only recorded ones, and only orders in weight."""
    columns = (*decisions.c["id", "rationale", "unallocated_usd"], bots.c.name, labels.c.label)
    statement = _decided_on(run_id, subject, *columns).outerjoin(labels, _LABEL_OF_DECISION)
    decided = connection.execute(statement.where(decisions.c.status == "recorded")).all()
    rows = [row.id for row in decided]
    ordered = (
        select(*orders.c["decision_id", "amount"], *NAME_OF_INSTRUMENT)
        .join(instruments, instruments.c.id == orders.c.instrument_row)
        .where(orders.c.decision_id.in_(rows), orders.c.unit == "weight")
        .order_by(orders.c.decision_id, orders.c.number)
    )
    stated = (
        select(forecasts.c.decision_id, markets.c.market_id, *forecasts.c["probability", "confidence"])
        .join(markets, markets.c.id == forecasts.c.market_row)
        .where(forecasts.c.decision_id.in_(rows))
        .order_by(forecasts.c.decision_id, forecasts.c.market_row)
    )
    weights, forecasts_of = (
        grouped((row.decision_id, row) for row in connection.execute(statement)) for statement in (ordered, stated)
    )
    return {
        row.name: Decision(
            tuple(Forecast(each.market_id, each.probability, each.confidence) for each in forecasts_of[row.id]),
            tuple(
                Order(Instrument(each.venue, each.kind, each.instrument_id), each.amount, "weight")
                for each in weights[row.id]
            ),
            () if row.label is None else (Label(subject.id, row.label),),
            rationale=row.rationale,
            unallocated_usd=row.unallocated_usd,
        )
        for row in decided
    }
