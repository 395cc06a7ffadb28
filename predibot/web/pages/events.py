"""The pages of events: a list of them, and one with its prices, forecasts and related events."""

from itertools import groupby

from predibot.domain.event import Event
from predibot.errors import UsageError
from predibot.ledger.read.details.events import RelatedEvent, find_related_events, labels_of_events, revisions_of
from predibot.ledger.read.event_facts import event_categories, events_of_ids
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import select_decisions, select_events, select_forecasts
from predibot.web.cache import LedgerCache
from predibot.web.drawing import history_of
from predibot.web.pages.graph import related_edges
from predibot.web.pages.page import WebPage, paginate, records
from predibot.web.rendering import line

_RELATED = 20
PRICES = 3
"""Most prices of an event in the list."""
_FORECASTS = 100
"""The newest forecasts of a market are shown; a page is no export."""
_UNANSWERED = 50


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
    played = cache.read(events_of_ids, tuple(each.event_id for each, _ in shown["rows"]))
    cards = [
        (each, kind, _prices(played[key])[:PRICES] if key in played else ())
        for each, kind in shown["rows"]
        for key in [(each.venue, each.event_id)]
    ]
    kinds = sorted({kind for _, kind in listed if kind})
    return WebPage(
        "events",
        {**shown, "rows": cards, "q": q, "category": category, "kinds": kinds},
        {"events": records([each for each, _ in rows])},
    )


def _prices(event: Event) -> tuple[float, ...]:
    """Return the price of YES of each market of two outcomes, the highest first."""
    two = (each.quote.price for each in event.markets if each.quote and not each.is_share and not each.is_named)
    return tuple(sorted((price.yes for price in two if price is not None), reverse=True))


def event_page(cache: LedgerCache, id: str) -> WebPage:
    """Return the page of an event: prices with forecasts, resolutions, and related events.

    Raises:
        UsageError: If nobody decided on it.
    """
    own = cache.read(select_decisions, RowFilter(event=id))
    if not own:
        raise UsageError(f"nobody decided on event {id[:60]!r}")
    said = cache.read(select_forecasts, RowFilter(event=id))
    by_market = sorted(said, key=lambda each: (each.market_id, each.slot_at))
    prices = cache.prices(id)
    markets = []
    for market_id, group in groupby(by_market, lambda each: each.market_id):
        rows = list(group)
        newest = rows[-_FORECASTS:]
        dots = [(each.decided_at, each.probability, f"{line(each.bot)}: {each.probability:.2f}") for each in newest]
        markets.append((newest, history_of(prices.get(market_id, ()), dots), len(rows)))
    labels, kin = events_sharing_labels(cache, id)
    return WebPage(
        "event",
        {
            "title": own[0].title,
            "id": id,
            "decisions": own,
            "markets": markets,
            "revisions": cache.store.run_read(lambda connection: revisions_of(connection, id)),
            "unanswered": [each for each in own if each.status != "recorded"][:_UNANSWERED],
            "labels": labels,
            "moving": related_edges(cache, id, own[0].run)[:_RELATED],
            "related": kin[:_RELATED],
            "all_related": len(kin),
        },
        {"forecasts": records(said)},
    )


def events_sharing_labels(cache: LedgerCache, id: str) -> tuple[tuple[str, ...], tuple[RelatedEvent, ...]]:
    """Return the labels of an event, and the events that share some, the nearest first."""
    labels = cache.read(labels_of_events)
    return (labels[id][2] if id in labels else ()), find_related_events(id, labels)
