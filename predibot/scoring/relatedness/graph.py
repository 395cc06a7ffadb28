"""The graph of beliefs: events joined by edges where S is high, their connected groups, and chains between two."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from predibot.scoring.relatedness.beliefs import Beliefs
from predibot.scoring.relatedness.clusters import RELATED
from predibot.scoring.relatedness.features import EQUAL, Features, Weights, pairs_from
from predibot.scoring.relatedness.filters import Filtered, Filters, filtered, open_days, overlap_days
from predibot.scoring.relatedness.texts import Embed


@dataclass(frozen=True, slots=True)
class Edge:
    """Two related events, the one with the smaller id first."""

    first: str
    second: str
    score: float
    """S of their most alike markets, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class BeliefGraph:
    """The events that are compared, and which of them are related."""

    events: tuple[str, ...]
    """By id."""
    edges: tuple[Edge, ...]
    """By their ids."""
    left_out: Filtered | None
    """Which markets the filters left out; None where they are off."""

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Return the connected groups of two events and more, the largest first, each by id."""
        _, group = sparse.csgraph.connected_components(self._lengths(), directed=False)
        members = [np.flatnonzero(group == number).tolist() for number in range(int(group.max(initial=-1)) + 1)]
        named = (tuple(self.events[row] for row in rows) for rows in members if len(rows) > 1)
        return tuple(sorted(named, key=lambda names: (-len(names), names)))

    def chain(self, first: str, second: str) -> tuple[str, ...] | None:
        """Return the events from one to another by the path whose edges' 1 - S add up to the least.

        None where they are not connected.

        Raises:
            ValueError: If one of them is not in the graph.
        """
        place = {name: row for row, name in enumerate(self.events)}
        for name in (first, second):
            if name not in place:
                raise ValueError(f"there is no event {name!r} in the graph")
        _, before = sparse.csgraph.dijkstra(
            self._lengths(), directed=False, indices=place[first], return_predecessors=True
        )
        path = [place[second]]
        while path[-1] != place[first]:
            previous = int(before[path[-1]])
            if previous < 0:
                return None
            path.append(previous)
        return tuple(self.events[row] for row in reversed(path))

    def _lengths(self) -> sparse.csr_array:
        place = {name: row for row, name in enumerate(self.events)}
        rows = [place[edge.first] for edge in self.edges]
        columns = [place[edge.second] for edge in self.edges]
        # An edge of length zero would be none.
        lengths = [max(1.0 - edge.score, 1e-12) for edge in self.edges]
        return sparse.csr_array((lengths, (rows, columns)), shape=(len(self.events),) * 2)


def belief_graph(
    beliefs: Beliefs,
    *,
    filters: Filters | None,
    at_least: float = RELATED,
    weights: Weights = EQUAL,
    embed: Embed | None = None,
) -> BeliefGraph:
    """Return the graph of all events, joined where S of their most alike markets is at least so much.

    Markets that were never open on one day are not compared, and those of one event are one.

    Args:
        beliefs: All markets.
        filters: Which of them are compared; None for all.
        at_least: The least S of an edge, in [0, 1].
        weights: Of the features.
        embed: What turns texts into vectors; TF-IDF where it is left out.

    Source:
        BeliefBench, section 8, whose edges are those above .6.
    """
    told = None if filters is None else filtered(beliefs, filters)
    compared = (beliefs if told is None else beliefs.only(told.kept)).in_order()
    events = tuple(dict.fromkeys(compared.event_ids))
    if not events:
        return BeliefGraph((), (), told)
    features = Features(compared, None if embed is None else embed(compared.texts))
    pairs = pairs_from(features, at_least, weights)
    first, last = open_days(compared)
    together = overlap_days(first, last, pairs.first, pairs.second) > 0
    best: dict[tuple[str, str], float] = {}
    for ours, theirs, score in zip(
        pairs.first[together].tolist(), pairs.second[together].tolist(), pairs.score[together].tolist(), strict=True
    ):
        # In the order of ids the first of a pair is the smaller.
        names = compared.event_ids[ours], compared.event_ids[theirs]
        if names[0] != names[1]:
            best[names] = max(score, best.get(names, 0.0))
    return BeliefGraph(events, tuple(Edge(*names, score) for names, score in sorted(best.items())), told)


def links(chain: Sequence[str], edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """Return the edges along a chain of events."""
    known: Mapping[frozenset[str], Edge] = {frozenset((edge.first, edge.second)): edge for edge in edges}
    return tuple(known[frozenset(pair)] for pair in pairwise(chain))
