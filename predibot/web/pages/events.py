"""What was decided about each event, and what its prices were."""

from itertools import groupby

from predibot.errors import UsageError
from predibot.ledger.read.details.events import labels_of_events, related_to, revisions_of
from predibot.ledger.read.rows_for_python import Asked
from predibot.web.curve import history_of
from predibot.web.pages.page import Page, paged, records
from predibot.web.rendering import line
from predibot.web.shelf import Shelf

_RELATED = 20


def events_page(shelf: Shelf, q: str = "", page_: int = 1) -> Page:
    """Return a part of the list of events, those with all of these words in their titles."""
    words = q.casefold().split()
    rows = [each for each in shelf.events() if all(word in each.title.casefold() for word in words)]
    return Page("events", {**paged(rows, page_, "/events", q=q), "q": q}, {"events": records(rows)})


def event_page(shelf: Shelf, id: str) -> Page:
    """Return an event's prices with every forecast on them.

    Raises:
        UsageError: If nobody decided on it.
    """
    own = shelf.told(Asked(event=id))
    if not own:
        raise UsageError(f"nobody decided on event {id[:60]!r}")
    said = sorted(shelf.forecasts(Asked(event=id)), key=lambda each: (each.market_id, each.slot_at))
    prices = shelf.prices(id)
    markets = []
    for market_id, group in groupby(said, lambda each: each.market_id):
        rows = list(group)
        dots = [(each.decided_at, each.probability, f"{line(each.bot)}: {each.probability:.2f}") for each in rows]
        markets.append((rows, history_of(prices.get(market_id, ()), dots)))
    labels = shelf.once("labels", None, lambda: shelf.store.run_read(labels_of_events))
    related = related_to(id, labels)
    return Page(
        "event",
        {
            "title": own[0].title,
            "id": id,
            "decisions": own,
            "markets": markets,
            "revisions": shelf.store.run_read(lambda connection: revisions_of(connection, id)),
            "unanswered": [each for each in own if each.status != "recorded"],
            "labels": labels[id][2] if id in labels else (),
            "related": related[:_RELATED],
            "all_related": len(related),
        },
        {"forecasts": records(said)},
    )
