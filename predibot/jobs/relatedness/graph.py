"""The graph of beliefs of a ledger or an archive, with the dated news that touch it."""

from dataclasses import dataclass
from datetime import datetime

from predibot.domain.spelling import first_of, nearest
from predibot.errors import UsageError
from predibot.jobs.evaluate import asked_venues
from predibot.jobs.open_venue import Clock
from predibot.jobs.relatedness.beliefs import KnownBeliefs
from predibot.jobs.relatedness.embeddings import opened_embedding
from predibot.jobs.relatedness.neighbours import KnownAt, known_in_ledger
from predibot.ledger.read.details.news import DatedNews, dated_news
from predibot.ledger.store import Store
from predibot.scoring.relatedness.filters import Filters
from predibot.scoring.relatedness.graph import BeliefGraph, graph_of
from predibot.scoring.relatedness.news import Touched, jumps_of, touched_by

_NAMED = 10


@dataclass(frozen=True, slots=True)
class TouchingNews:
    """Something with a date, and what it touches."""

    news: DatedNews
    touched: tuple[Touched, ...]


@dataclass(frozen=True, slots=True)
class KnownGraph:
    """A graph, what its events are called, and the news that touch them."""

    as_of: datetime
    graph: BeliefGraph
    known: KnownBeliefs
    news: tuple[TouchingNews, ...] = ()
    """The newest first; none of an archive, which has read nothing."""
    chain: tuple[str, ...] = ()
    """The one that was asked for."""


def graph_at(
    at: KnownAt,
    *,
    filters: Filters | None,
    model: str | None = None,
    at_least: float,
    ends: tuple[str, str] | None = None,
    news: tuple[DatedNews, ...] = (),
) -> KnownGraph:
    """Return the graph of what is known as of an instant.

    Args:
        at: What is known.
        filters: Which markets are compared; None for all.
        model: The sentence-transformer that compares texts; None for TF-IDF.
        at_least: From which S on there is an edge.
        ends: The events between which a chain is asked for.
        news: What was read by then.

    Raises:
        UsageError: If no edge can be from there on, one of the ends is not in the graph, or there is no such model.
    """
    if not 0.0 < at_least <= 1.0:
        raise UsageError(f"--above is {at_least:g}; it must be above 0, and 1 at most")
    embed = None if model is None else opened_embedding(model)
    beliefs = at.known.beliefs
    graph = graph_of(beliefs, filters=filters, embed=embed, at_least=at_least)
    for each in ends or ():
        if each not in graph.events:
            near = nearest(each, graph.events)
            hint = f"Did you mean {near!r}?" if near else f"There are: {first_of(graph.events, _NAMED) or 'none'}"
            raise UsageError(f"event {each[:100]!r} is not among those that are compared. {hint}")
    jumps = jumps_of(beliefs)
    touching = tuple(
        TouchingNews(each, touched_by(int(each.published_at.timestamp() // 86_400), each.event_ids, graph, jumps))
        for each in news
    )
    return KnownGraph(at.as_of, graph, at.known, touching, graph.chain(*ends) if ends else ())


def graph_in_ledger(
    store: Store,
    *,
    venue: str | None,
    as_of: datetime | None,
    clock: Clock,
    filters: Filters | None,
    model: str | None = None,
    at_least: float,
    ends: tuple[str, str] | None = None,
) -> KnownGraph:
    """Return the graph of a ledger with the news that touch it, asking no venue.

    Raises:
        UsageError: As `known_in_ledger` and `graph_at`.
        LedgerUnusable: If the ledger holds what predibot does not write.
    """
    at = known_in_ledger(store, venue=venue, as_of=as_of, clock=clock)
    name = asked_venues(store, venue).name
    with store.read() as connection, store.rows_blamed():
        news = dated_news(connection, name, at.as_of)
    return graph_at(at, filters=filters, model=model, at_least=at_least, ends=ends, news=news)
