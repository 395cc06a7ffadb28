"""Played events: what scoring wants to know of the events that runs played, beside their prices."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, repeat
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select, func, select

from predibot.domain.category import category_of
from predibot.domain.event import Event, Tag
from predibot.ledger.read.columns import Columns
from predibot.ledger.read.row_filter import runs_in
from predibot.ledger.schema.column_types import listed
from predibot.ledger.schema.values import event_from_json
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import decisions
from predibot.ledger.write.events import events, market_rows, run_events
from predibot.ledger.write.runs import runs
from predibot.scoring.records.part import EVERYTHING, Part

NO_CATEGORY = "no category"
_MARKET = re.compile(r'\{"ref":\{"id":("(?:[^"\\]|\\.)*")')
_GROUP = re.compile(r'"exclusive_group":("(?:[^"\\]|\\.)*")')
_FEES = re.compile(r'"fees":(?:null|\{"rate":([^,}]+),"exponent":([^,}]+)\})')
_LEAST = re.compile(r'"least_shares":(?:null|([^,}]+))')
"""How a frozen event writes these facts of each market; in a text the quotes would be escaped."""
TERMS = ("fee_rate", "fee_exponent", "least_shares")
_ASKED = np.dtype([(name, np.float64) for name in ("run", "event", "market", *TERMS)])


@dataclass(frozen=True, slots=True)
class PlayedEvent:
    """An event as the last run that played it froze it."""

    title: str
    category: str | None


@dataclass(frozen=True, slots=True, eq=False)
class AskedMarkets:
    """Which markets each run asked about, as it froze them."""

    rows: Columns
    """By run and in the order they were shown: the run, the rows of the event and the market, and its terms.

    These are what a taker pays, and the least limit order; NaN where nothing is stated.
    """
    groups: Mapping[int, tuple[int, str]]
    """The row of the event, and the group, of each market of which the venue says that it excludes others."""


def asked_markets(connection: Connection, venue: str, part: Part = EVERYTHING) -> AskedMarkets:
    """Return the markets of every event that a run of a venue plays, void runs aside.

    An event is frozen anew with each run, and a month has thousands: so the few
    words that matter are looked up in the text, and the rest is not read.
    """
    statement = (
        select(run_events.c.run_id, run_events.c.event_row, run_events.c.event_json)
        .join(runs, runs.c.id == run_events.c.run_id)
        .where(runs.c.venue_name == venue, runs.c.voided_at.is_(None), *runs_in(connection, part))
        .order_by(run_events.c.run_id, run_events.c.position)
    )
    row_of = market_rows(connection, venue)
    asked, groups = list[tuple[float, ...]](), dict[int, tuple[int, str]]()
    for run_id, event_row, event in connection.execute(statement):
        found = [row_of[_unquoted(name)] for name in _MARKET.findall(event)]
        # Runs of before the groups, or the fees, were frozen state none.
        named = zip(found, _GROUP.findall(event), strict=False)
        groups |= {row: (event_row, name) for row, name in named if name != '""'}
        fees, least = chain(_FEES.findall(event), repeat(("", ""))), chain(_LEAST.findall(event), repeat(""))
        asked += [
            (run_id, event_row, row, *(float(each) if each else math.nan for each in (*fee, shares)))
            for row, fee, shares in zip(found, fees, least, strict=False)
        ]
    return AskedMarkets(np.array(asked, dtype=_ASKED), groups)


def of_category(connection: Connection, venue: str, as_of: datetime, part: Part) -> list[ColumnElement[bool]]:
    """Return by what decisions on events of the category asked for are chosen; by nothing where none is."""
    if part.category is None:
        return []
    played = played_events(connection, venue, as_of, part)
    rows = [row for row, each in played.items() if (each.category or NO_CATEGORY) == part.category]
    about = select(subjects.c.id).where(subjects.c.event_row.in_(listed(rows)))
    return [decisions.c.subject_row.in_(about)]


def _unquoted(text: str) -> str:
    """Return what a text of JSON says; hardly any needs to be read as such, and there are hundreds of thousands."""
    return str(json.loads(text)) if "\\" in text else text[1:-1]


def played_events(
    connection: Connection, venue: str, as_of: datetime, part: Part = EVERYTHING
) -> Mapping[int, PlayedEvent]:
    """Return every event of a venue that some run of those asked for played by the instant, by its row."""
    found = {}
    for row, title, text in connection.execute(_last_frozen(connection, venue, as_of, part)):
        # It is our own writing, checked when it was written, and millions are read.
        tags = [Tag(tag["label"], tag["slug"]) for tag in json.loads(text).get("tags", ())]
        found[row] = PlayedEvent(title, category_of(tags))
    return found


def events_as_played(connection: Connection, venue: str, as_of: datetime) -> tuple[Event, ...]:
    """Return every event of a venue that some run played by the instant, whole, as the last such run froze it."""
    return tuple(
        event_from_json(text, payload="")
        for _, _, text in connection.execute(_last_frozen(connection, venue, as_of, EVERYTHING))
    )


def _last_frozen(connection: Connection, venue: str, as_of: datetime, part: Part) -> Select[Any]:
    """Return row, title and JSON of every event as the last run by the instant froze it."""
    last = (
        select(func.max(run_events.c.run_id).label("run_id"), run_events.c.event_row)
        .join(runs, runs.c.id == run_events.c.run_id)
        .where(
            runs.c.venue_name == venue, runs.c.as_of <= as_of, runs.c.voided_at.is_(None), *runs_in(connection, part)
        )
        .group_by(run_events.c.event_row)
        .subquery()
    )
    return (
        select(run_events.c.event_row, events.c.title, run_events.c.event_json)
        .join(last, (last.c.run_id == run_events.c.run_id) & (last.c.event_row == run_events.c.event_row))
        .join(events, events.c.id == run_events.c.event_row)
        .order_by(run_events.c.event_row)
    )
