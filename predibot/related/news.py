"""News: which events a dated page touches, directly or through related events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from predibot.related.beliefs import Beliefs
from predibot.related.change_points import change_points, daily_changes
from predibot.related.features import WITHIN_DAYS
from predibot.related.graph import BeliefGraph


@dataclass(frozen=True, slots=True)
class TouchedEvent:
    """An event that a page touches."""

    event_id: str
    score: float | None
    """S with the event of the page's search; None for that event itself."""
    jumped_on: int | None
    """The nearest day since 1970 on which one of its markets jumped, less than two days off the page's."""


def events_of_page(
    day: int, read_for: Sequence[str], graph: BeliefGraph, jumps: Mapping[str, Sequence[int]]
) -> tuple[TouchedEvent, ...]:
    """Return the events that a page of a day since 1970 touches: those it was read for, then their neighbours."""
    scores: dict[str, float] = {}
    for event in read_for:
        for other, edge in graph.neighbours(event):
            if other not in read_for:
                scores[other] = max(edge.score, scores.get(other, 0.0))
    near = [(event, None) for event in read_for]
    found: list[tuple[str, float | None]] = [*near, *sorted(scores.items(), key=lambda each: (-each[1], each[0]))]
    return tuple(TouchedEvent(event, score, _nearest(day, jumps.get(event, ()))) for event, score in found)


def jumps_of(beliefs: Beliefs) -> Mapping[str, tuple[int, ...]]:
    """Return the days since 1970 on which markets of each event jumped, by event."""
    points = change_points(daily_changes(beliefs.prices), beliefs.n)
    days: dict[str, set[int]] = {}
    for market, day in zip(points.market.tolist(), points.day.tolist(), strict=True):
        days.setdefault(beliefs.event_ids[market], set()).add(day)
    return {event: tuple(sorted(each)) for event, each in days.items()}


def _nearest(day: int, jumped: Sequence[int]) -> int | None:
    if not jumped:
        return None
    days = np.asarray(jumped)
    # Ties go to the earlier day.
    best = int(days[np.argmin(np.abs(days - day))])
    return best if abs(best - day) < WITHIN_DAYS else None
