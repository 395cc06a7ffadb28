"""Clusters of related events: average linkage of S, which ignores common jumps that chance explains."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from predibot.related.beliefs import Beliefs
from predibot.related.change_points import change_points, daily_changes
from predibot.related.features import Features
from predibot.related.texts import tf_idf
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
