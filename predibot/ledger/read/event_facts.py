"""Facts of played events that scoring needs, beside prices."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select, select

from predibot.domain.category import category_of
from predibot.domain.event import Event, Tag
from predibot.ledger.read.columns import Columns
from predibot.ledger.read.row_filter import run_conditions
from predibot.ledger.schema.column_types import bind_list
from predibot.ledger.schema.values import event_from_json
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import decisions
from predibot.ledger.write.events import events, market_rows, run_events
from predibot.ledger.write.runs import runs, select_last_frozen
from predibot.scoring.records.part import EVERYTHING, Part

NO_CATEGORY = "no category"

TERMS = ("fee_rate", "fee_exponent", "least_shares")
_ASKED = np.dtype([(name, np.float64) for name in ("run", "event", "market", *TERMS)])


@dataclass(frozen=True, slots=True)
class PlayedEvent:
    """An event as the last run that played it froze it."""

    title: str
    category: str
    """`NO_CATEGORY` where it has none."""


@dataclass(frozen=True, slots=True, eq=False)
class RunMarkets:
    """The markets of each run, as it froze them."""

    rows: Columns
    """By run and in the order shown: run, event row, market row, and the terms.

    Terms are the taker's fee and the least limit order; NaN where nothing is stated.
    """
    groups: Mapping[int, tuple[int, str]]
    """Event row and name of the group of each market that excludes others, by market row."""


def read_run_markets(connection: Connection, venue: str, part: Part = EVERYTHING) -> RunMarkets:
    """Return the markets of every event that a run of a venue plays, void runs aside.

    An event is frozen anew with each run, and a month has thousands. So no `Event` is made of one.
    """
    statement = (
        select(*run_events.c["run_id", "event_row", "event_json"])
        .join(runs, runs.c.id == run_events.c.run_id)
        .where(runs.c.venue_name == venue, runs.c.voided_at.is_(None), *run_conditions(connection, part))
        .order_by(run_events.c.run_id, run_events.c.position)
    )
    row_of = market_rows(connection, venue)
    rows, groups = list[tuple[float, ...]](), dict[int, tuple[int, str]]()
    for run_id, event_row, event in connection.execute(statement):
        for market in json.loads(event)["markets"]:
            row = row_of[market["ref"]["id"]]
            # Older runs froze no groups, fees or orders.
            if group := market.get("exclusive_group"):
                groups[row] = event_row, group
            fees, orders = market.get("fees") or {}, market.get("orders") or {}
            terms = (fees.get("rate"), fees.get("exponent"), orders.get("least_shares"))
            rows.append((run_id, event_row, row, *(math.nan if each is None else each for each in terms)))
    return RunMarkets(np.array(rows, dtype=_ASKED), groups)


def of_category(connection: Connection, venue: str, as_of: datetime, part: Part) -> list[ColumnElement[bool]]:
    """Return the condition on decisions that their event is of the part's category; none without a category."""
    if part.category is None:
        return []
    played = find_played_events(connection, venue, as_of, part)
    rows = [row for row, each in played.items() if each.category == part.category]
    about = select(subjects.c.id).where(subjects.c.event_row.in_(bind_list(rows)))
    return [decisions.c.subject_row.in_(about)]


def find_played_events(
    connection: Connection, venue: str, as_of: datetime, part: Part = EVERYTHING
) -> Mapping[int, PlayedEvent]:
    """Return by row every event of a venue that a run of the part had played by the instant."""
    found = connection.execute(_last_frozen(connection, venue, as_of, part))
    return {row: PlayedEvent(title, _category(text)) for row, title, text in found}


def event_categories(connection: Connection) -> Mapping[tuple[str, str], str]:
    """Return the category of every event that was played, by venue and id, as the last run that counts froze it."""
    return {(venue, name): _category(text) for venue, name, text in connection.execute(_last_counted())}


def events_of_ids(connection: Connection, ids: Sequence[str]) -> Mapping[tuple[str, str], Event]:
    """Return some events by venue and id, as the last run that counts froze them."""
    found = connection.execute(_last_counted().where(events.c.event_id.in_(ids)))
    return {(venue, name): event_from_json(text, payload="") for venue, name, text in found}


def _last_counted() -> Select[Any]:
    return select_last_frozen((events.c.venue, events.c.event_id, run_events.c.event_json))


def _category(event_json: str) -> str:
    # Not validated: predibot wrote it, and millions are read.
    tags = [Tag(tag["label"], tag["slug"]) for tag in json.loads(event_json).get("tags", ())]
    return category_of(tags) or NO_CATEGORY


def latest_events(connection: Connection, venue: str, as_of: datetime) -> tuple[Event, ...]:
    """Return every event of a venue that some run had played by the instant, as the last such run froze it."""
    return tuple(
        event_from_json(text, payload="")
        for _, _, text in connection.execute(_last_frozen(connection, venue, as_of, EVERYTHING))
    )


def _last_frozen(connection: Connection, venue: str, as_of: datetime, part: Part) -> Select[Any]:
    """Return the statement of row, title and JSON of every event as the last run by the instant froze it."""
    of_runs = (runs.c.venue_name == venue, runs.c.as_of <= as_of, *run_conditions(connection, part))
    columns = (run_events.c.event_row, events.c.title, run_events.c.event_json)
    return select_last_frozen(columns, *of_runs).order_by(run_events.c.event_row)
