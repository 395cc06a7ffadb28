"""The pages of events: a list, one with its prices and forecasts, the graph of a venue, and news by day and asset."""

import math
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from sqlalchemy import Row

from predibot.domain.event import Market
from predibot.domain.replicates import split_replicate
from predibot.errors import UsageError
from predibot.ledger.read.details import events
from predibot.ledger.read.event_facts import event_categories, events_of_ids
from predibot.ledger.read.event_lists import list_events
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import LedgerForecast, select_decisions, select_events, select_forecasts
from predibot.related.graph import Edge
from predibot.reports import figures
from predibot.reports.pictures.graph import graph_title, layout_graph, marks_note
from predibot.reports.terminal.closeups.related import graph_grids
from predibot.scoring.records.part import Part
from predibot.scoring.standing import BASELINES
from predibot.web.cache import LedgerCache
from predibot.web.chart import Chart, ChartPoint, Line, Scale, chart_of, thin_out
from predibot.web.pages.page import PAGE, WebPage, alike, day_of, end_of_day, paginate, pagination, records

_RELATED = 20
_PANELS = 10
"""Markets with most volume whose forecasts are listed; each other one has a row."""
_OTHERS = 150
_CHARTS = 5
"""So many of these have a chart, those with most volume."""
_LAST = 40
"""Most forecasts that are listed as the last ones of bots, of all markets together; a page is no export."""
_FORECASTS = 30
"""The newest forecasts of all markets together are listed."""
_UNANSWERED = 50
_DOTS = 180
"""The newest forecasts of all markets together are drawn, one a bot and day."""
_POINTS = 500
"""Most prices that are drawn, of all markets together."""
_MARKS = 60
"""The newest days with news that are drawn, in all charts together."""
_REVISIONS = 50
_CLOSE = 0.3
"""Prices and forecasts that lie so close together have an axis of their own."""


def events_page(cache: LedgerCache, q: str = "", category: str = "", page_: int = 1) -> WebPage:
    """Return one page of the events of a category, or of all, whose titles have every word of `q`."""
    words, frozen = q.casefold().split(), cache.read(event_categories)
    listed = [(each, frozen.get((each.venue, each.event_id), "")) for each in cache.read(select_events)]
    rows = [
        (each, kind)
        for each, kind in listed
        if category in ("", kind) and all(word in each.title.casefold() for word in words)
    ]
    shown = paginate(rows, page_, "/events", q=q, category=category)
    played = cache.read(list_events, tuple(each.number for each, _ in shown["rows"]))
    kinds = sorted({kind for _, kind in listed if kind})
    return WebPage(
        "events",
        {
            **shown,
            "rows": [(each, kind, played[each.number]) for each, kind in shown["rows"]],
            "q": q,
            "category": category,
            "kinds": kinds,
        },
        {"events": records([each for each, _ in rows])},
    )


@dataclass(frozen=True, slots=True)
class MarketPanel:
    """A market of an event: its state, its prices, and all forecasts on it."""

    of: LedgerForecast
    """Any forecast on it: all have its question and payout."""
    closes_at: datetime | None
    price: tuple[datetime, float] | None
    """The last one that is stored."""
    chart: Chart | None
    last: tuple[LedgerForecast, ...]
    """The last forecasts of bots, the one farthest from its price first."""
    bots: int
    newest: tuple[LedgerForecast, ...]
    forecasts: int
    drawn: int
    """The newest so many are in the chart."""


def event_page(cache: LedgerCache, id: str) -> WebPage:
    """Return the page of an event: prices, forecasts, related events; raise `UsageError` if nobody decided on it."""
    own = cache.read(select_decisions, RowFilter(event=id))
    if not own:
        raise UsageError(f"nobody decided on event {id[:60]!r}")
    said = cache.read(select_forecasts, RowFilter(event=id))
    by_market = sorted(said, key=lambda each: (each.market_id, each.slot_at))
    frozen = {market.ref.id: market for event in cache.read(events_of_ids, (id,)).values() for market in event.markets}
    players = {each.bot for each in own if each.strategy not in BASELINES} or {each.bot for each in own}
    news, prices = cache.read(events.news_of_events, (id,)).get(id, ()), cache.prices(id)
    labels, kin = events_sharing_labels(cache, id)
    listed = [(frozen.get(market), list(rows)) for market, rows in groupby(by_market, lambda each: each.market_id)]
    if len(listed) > _CHARTS:
        listed.sort(key=lambda each: (each[0] and each[0].volume_usd) or 0.0, reverse=True)
    revisions, shown = cache.revisions(id), min(len(listed), _PANELS)
    panels = [
        _market_panel(
            cache, market, rows, prices.get(rows[0].market_id, ()), news if n < _CHARTS else None, players, shown
        )
        for n, (market, rows) in enumerate(listed)
    ]
    return WebPage(
        "event",
        {
            "title": own[0].title,
            "decisions": own,
            "bots": len({each.bot for each in own}),
            "forecasts": len(said),
            "markets": panels[:_PANELS],
            "others": panels[_PANELS : _PANELS + _OTHERS],
            "all_markets": len(panels),
            "charts": _CHARTS,
            "revisions": revisions[:_REVISIONS],
            "all_revisions": len(revisions),
            "unanswered": alike(
                [each for each in own if each.status != "recorded"][:_UNANSWERED],
                lambda each: (each.bot, each.status, each.message),
            ),
            "labels": labels,
            "moving": related_edges(cache, id, own[0].run)[:_RELATED],
            "related": kin[:_RELATED],
            "all_related": len(kin),
        },
        {"forecasts": records(said)},
    )


def _market_panel(
    cache: LedgerCache,
    market: Market | None,
    rows: Sequence[LedgerForecast],
    prices: Sequence[tuple[datetime, float]],
    news: Sequence[Row[Any]] | None,
    players: Collection[str],
    markets: int,
) -> MarketPanel:
    """Return the panel of one of `markets` markets, which share the room of a page; without news, no chart."""
    last = {each.bot: each for each in rows}
    ordered = sorted(last.values(), key=lambda each: -abs(each.probability - (each.price_yes or 0.0)))
    drawn, chart = rows[-max(_DOTS // markets, len(last)) :], None
    if news is not None:
        # One dot a bot and day, hollow without a bet, and one mark a day with news.
        dots: dict[str, list[ChartPoint]] = {each.bot: [] for each in ordered if each.bot in players}
        for each in {(each.bot, each.decided_at.date()): each for each in drawn if each.bot in dots}.values():
            said = f"{figures.percent(each.probability)}, {figures.bet(each.booked_usd)}"
            at = each.decided_at.timestamp()
            dots[each.bot].append(ChartPoint(at, each.probability, text=said, is_hollow=not each.booked_usd))
        marks = [
            (days[0].published_at.timestamp(), f"{figures.things(len(days), 'page')}: {days[0].title}")
            for days in (list(group) for _, group in groupby(news, lambda each: each.published_at.date()))
        ][-(_MARKS // markets) :]
        thin = thin_out(prices, _POINTS // markets)
        chart = price_chart(cache, thin, dots, "Price of YES and forecasts of bots", marks)
    return MarketPanel(
        of=rows[0],
        closes_at=None if market is None else market.closes_at,
        price=prices[-1] if prices else None,
        chart=chart,
        last=tuple(ordered[: _LAST // markets]),
        bots=len(ordered),
        newest=tuple(rows[-max(_FORECASTS // markets, 1) :]),
        forecasts=len(rows),
        drawn=len(drawn),
    )


def price_chart(
    cache: LedgerCache,
    prices: Sequence[tuple[datetime, float]],
    dots: Mapping[str, Sequence[ChartPoint]],
    title: str,
    marks: Sequence[tuple[float, str]] = (),
) -> Chart | None:
    """Return the prices of a market over time with the dots of bots in their colours; None for fewer than two prices.

    Args:
        prices: Instants and prices, oldest first, in [0, 1] or of a stock in dollars.
        dots: Of each bot; replicates and samples are shown as one.
        marks: Instants in seconds since 1970 with their words.
    """
    if len(prices) < 2:
        return None
    lines = [Line("price", [ChartPoint(at.timestamp(), price) for at, price in prices], kind="price")]
    of_bot = dict[str, list[ChartPoint]]()
    for name, own in dots.items():
        of_bot.setdefault(split_replicate(name)[0], []).extend(own)
    lines += [
        Line(bot, sorted(own, key=lambda each: each.at), cache.colour(bot), "dots") for bot, own in of_bot.items()
    ]
    values = [price for _, price in prices] + [each.value for own in dots.values() for each in own]
    is_probability = max(price for _, price in prices) <= 1.0
    scale = Scale(figures.percent, None, _ends(values)) if is_probability else Scale(figures.usd, None)
    return chart_of(lines, title, "price of YES", scale, marks)


def _ends(probabilities: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis: 0 and 1, or what lies near the values where they are close together."""
    low, high = max(min(probabilities) - 0.02, 0.0), min(max(probabilities) + 0.02, 1.0)
    low, high = math.floor(low * 20.0) / 20.0, math.ceil(high * 20.0) / 20.0
    return (low, high) if high - low <= _CLOSE else (0.0, 1.0)


def events_sharing_labels(cache: LedgerCache, id: str) -> tuple[tuple[str, ...], tuple[events.RelatedEvent, ...]]:
    """Return the labels of an event, and the events that share some, the nearest first."""
    labels = cache.read(events.labels_of_events)
    # A site asks twice: what a page is made of, and then for the page.
    kin = cache.compute("related events", id, lambda: events.find_related_events(id, labels))
    return (labels[id][2] if id in labels else ()), kin


def graph_page(cache: LedgerCache, venue: str = "") -> WebPage:
    """Return the graph of the events of a venue as of now; empty if nothing was played."""
    try:
        found = cache.graph(Part(venue=venue))
    except UsageError:
        if venue:
            raise
        # The menu leads here, even if nothing was played.
        return WebPage(
            "graph", {"said": "Nothing was played yet.", "drawn": None, "marked": "", "listed": (), "grids": []}
        )
    drawn = layout_graph(found.graph, found.known.titles)
    grids = [grid for grid in graph_grids(found) if grid.rows]
    # Only the day, so that a page stays the same for a day.
    text = f"{graph_title(found.graph, f'{found.known.as_of:%Y-%m-%d}')}."
    marked = "" if drawn is None else marks_note(drawn, ())
    # An event that nobody decided on has no page.
    listed = cache.venues_of_events()
    shown = {"said": text, "drawn": drawn, "marked": marked, "listed": listed, "grids": grids}
    return WebPage("graph", shown)


def related_edges(cache: LedgerCache, id: str, run: str) -> tuple[tuple[str, str, Edge], ...]:
    """Return id, title and edge of each event that moves with one, the strongest first; `run` played it.

    The id is empty for an event without a page.
    """
    venue = next((each.venue for each in cache.runs_of(run) if not each.void), "")
    if not venue:
        return ()
    found = cache.graph(Part(venue=venue))
    listed = cache.venues_of_events()
    return tuple(
        (other if other in listed else "", found.known.titles[other], edge)
        for other, edge in found.graph.neighbours(id)
    )


_DAY = timedelta(days=1)
_ASSETS = 100
_NEWS_MARKS = 100
Prices = Sequence[tuple[datetime, float]]


def news_page(cache: LedgerCache, market: str = "", since: str = "", until: str = "", page_: int = 1) -> WebPage:
    """Return one page of what bots were shown, of one market or of all, newest slot first.

    Slots are from the day `since` to the day `until`, such as 2026-01-31; empty takes all. Raises
    `UsageError` if one is no day. Parts are numbered from 1.
    """
    asked = (market, day_of(since), end_of_day(until))
    part = pagination(cache.read(events.count_shown, *asked), page_, "/news", market=market, since=since, until=until)
    rows = cache.read(events.list_shown, *asked, first=(part["page"] - 1) * PAGE, most=PAGE)
    return WebPage(
        "news",
        {
            **part,
            "rows": [(same, *_prices_around(cache, same[0])) for same in alike(rows, _piece)],
            "market": market,
            "asset": next((each.asset for each in rows if each.market_id == market), market),
            "assets": () if market else cache.read(events.list_shown_markets, *asked[1:])[:_ASSETS],
            "chart": _chart(cache, market, rows) if market else None,
            "days": (since, until),
        },
        {"news": lambda: records(cache.read(events.list_shown, *asked))()},
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
    marks = [(each.published_at.timestamp(), each.name) for each in rows[:_NEWS_MARKS] if each.published_at is not None]
    own = next((_prices_of(cache, each) for each in rows if each.market_id == market), ())
    return price_chart(cache, own, {}, "Price, and the news of this page", marks)
