"""News in the ledger: what a run found about a market once, and shows to all its bots."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from sqlalchemy import Connection, insert, select

from predibot.domain.account_past import NewsItem
from predibot.ledger.schema.tables import NewsRow
from predibot.ledger.schema.upsert import insert_new, table_of
from predibot.ledger.write.events import markets

news = table_of(NewsRow)


def read_news(connection: Connection, run_id: int) -> Mapping[str, tuple[NewsItem, ...] | None]:
    """Return a run's news by market id, None for a failed search; markets without a search are absent."""
    statement = select(news, markets.c.market_id).join(markets, markets.c.id == news.c.market_row)
    found: dict[str, tuple[NewsItem, ...] | None] = {}
    rows = connection.execute(statement.where(news.c.run_id == run_id).order_by(news.c.market_row, news.c.number))
    for row in rows:
        if row.number == 0:
            found[row.market_id] = () if row.failure is None else None
        else:
            item = NewsItem(row.title, row.snippet, row.published_at, row.url)
            found[row.market_id] = (*(found[row.market_id] or ()), item)
    return found


def add_news(
    connection: Connection,
    run_id: int,
    market_id: str,
    venue: str,
    query: str,
    items: Sequence[NewsItem],
    *,
    failure: str | None = None,
) -> None:
    """Store the result of a run's search; another process's earlier news stay."""
    same = select(markets.c.id).where(markets.c.venue == venue, markets.c.market_id == market_id)
    key = {"run_id": run_id, "market_row": connection.execute(same).scalar_one()}
    text = {"title": query, "snippet": "", "published_at": None, "failure": failure}
    if not insert_new(connection, NewsRow, [{**key, "number": 0, **text}]) or not items:
        return
    connection.execute(insert(news), [{**key, "number": n, **asdict(each)} for n, each in enumerate(items, start=1)])


def news_failures(connection: Connection, run_id: int) -> tuple[str, ...]:
    """Return why searches for news failed, one reason a market."""
    failed = select(news.c.failure).where(news.c.run_id == run_id, news.c.failure.is_not(None))
    return tuple(connection.execute(failed.order_by(news.c.market_row)).scalars())
