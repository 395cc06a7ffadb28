"""What was decided about each event, and what its prices were."""

from itertools import groupby

from predibot.errors import UsageError
from predibot.ledger.read.details.events import labels_of_events, related_to, revisions_of
from predibot.ledger.read.rows_for_python import LedgerDecision
from predibot.web.curve import history_of
from predibot.web.pages.page import Page, paged
from predibot.web.rendering import line
from predibot.web.shelf import Shelf

_RELATED = 20


def events_page(shelf: Shelf, q: str = "", page_: int = 1) -> Page:
    """Return a part of the list of events, those with all of these words in their titles."""
    words = q.casefold().split()
    by_event = dict[str, list[LedgerDecision]]()
    for each in shelf.decisions():
        if each.subject_kind == "event":
            by_event.setdefault(each.subject_id, []).append(each)
    rows = [
        (subject, own)
        for subject, own in by_event.items()
        if all(word in (own[0].title or "").casefold() for word in words)
    ]
    return Page("events", {**paged(rows, page_, "/events", q=q), "q": q})


def event_page(shelf: Shelf, id: str) -> Page:
    """Return an event's prices with every forecast on them."""
    own = [each for each in shelf.decisions() if each.subject_id == id]
    if not own:
        raise UsageError(f"nobody decided on event {id[:60]!r}")
    said = [each for run in dict.fromkeys(each.run for each in own) for each in shelf.forecasts(run)]
    said = sorted((each for each in said if each.subject_id == id), key=lambda each: (each.market_id, each.slot_at))
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
            "decisions": own,
            "markets": markets,
            "revisions": shelf.store.run_read(lambda connection: revisions_of(connection, id)),
            "unanswered": [each for each in own if each.status != "recorded"],
            "labels": labels[id][2] if id in labels else (),
            "related": related[:_RELATED],
            "all_related": len(related),
        },
    )
