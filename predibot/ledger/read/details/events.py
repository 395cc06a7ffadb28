"""One event: revisions of its resolutions, and events with the same series or tags."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from predibot.ledger.write.claims import subjects
from predibot.ledger.write.events import events, markets, run_events
from predibot.ledger.write.prices_and_resolutions import resolutions
from predibot.ledger.write.runs import runs, select_last_frozen, with_decisions
from predibot.rows import grouped


@dataclass(frozen=True, slots=True)
class RelatedEvent:
    """An event that shares labels with another one; its texts are the venue's."""

    event_id: str
    title: str
    shared: tuple[str, ...]
    """Shared series and tags; series come first."""
    played_at: datetime
    """The last slot with it."""


def revisions_of(connection: Connection, event_ids: Sequence[str]) -> Mapping[str, Sequence[Row[Any]]]:
    """Return all revisions of the resolutions of the markets of each event, by market, oldest first.

    A payout of None gave the stakes back. An event without a resolution is absent.
    """
    payout = resolutions.c["payout_yes", "settled_at", "settled_source"]
    statement: Select[Any] = (
        select(markets.c.market_id, markets.c.question, resolutions.c.revision, *payout, resolutions.c.effective_at)
        .add_columns(events.c.event_id)
        .join(markets, markets.c.id == resolutions.c.market_row)
        .join(events, events.c.id == markets.c.event_row)
        .where(events.c.event_id.in_(event_ids))
        .order_by(markets.c.id, resolutions.c.effective_at, resolutions.c.revision)
    )
    return grouped((row.event_id, row) for row in connection.execute(statement))


def labels_of_events(connection: Connection) -> Mapping[str, tuple[str, datetime, tuple[str, ...]]]:
    """Return title, slot and labels of every event decided on, as the last run that counts froze it, by id.

    Labels are `series NAME`, if the venue's payload names one, and `tag NAME`.
    """
    columns = (events.c.event_id, events.c.title, runs.c.slot_at, run_events.c.event_json, run_events.c.payload)
    statement = (
        select_last_frozen(columns)
        .join(runs, runs.c.id == run_events.c.run_id)
        .where(events.c.id.in_(with_decisions(subjects.c.event_row).where(runs.c.voided_at.is_(None))))
        .order_by(runs.c.slot_at.desc(), events.c.id)
    )
    found = dict[str, tuple[str, datetime, tuple[str, ...]]]()
    for event_id, title, slot_at, event, payload in connection.execute(statement):
        found.setdefault(event_id, (title, slot_at, tuple(dict.fromkeys(_labels(event, payload)))))
    return found


def find_related_events(
    event_id: str, labels: Mapping[str, tuple[str, datetime, tuple[str, ...]]]
) -> tuple[RelatedEvent, ...]:
    """Return the events that share a label with one, first those of its series, then those that share most."""
    own = labels[event_id][2] if event_id in labels else ()
    any_of = frozenset(own)
    found = [
        RelatedEvent(each, title, tuple(label for label in own if label in theirs), slot_at)
        for each, (title, slot_at, theirs) in labels.items()
        if each != event_id and not any_of.isdisjoint(theirs)
    ]
    return tuple(sorted(found, key=lambda each: (not each.shared[0].startswith("series "), -len(each.shared))))


def _labels(event: str, payload: str) -> Iterator[str]:
    """Yield the labels of a frozen event; a payload is the venue's, and may be anything."""
    try:
        document = json.loads(payload) if '"series"' in payload else {}
    except (ValueError, RecursionError):
        document = {}
    listed = document.get("series") if isinstance(document, dict) else None
    for each in listed if isinstance(listed, list) else ():
        name = each.get("title") or each.get("slug") if isinstance(each, dict) else None
        if isinstance(name, str):
            yield f"series {name}"
    for tag in json.loads(event).get("tags", ()):
        yield f"tag {tag['label']}"
