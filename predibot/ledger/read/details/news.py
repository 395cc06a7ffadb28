"""Dated news: pages that bots read and headlines they were shown, by event."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from predibot.ledger.schema.tables import NewsRow
from predibot.ledger.schema.upsert import table_of
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import decisions, sources
from predibot.ledger.write.events import events, markets
from predibot.ledger.write.runs import runs, with_decisions

_news = table_of(NewsRow)


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
    pages = (
        with_decisions(events.c.event_id, sources.c.published_at, sources.c.title, sources.c.text, sources.c.final_url)
        .join(sources, sources.c.decision_id == decisions.c.id)
        .join(events, events.c.id == subjects.c.event_row)
        .where(
            events.c.venue == venue,
            runs.c.voided_at.is_(None),
            decisions.c.decided_at <= as_of,
            sources.c.kind == "page",
            sources.c.published_at <= as_of,
        )
    )
    headlines = (
        select(events.c.event_id, _news.c.published_at, _news.c.title, _news.c.url)
        .join(markets, markets.c.id == _news.c.market_row)
        .join(events, events.c.id == markets.c.event_row)
        .join(runs, runs.c.id == _news.c.run_id)
        .where(
            events.c.venue == venue,
            runs.c.voided_at.is_(None),
            runs.c.as_of <= as_of,
            _news.c.number > 0,
            _news.c.published_at <= as_of,
        )
        .order_by(_news.c.url.nulls_last())
    )
    found: dict[tuple[datetime, str, str], set[str]] = {}
    for event_id, at, title, text, final_url in connection.execute(pages):
        found.setdefault((at, title, final_url or text), set()).add(event_id)
    addresses: dict[tuple[datetime, str], str] = {}
    for event_id, at, title, url in connection.execute(headlines):
        # A headline that several runs found at different addresses counts once.
        found.setdefault((at, title, addresses.setdefault((at, title), url or "")), set()).add(event_id)
    ordered = sorted(found.items(), key=lambda each: (-each[0][0].timestamp(), *each[0][1:]))
    return tuple(DatedNews(*named, tuple(sorted(ids))) for named, ids in ordered)
