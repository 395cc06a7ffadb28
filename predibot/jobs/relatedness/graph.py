"""The graph of beliefs of a ledger or an archive, with the news that touch it, and the neighbours of an event in it."""

from collections.abc import Sequence
from dataclasses import dataclass

from predibot.domain.spelling import first_of, nearest
from predibot.errors import UsageError
from predibot.jobs.relatedness.beliefs import LabelledBeliefs
from predibot.jobs.relatedness.embeddings import open_embedding
from predibot.ledger.read.details.events import DatedNews
from predibot.related.filters import Filters
from predibot.related.graph import BeliefGraph, TouchedEvent, events_of_page, graph_of, jumps_of
from predibot.related.neighbours import Neighbourhood, neighbours_of

_NAMED = 10


@dataclass(frozen=True, slots=True)
class Relations:
    """The neighbours of an event, with titles."""

    found: Neighbourhood
    known: LabelledBeliefs
    text_port: str
    """`subject words`, or the sentence-transformer that compared the texts."""


def relations_of(event_id: str, known: LabelledBeliefs, *, filters: Filters | None, model: str | None) -> Relations:
    """Return the neighbours of an event; raise `UsageError` if nothing is known of it, or the model is not here."""
    embed = None if model is None else open_embedding(model)
    require_event(event_id, list(known.titles))
    found = neighbours_of(event_id, known.beliefs, filters=filters, embed=embed)
    return Relations(found, known, model or "subject words")


def require_event(event_id: str, known: Sequence[str]) -> None:
    """Raise a UsageError for an event that is not among the known ones."""
    if event_id not in known:
        near = nearest(event_id, known)
        hint = f"Did you mean {near!r}?" if near else f"There are: {first_of(known, _NAMED) or 'none'}"
        raise UsageError(f"no market of an event {event_id[:100]!r} is known at that instant. {hint}")


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
