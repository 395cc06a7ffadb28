"""One event: revisions of its resolutions, events with the same series or tags, and the news of events."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, Subquery, func, literal, select, union_all

from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots, decisions, sources
from predibot.ledger.write.events import events, markets, news, run_events
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


_MOST_OF_EVENT = 200


@dataclass(frozen=True, slots=True)
class DatedNews:
    """A dated page or headline; its texts are others'."""

    published_at: datetime
    title: str
    url: str
    """Empty for a headline from before addresses were stored."""
    event_ids: tuple[str, ...]
    """The events it was read for, by id."""


def list_news(connection: Connection, venue: str, as_of: datetime) -> tuple[DatedNews, ...]:
    """Return the dated pages that decisions on a venue's events had read by an instant, and runs' headlines.

    A page read for several events counts once. What was published after the instant is left out, whatever a page
    says of itself. The newest comes first.
    """
    at_venue = events.c.venue == venue
    columns = (events.c.event_id, *sources.c["published_at", "title", "text", "final_url"])
    pages = _pages(*columns).where(at_venue, decisions.c.decided_at <= as_of, sources.c.published_at <= as_of)
    of_headline = _headlines(events.c.event_id, *news.c["published_at", "title", "url"])
    headlines = of_headline.where(at_venue, runs.c.as_of <= as_of, news.c.published_at <= as_of)
    found: dict[tuple[datetime, str, str], set[str]] = {}
    for event_id, at, title, text, final_url in connection.execute(pages):
        found.setdefault((at, title, final_url or text), set()).add(event_id)
    addresses: dict[tuple[datetime, str], str] = {}
    for event_id, at, title, url in connection.execute(headlines.order_by(news.c.url.nulls_last())):
        # A headline that several runs found at different addresses counts once.
        found.setdefault((at, title, addresses.setdefault((at, title), url or "")), set()).add(event_id)
    ordered = sorted(found.items(), key=lambda each: (-each[0][0].timestamp(), *each[0][1:]))
    return tuple(DatedNews(*named, tuple(sorted(ids))) for named, ids in ordered)


def _pages(*columns: Any) -> Select[Any]:
    """Return a statement over the pages that decisions on events read, those of void runs apart."""
    return (
        with_decisions(*columns)
        .join(sources, sources.c.decision_id == decisions.c.id)
        .join(events, events.c.id == subjects.c.event_row)
        .where(sources.c.kind == "page", runs.c.voided_at.is_(None))
    )


def _headlines(*columns: Any) -> Select[Any]:
    """Return a statement over the headlines that runs found, those of void runs apart."""
    return (
        select(*columns)
        .select_from(news)
        .join(runs, runs.c.id == news.c.run_id)
        .join(markets, markets.c.id == news.c.market_row)
        .join(events, events.c.id == markets.c.event_row)
        .where(news.c.number > 0, runs.c.voided_at.is_(None))
    )


def news_of_events(connection: Connection, event_ids: Sequence[str]) -> Mapping[str, Sequence[Row[Any]]]:
    """Return `published_at` and `title` of the 200 newest dated pages and headlines of each event, the oldest first.

    An event without any is absent.
    """
    pages, headlines = (
        dated(events.c.event_id, *table.c["published_at", "title"]).where(
            events.c.event_id.in_(event_ids), table.c.published_at.is_not(None)
        )
        for dated, table in ((_pages, sources), (_headlines, news))
    )
    both = pages.union(headlines).subquery()
    place = func.row_number().over(partition_by=both.c.event_id, order_by=(both.c.published_at.desc(), both.c.title))
    placed = select(both, place.label("place")).subquery()
    newest = select(placed).where(placed.c.place <= _MOST_OF_EVENT).order_by(placed.c.place.desc())
    return grouped((row.event_id, row) for row in connection.execute(newest))


def count_shown(
    connection: Connection, market: str = "", since: datetime | None = None, until: datetime | None = None
) -> int:
    """Return the number of rows of `list_shown`."""
    return connection.execute(select(func.count()).select_from(_select_shown(market, since, until))).scalar_one()


def list_shown(
    connection: Connection,
    market: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
    *,
    first: int = 0,
    most: int | None = None,
) -> Sequence[Row[Any]]:
    """Return what bots were shown or read, the newest slot first, then by asset and by publication.

    Headlines are of a market and were shown to all bots of a run; `bot` is then empty. Pages are of an event and were
    read by one bot; `market_id` is then that of the event's only market, or missing. Runs that are void are left out.

    Args:
        market: Only what is of this market, by its id; empty for all.
        since: Only of slots from this instant on, and before `until`.
        first: How many rows are left out at the beginning; then at most `most` follow.
    """
    shown = _select_shown(market, since, until)
    order = (shown.c.slot_at.desc(), shown.c.asset, shown.c.published_at.desc(), *shown.c["name", "url", "run"])
    return connection.execute(select(shown).order_by(*order, shown.c.bot).offset(first).limit(most)).all()


def list_shown_markets(
    connection: Connection, since: datetime | None = None, until: datetime | None = None
) -> Sequence[Row[Any]]:
    """Return the markets that bots were shown something of, by question: `market_id`, `asset`, and `shown`, a count."""
    shown = _select_shown("", since, until)
    statement = select(shown.c.market_id, func.min(shown.c.asset).label("asset"), func.count().label("shown"))
    statement = statement.where(shown.c.market_id.is_not(None)).group_by(shown.c.market_id)
    return connection.execute(statement.order_by("asset", shown.c.market_id)).all()


def _select_shown(market: str, since: datetime | None, until: datetime | None) -> Subquery:
    """Return the SQL of all that was shown; a page read for several decisions counts for each."""
    only = (
        select(markets.c.event_row, func.min(markets.c.market_id).label("market_id"))
        .group_by(markets.c.event_row)
        .having(func.count() == 1)
        .subquery()
    )
    headlines = (
        _headlines(*runs.c["slot_at", "recipe"], runs.c.key.label("run"), literal("").label("bot"))
        .add_columns(events.c.event_id, markets.c.market_id, func.coalesce(markets.c.question, "").label("asset"))
        .add_columns(news.c.title.label("name"), *news.c["snippet", "published_at"])
        .add_columns(func.coalesce(news.c.url, "").label("url"))
    )
    pages = (
        _pages(*runs.c["slot_at", "recipe"], runs.c.key.label("run"), bots.c.name.label("bot"))
        .add_columns(events.c.event_id, only.c.market_id, events.c.title.label("asset"))
        .add_columns(sources.c.title.label("name"), literal("").label("snippet"), sources.c.published_at)
        .add_columns(func.coalesce(sources.c.final_url, sources.c.text).label("url"))
        .outerjoin(only, only.c.event_row == events.c.id)
    )
    both = union_all(headlines, pages).subquery()
    rules = [
        *([both.c.market_id == market] if market else []),
        *([] if since is None else [both.c.slot_at >= since]),
        *([] if until is None else [both.c.slot_at < until]),
    ]
    return select(both).where(*rules).subquery()
