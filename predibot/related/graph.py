"""The graph of beliefs: related events, connected groups of them, and chains between two events."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra

from predibot.related.beliefs import Beliefs
from predibot.related.clusters import RELATED
from predibot.related.features import TUNED, Features, pairs_from
from predibot.related.filters import FilterResult, Filters, apply_filters, open_days, overlap_days
from predibot.related.texts import Embed
from predibot.scoring.arguments import Floats

_NEAREST = 1e-9
"""The distance at S = 1; zero would be no edge."""
_MOST_SPANNED = 200
"""Larger groups have no longest chain."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Two related events, joined by their most alike markets; the first has the lower id."""

    first: str
    second: str
    first_market: str
    second_market: str
    score: float


@dataclass(frozen=True, slots=True)
class EventGroup:
    """Events that are connected, directly or through others."""

    events: tuple[str, ...]
    """In the order of ids."""
    chain: tuple[str, ...]
    """The shortest path between the two furthest apart; empty for a group that is too large."""


@dataclass(frozen=True, slots=True)
class BeliefGraph:
    """Events as nodes, and an edge where S is large enough."""

    events: tuple[str, ...]
    """All compared events, in the order of ids."""
    edges: tuple[Edge, ...]
    """The strongest first."""
    groups: tuple[EventGroup, ...]
    """The largest first."""
    at_least: float
    markets: int
    """Filtered ones too."""
    left_out: FilterResult | None
    """None without filters."""

    def neighbours(self, event_id: str) -> tuple[tuple[str, Edge], ...]:
        """Return the events that share an edge with one, the strongest first."""
        return tuple(
            (each.second if each.first == event_id else each.first, each)
            for each in self.edges
            if event_id in (each.first, each.second)
        )

    def chain(self, first: str, second: str) -> tuple[str, ...]:
        """Return the shortest path over 1 - S between two events, both included; empty if they are not connected.

        Raises `ValueError` if one is not in the graph.
        """
        for each in (first, second):
            if each not in self.events:
                raise ValueError(f"event {each[:100]!r} is not in the graph")
        start, end = self.events.index(first), self.events.index(second)
        _, before = dijkstra(_distances(self.events, self.edges), indices=start, return_predecessors=True)
        return tuple(self.events[row] for row in _path(before, start, end))


def graph_of(
    beliefs: Beliefs,
    *,
    filters: Filters | None = None,
    embed: Embed | None = None,
    at_least: float = RELATED,
) -> BeliefGraph:
    """Return the graph of events that were open on a common day and have a high enough S.

    S of two events is the largest S of their markets. As in section 7 of BeliefBench: edges above 0.6, chains by
    shortest path over 1 - S.

    Args:
        filters: Which markets are compared; None for all.
        embed: Turns texts into vectors; left out, by the words of their subjects.
        at_least: The least S of an edge; raises `ValueError` if it is not in (0, 1].
    """
    if not 0.0 < at_least <= 1.0:
        raise ValueError(f"an edge is from S = {at_least:g} on; it must be above 0, and 1 at most")
    left_out = None if filters is None else apply_filters(beliefs, filters)
    compared = (beliefs if left_out is None else beliefs.only(left_out.kept)).in_order()
    pairs = pairs_from(Features(compared, None if embed is None else embed(compared.texts), TUNED), at_least)
    first_day, last_day = open_days(compared)
    together = overlap_days(first_day, last_day, pairs.first, pairs.second) > 0
    best: dict[tuple[str, str], Edge] = {}
    for row in np.flatnonzero(together).tolist():
        ours, theirs = int(pairs.first[row]), int(pairs.second[row])
        one, other = compared.event_ids[ours], compared.event_ids[theirs]
        score = float(pairs.score[row])
        if one != other and ((one, other) not in best or score > best[one, other].score):
            best[one, other] = Edge(one, other, compared.market_ids[ours], compared.market_ids[theirs], score)
    edges = tuple(sorted(best.values(), key=lambda each: (-each.score, each.first, each.second)))
    events = tuple(dict.fromkeys(compared.event_ids))
    return BeliefGraph(events, edges, tuple(connected_groups(events, edges)), at_least, beliefs.n, left_out)


def connected_groups(events: tuple[str, ...], edges: tuple[Edge, ...]) -> Iterator[EventGroup]:
    """Yield the groups of two and more connected events, the largest first."""
    apart = _distances(events, edges)
    _, group = connected_components(apart, directed=False)
    members = [np.flatnonzero(group == number) for number in np.flatnonzero(np.bincount(group) > 1)]
    for rows in sorted(members, key=lambda each: (-each.size, int(each[0]))):
        chain: list[int] = []
        if rows.size <= _MOST_SPANNED:
            far, before = dijkstra(apart[rows][:, rows], return_predecessors=True)
            # Ties go to the lower ids.
            start, end = divmod(int(np.argmax(np.round(far, 9))), rows.size)
            chain = [int(rows[row]) for row in _path(before[start], start, end)]
        yield EventGroup(tuple(events[row] for row in rows), tuple(events[row] for row in chain))


def _distances(events: tuple[str, ...], edges: tuple[Edge, ...]) -> sparse.csr_array:
    place = {event: row for row, event in enumerate(events)}
    ends = np.array([(place[each.first], place[each.second]) for each in edges], dtype=np.int64).reshape(-1, 2)
    far: Floats = np.array([max(_NEAREST, 1.0 - each.score) for each in edges])
    cells = (np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]]))
    return sparse.csr_array((np.concatenate([far, far]), cells), shape=(len(events), len(events)))


def _path(before: "np.ndarray[tuple[int], np.dtype[np.int32]]", start: int, end: int) -> list[int]:
    found = [end]
    while found[-1] != start:
        if before[found[-1]] < 0:
            return []
        found.append(int(before[found[-1]]))
    return found[::-1]
