"""The graph of beliefs: related events, their clusters, connected groups of them, and chains between two events."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial.distance import squareform

from predibot.related.beliefs import Beliefs
from predibot.related.features import (
    TUNED,
    WITHIN_DAYS,
    Embed,
    Features,
    change_points,
    daily_changes,
    pairs_from,
    tf_idf,
)
from predibot.related.filters import FilterResult, Filters, apply_filters, open_days, overlap_days
from predibot.scoring.arguments import Floats, Ints

RELATED = 0.6
"""The least S of joined events and of neighbouring markets."""
FALSE_DISCOVERIES = 0.001
"""The accepted share of false alarms among pairs that are called joint jumpers."""
_LEAST_SHARED = 2
"""One common day is too few: two markets that jump once each coincide now and then."""
_CELLS_AT_ONCE = 4_000_000
_ROUNDING = 1e-6


def cluster_events(beliefs: Beliefs) -> Mapping[str, str]:
    """Return the cluster of each event, by event id; a cluster is named by its first event id.

    Clusters are joined by average linkage while their mean S is at least `RELATED`. S of two events is the largest S of
    their markets. Daily noise has change points that coincide by chance, so they count only for markets that jumped
    together more often than chance explains (`shared_jumps`).
    """
    beliefs = beliefs.in_order()
    names, event = np.unique(np.array(beliefs.event_ids, dtype=np.str_), return_inverse=True)
    if names.size < 2:
        return {str(name): str(name) for name in names}
    vectors, shared = tf_idf(beliefs.texts), shared_jumps(beliefs)
    # Without common jumps S is at most one half, so such an event stands alone.
    jumped = np.bincount(event, np.asarray(shared.sum(axis=1)), names.size) > 0.0
    kept = np.flatnonzero(jumped[event])
    alone, names = names[~jumped].tolist(), names[jumped]
    beliefs, vectors, shared = beliefs.only(kept), vectors[kept], shared[kept][:, kept]
    event = (np.cumsum(jumped) - 1)[event[kept]]
    if not names.size:
        return {name: name for name in alone}
    features = Features(beliefs, vectors)
    close = np.zeros((names.size, names.size), dtype=np.float32)
    for rows, columns, block in features.blocks():
        scores = block.restrict_jumps(shared[rows, columns].toarray()).scores()
        # The largest S of two events: first over columns, then over rows.
        ours, theirs = event[rows], event[columns]
        starts = np.flatnonzero(np.diff(theirs, prepend=-1))
        best = np.maximum.reduceat(np.nan_to_num(scores), starts, axis=1)
        np.maximum.at(close, (ours[:, np.newaxis], theirs[starts]), best.astype(np.float32))
    close = np.maximum(close, close.T)
    cluster = _average_linkage(close)
    first = {int(number): str(name) for number, name in zip(cluster[::-1], names[::-1], strict=True)}
    found = {str(name): first[int(number)] for name, number in zip(names, cluster, strict=True)}
    # By their ids, as if all had been compared.
    return dict(sorted({**dict(zip(alone, alone, strict=True)), **found}.items()))


def _average_linkage(close: NDArray[np.float32]) -> Ints:
    """Return the cluster of each of e events, (e,).

    Clusters can only join where two of their events are as close as the cut. So each connected group of such events
    is clustered by itself; most events stand alone.
    """
    near = close >= RELATED - _ROUNDING
    np.fill_diagonal(near, False)
    _, group = sparse.csgraph.connected_components(sparse.csr_array(near), directed=False)
    cluster = np.zeros(group.size, dtype=np.int64)
    for number in range(int(group.max()) + 1):
        members = np.flatnonzero(group == number)
        if members.size == 1:
            cluster[members] = members[0]
            continue
        apart = 1.0 - close[np.ix_(members, members)].astype(np.float64)
        np.fill_diagonal(apart, 0.0)
        tree = linkage(squareform(apart, checks=False), method="average")
        part = fcluster(tree, t=1.0 - RELATED + _ROUNDING, criterion="distance")
        _, first, code = np.unique(part, return_index=True, return_inverse=True)
        cluster[members] = members[first[code]]
    return cluster


def shared_jumps(beliefs: Beliefs) -> sparse.csr_array:
    """Return which markets of different events jumped together more often than chance explains, (n, n).

    A jump is a change point of a market's logits. Two unrelated markets have a hypergeometric number of common jumps,
    given the jumps of each on the days with a change in both. Benjamini and Hochberg's procedure at `FALSE_DISCOVERIES`
    picks the pairs with too many, over all pairs of different events. Fewer than two common days are never enough.

    Source:
        Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57(1), 289-300.
    """
    changes = daily_changes(beliefs.prices, logits=True)
    jumps = change_points(changes, beliefs.n)
    if not changes.day.size:
        return sparse.csr_array((beliefs.n, beliefs.n), dtype=np.bool_)
    first = int(changes.day.min())
    days = int(changes.day.max()) - first + 1
    jumped = jumps.by_day(first, days)
    moved = sparse.csr_array((np.ones(changes.day.size), (changes.market, changes.day - first)), (beliefs.n, days))
    _, event = np.unique(np.array(beliefs.event_ids, dtype=np.str_), return_inverse=True)
    sizes = np.bincount(event)
    pairs = (beliefs.n**2 - int((sizes**2).sum())) // 2
    found: list[tuple[Ints, Ints, Floats]] = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))]
    at_once = max(1, _CELLS_AT_ONCE // max(1, beliefs.n))
    for start in range(0, beliefs.n, at_once):
        rows = slice(start, min(beliefs.n, start + at_once))
        common = (jumped[rows] @ jumped.T).tocoo()
        ours, theirs = common.coords[0] + start, common.coords[1]
        candidate = (common.data >= _LEAST_SHARED) & (ours < theirs) & (event[ours] != event[theirs])
        ours, theirs, k = ours[candidate], theirs[candidate], common.data[candidate]
        for part in np.array_split(np.arange(k.size), max(1, k.size * days // _CELLS_AT_ONCE)):
            a, b, shared = ours[part], theirs[part], k[part]
            both = moved[a].multiply(moved[b])
            of_a, of_b = (np.asarray(both.multiply(jumped[each]).sum(axis=1)) for each in (a, b))
            chance = _chances(shared, np.asarray(both.sum(axis=1)), of_a, of_b)
            # A larger p-value is no discovery, whatever the others are.
            low = chance <= FALSE_DISCOVERIES
            found.append((a[low], b[low], chance[low]))
    ours, theirs, chance = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(chance, kind="stable")
    below = np.flatnonzero(chance[order] <= FALSE_DISCOVERIES * np.arange(1, chance.size + 1) / max(1, pairs))
    limit = chance[order][below[-1]] if below.size else -1.0
    significant = chance <= limit
    cells = (
        np.concatenate([ours[significant], theirs[significant]]),
        np.concatenate([theirs[significant], ours[significant]]),
    )
    return sparse.csr_array((np.ones(cells[0].size, dtype=np.bool_), cells), shape=(beliefs.n, beliefs.n))


def _chances(shared: Floats, days: Floats, of_a: Floats, of_b: Floats) -> Floats:
    cases, case = np.unique(np.stack([shared, days, of_a, of_b]), axis=1, return_inverse=True)
    chance = np.array([_tail(*map(int, each)) for each in cases.T], dtype=np.float64)
    return chance[case]


def _tail(shared: int, days: int, of_a: int, of_b: int) -> float:
    """Return the upper hypergeometric tail, as scipy.stats would; that takes a second to load."""
    k = np.arange(shared, min(of_a, of_b) + 1)
    logs = _log_choose(of_a, k) + _log_choose(days - of_a, of_b - k) - _log_choose(days, np.array(of_b))
    return float(np.exp(logs).sum())


def _log_choose(n: int, k: Ints) -> Floats:
    possible = (k >= 0) & (k <= n)
    ways = special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(np.maximum(n - k, 0) + 1.0)
    return np.where(possible, ways, -np.inf)


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
        """Return the shortest path over 1 - S between two of its events, both included; empty if they are not
        connected.
        """
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
        at_least: The least S of an edge, in (0, 1].
    """
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
