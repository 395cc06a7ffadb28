"""Clusters of related events: average linkage of S, and which jumps chance does not explain."""

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import hypergeom

from predibot.related.beliefs import Beliefs
from predibot.related.features import Features
from predibot.related.graph import cluster_events, shared_jumps
from tests.related.made import from_logits, groups_of, logits_in_groups, random_words, scores_of
from tests.related.related_worlds import sizes_of, told_by

WORLDS = 8


def area_under_the_curve(same: np.ndarray, scores: np.ndarray) -> float:
    """Return how often a pair of one group has a higher score than another pair, ties counted by half."""
    order = np.argsort(scores, kind="stable")
    _, code = np.unique(scores[order], return_inverse=True)
    rank = (np.bincount(code, np.arange(1, scores.size + 1)) / np.bincount(code))[code]
    hits = same[order]
    n = hits.sum()
    return float((rank[hits].sum() - n * (n + 1) / 2) / (n * (~hits).sum()))


def auc(beliefs: Beliefs, group: np.ndarray) -> float:
    upper = np.triu_indices(beliefs.n, 1)
    return area_under_the_curve((group[:, np.newaxis] == group)[upper], scores_of(beliefs)[upper])


def world(seed: int, *, related: bool, events: int = 80, groups: int = 16) -> tuple[Beliefs, np.ndarray]:
    """Return events in groups with their own tags and shared jumps, or unrelated ones with one text and one tag."""
    generator = np.random.default_rng(seed)
    group = groups_of(events, groups)
    if not related:
        logits = logits_in_groups(generator, np.arange(events))
        return from_logits(logits, texts=["Will it rain?"] * events, tags=[["weather"]] * events), group
    texts = random_words(generator, events)
    return from_logits(logits_in_groups(generator, group), texts=texts, tags=[[f"tag{k}"] for k in group]), group


def test_s_tells_markets_that_jump_together_from_the_others() -> None:
    generator, group = np.random.default_rng(0), groups_of(400, 40)
    for texts in (random_words(generator, 400), ["Will it rain?"] * 400):
        assert auc(from_logits(logits_in_groups(generator, group), texts=texts), group) >= 0.95


def test_s_tells_nothing_where_there_is_nothing_to_tell() -> None:
    generator, group = np.random.default_rng(0), groups_of(400, 40)
    logits = logits_in_groups(generator, group, shared=0)
    assert 0.4 <= auc(from_logits(logits, texts=["Will it rain?"] * 400), group) <= 0.6


def test_unrelated_events_with_equal_texts_and_tags_never_become_one() -> None:
    for seed in range(WORLDS):
        beliefs, _ = world(seed, related=False)
        assert sizes_of(cluster_events(beliefs)) == (1,) * 80


def test_noise_alone_joins_nobody() -> None:
    logits = logits_in_groups(np.random.default_rng(0), groups_of(80, 16), shared=0)
    assert sizes_of(cluster_events(from_logits(logits, texts=["rain"] * 80, tags=[["t"]] * 80))) == (1,) * 80


def test_clusters_are_the_same_in_any_order_of_the_markets() -> None:
    beliefs, _ = world(5, related=True)
    order = np.random.default_rng(0).permutation(beliefs.n)
    assert cluster_events(beliefs.only(order.tolist())) == cluster_events(beliefs)


def test_an_event_is_as_near_as_the_nearest_of_its_markets() -> None:
    """Markets 0 and 2 are of one group, 1 and 3 of none; 0 and 1 are one event, 2 and 3 another."""
    generator = np.random.default_rng(1)
    logits = logits_in_groups(generator, np.array([0, 1, 0, 2]))
    beliefs = from_logits(logits, events=["a", "a", "b", "b"], texts=["rain"] * 4, tags=[["t"]] * 4)
    assert sizes_of(cluster_events(beliefs)) == (2,)
    assert sizes_of(cluster_events(beliefs.only([1, 2, 3]))) == (1, 1)


def test_one_event_is_a_cluster_and_none_are_none() -> None:
    beliefs, _ = world(0, related=True)
    assert sizes_of(cluster_events(beliefs.only([0]))) == (1,)
    assert sizes_of(cluster_events(beliefs.only([]))) == ()


def test_shared_jumps_are_those_whose_number_chance_does_not_explain() -> None:
    """By a loop over all pairs: the hypergeometric tail, and the step-up procedure."""
    beliefs, _ = world(11, related=True, events=24, groups=6)
    price = beliefs.prices.price_yes.reshape(24, -1)
    change = np.diff(np.log(price / (1 - price)), axis=1)
    jumps = np.abs(change - change.mean(axis=1, keepdims=True)) > 2 * change.std(axis=1, ddof=1, keepdims=True)
    pairs = [(a, b) for a in range(24) for b in range(a + 1, 24)]
    chance = {}
    for a, b in pairs:
        shared = int((jumps[a] & jumps[b]).sum())
        tail = hypergeom.sf(shared - 1, change.shape[1], jumps[a].sum(), jumps[b].sum())
        chance[a, b] = tail if shared >= 2 else 1.0
    ranked = sorted(pairs, key=chance.__getitem__)
    last = max(rank for rank, pair in enumerate(ranked, 1) if chance[pair] <= 0.001 * rank / len(pairs))
    found = shared_jumps(beliefs).toarray()
    assert (found == found.T).all()
    assert {(int(a), int(b)) for a, b in zip(*np.nonzero(np.triu(found)), strict=True)} == set(ranked[:last])


def test_markets_of_one_event_prove_nothing() -> None:
    logits = logits_in_groups(np.random.default_rng(3), np.zeros(3, dtype=np.int64))
    assert shared_jumps(from_logits(logits, events=["a", "a", "a"])).nnz == 0
    assert shared_jumps(from_logits(logits, events=["a", "a", "b"])).nnz == 4


def test_two_equals_are_hardly_ever_told_apart_and_two_that_differ_still_are() -> None:
    """Of ten worlds; tests/benchmarks measures a thousand."""
    told = [told_by(seed) for seed in range(10)]
    assert np.median([each.groups_found for each in told]) >= 12
    apart = {
        name: np.mean([np.array(each.p_values[name]) <= 0.05 for each in told], axis=0) for name in ("equal", "better")
    }
    # Each event by itself, and related ones joined.
    assert apart["equal"][0] >= 0.2
    assert apart["equal"][1] <= 0.07
    assert apart["better"][1] >= 0.8


def test_events_that_jumped_with_nobody_are_passed_over_without_a_difference() -> None:
    """By a loop over all events: scipy's tree of 1 - S, S being without change points where no jumps are shared."""
    group = np.concatenate([groups_of(20, 5), np.arange(5, 25)])
    rng = np.random.default_rng(9)
    texts = [*random_words(rng, 20), *["Will it rain?"] * 20]
    tags = [[f"tag{number}"] for number in group[:20]] + [["weather"]] * 20
    beliefs = from_logits(logits_in_groups(rng, group), texts=texts, tags=tags)
    block = Features(beliefs).block(slice(0, 40), slice(0, 40))
    apart = 1.0 - block.restrict_jumps(shared_jumps(beliefs).toarray()).scores()
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform(apart), method="average")
    label = fcluster(tree, t=0.4, criterion="distance")
    first = {number: beliefs.event_ids[int(np.argmax(label == number))] for number in label}
    expected = {name: first[number] for name, number in zip(beliefs.event_ids, label, strict=True)}
    assert cluster_events(beliefs) == expected
    assert len(set(expected.values())) <= 28
