"""The page of news: what bots were shown and read, by day and asset, with the prices around it."""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row

from predibot.ledger.read.details.events import count_shown, list_shown, list_shown_markets
from predibot.web.cache import LedgerCache
from predibot.web.chart import Chart
from predibot.web.pages.events import price_chart
from predibot.web.pages.page import PAGE, WebPage, alike, day_of, end_of_day, pagination, records

_DAY = timedelta(days=1)
_ASSETS = 100
_MARKS = 100
Prices = Sequence[tuple[datetime, float]]


def news_page(cache: LedgerCache, market: str = "", since: str = "", until: str = "", page_: int = 1) -> WebPage:
    """Return one page of what bots were shown, of one market or of all, newest slot first.

    Slots are from the day `since` to the day `until`, such as 2026-01-31; empty takes all. Raises
    `UsageError` if one is no day. Parts are numbered from 1.
    """
    asked = (market, day_of(since), end_of_day(until))
    part = pagination(cache.read(count_shown, *asked), page_, "/news", market=market, since=since, until=until)
    rows = cache.read(list_shown, *asked, first=(part["page"] - 1) * PAGE, most=PAGE)
    return WebPage(
        "news",
        {
            **part,
            "rows": [(same, *_prices_around(cache, same[0])) for same in alike(rows, _piece)],
            "market": market,
            "asset": next((each.asset for each in rows if each.market_id == market), market),
            "assets": () if market else cache.read(list_shown_markets, *asked[1:])[:_ASSETS],
            "chart": _chart(cache, market, rows) if market else None,
            "days": (since, until),
        },
        {"news": lambda: records(cache.read(list_shown, *asked))()},
    )


def _piece(shown: Row[Any]) -> tuple[object, ...]:
    """Return what is the same in all rows of a piece of news that several bots of a run read."""
    return shown.run, shown.event_id, shown.market_id, shown.name, shown.url, shown.published_at, shown.snippet


def _prices_of(cache: LedgerCache, shown: Row[Any]) -> Prices:
    return cache.prices(shown.event_id).get(shown.market_id, ()) if shown.market_id else ()


def _prices_around(cache: LedgerCache, shown: Row[Any]) -> tuple[float | None, float | None]:
    """Return the price when something was published, and a day later if the ledger goes that far."""
    prices, at = _prices_of(cache, shown), shown.published_at
    if at is None or not prices:
        return None, None
    return _price_at(prices, at), _price_at(prices, at + _DAY) if prices[-1][0] >= at + _DAY else None


def _price_at(prices: Prices, at: datetime) -> float | None:
    place = bisect_right(prices, at, key=lambda each: each[0])
    return prices[place - 1][1] if place else None


def _chart(cache: LedgerCache, market: str, rows: Sequence[Row[Any]]) -> Chart | None:
    marks = [(each.published_at.timestamp(), each.name) for each in rows[:_MARKS] if each.published_at is not None]
    own = next((_prices_of(cache, each) for each in rows if each.market_id == market), ())
    return price_chart(cache, own, {}, "Price, and the news of this page", marks)
