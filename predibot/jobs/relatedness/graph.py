"""The graph of beliefs of a ledger or an archive, with the dated news that touch it."""

from dataclasses import dataclass

from predibot.errors import UsageError
from predibot.jobs.relatedness.beliefs import KnownBeliefs
from predibot.jobs.relatedness.embeddings import opened_embedding
from predibot.jobs.relatedness.neighbours import require_event
from predibot.ledger.read.details.news import DatedNews
from predibot.related.filters import Filters
from predibot.related.graph import BeliefGraph, graph_of
from predibot.related.news import Touched, jumps_of, touched_by


@dataclass(frozen=True, slots=True)
class TouchingNews:
    """Something with a date, and what it touches."""

    news: DatedNews
    touched: tuple[Touched, ...]


@dataclass(frozen=True, slots=True)
class KnownGraph:
    """A graph, what its events are called, and the news that touch them."""

    graph: BeliefGraph
    known: KnownBeliefs
    news: tuple[TouchingNews, ...] = ()
    """The newest first; none of an archive, which has read nothing."""
    chain: tuple[str, ...] = ()
    """The one that was asked for."""


def graph_at(
    known: KnownBeliefs,
    *,
    filters: Filters | None,
    model: str | None = None,
    at_least: float,
    ends: tuple[str, str] | None = None,
    news: tuple[DatedNews, ...] = (),
) -> KnownGraph:
    """Return the graph of what is known as of an instant.

    Args:
        known: What is known of markets.
        filters: Which markets are compared; None for all.
        model: The sentence-transformer that compares texts; None for TF-IDF.
        at_least: From which S on there is an edge.
        ends: The events between which a chain is asked for.
        news: What was read by then.

    Raises:
        UsageError: If no edge can be from there on, one of the ends is not in the graph, or there is no such model.
    """
    if not 0.0 < at_least <= 1.0:
        raise UsageError(f"--at-least is {at_least:g}; it must be above 0, and 1 at most")
    embed = None if model is None else opened_embedding(model)
    graph = graph_of(known.beliefs, filters=filters, embed=embed, at_least=at_least)
    for each in ends or ():
        require_event(each, graph.events)
    jumps = jumps_of(known.beliefs)
    touching = tuple(
        TouchingNews(each, touched_by(int(each.published_at.timestamp() // 86_400), each.event_ids, graph, jumps))
        for each in news
    )
    return KnownGraph(graph, known, touching, graph.chain(*ends) if ends else ())
