"""The graph of beliefs of a ledger or an archive, with the dated news that touch it."""

from dataclasses import dataclass

from predibot.errors import UsageError
from predibot.jobs.relatedness.beliefs import LabelledBeliefs
from predibot.jobs.relatedness.embeddings import open_embedding
from predibot.jobs.relatedness.neighbours import require_event
from predibot.ledger.read.details.news import DatedNews
from predibot.related.filters import Filters
from predibot.related.graph import BeliefGraph, graph_of
from predibot.related.news import TouchedEvent, events_of_page, jumps_of


@dataclass(frozen=True, slots=True)
class NewsImpact:
    """A dated page and the events that it touches."""

    news: DatedNews
    touched: tuple[TouchedEvent, ...]


@dataclass(frozen=True, slots=True)
class LabelledGraph:
    """A graph with the titles of its events and the news that touch them."""

    graph: BeliefGraph
    known: LabelledBeliefs
    news: tuple[NewsImpact, ...] = ()
    """The newest first; empty for an archive."""
    chain: tuple[str, ...] = ()
    """The chain between the two `ends`."""


def find_graph(
    known: LabelledBeliefs,
    *,
    filters: Filters | None,
    model: str | None = None,
    at_least: float,
    ends: tuple[str, str] | None = None,
    news: tuple[DatedNews, ...] = (),
) -> LabelledGraph:
    """Return the graph of beliefs with its news and chain.

    Raises:
        UsageError: If `at_least` is out of range, an end is not in the graph, or there is no such model.
    """
    if not 0.0 < at_least <= 1.0:
        raise UsageError(f"--at-least is {at_least:g}; it must be above 0, and 1 at most")
    embed = None if model is None else open_embedding(model)
    graph = graph_of(known.beliefs, filters=filters, embed=embed, at_least=at_least)
    for each in ends or ():
        require_event(each, graph.events)
    jumps = jumps_of(known.beliefs)
    touching = tuple(
        NewsImpact(each, events_of_page(int(each.published_at.timestamp() // 86_400), each.event_ids, graph, jumps))
        for each in news
    )
    return LabelledGraph(graph, known, touching, graph.chain(*ends) if ends else ())
