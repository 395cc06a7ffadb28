"""The neighbours of one event, with titles."""

from collections.abc import Sequence
from dataclasses import dataclass

from predibot.domain.spelling import first_of, nearest
from predibot.errors import UsageError
from predibot.jobs.relatedness.beliefs import LabelledBeliefs
from predibot.jobs.relatedness.embeddings import open_embedding
from predibot.related.filters import Filters
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
