"""The graph of beliefs: edges, connected groups, and chains."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from predibot.scoring.relatedness.features import scores_of
from predibot.scoring.relatedness.filters import Filters
from predibot.scoring.relatedness.graph import BeliefGraph, Edge, belief_graph, links
from tests.scoring.relatedness.made import from_logits, from_prices, groups_of, logits_in_groups

LINE = BeliefGraph(
    ("a", "b", "c", "d", "e", "f"),
    (Edge("a", "b", 0.9), Edge("a", "c", 0.6), Edge("b", "c", 0.8), Edge("c", "d", 0.7), Edge("e", "f", 1.0)),
    None,
)


def test_groups_are_the_connected_events_the_largest_first() -> None:
    assert LINE.groups == (("a", "b", "c", "d"), ("e", "f"))
    assert BeliefGraph(("a", "b"), (), None).groups == BeliefGraph((), (), None).groups == ()


def test_a_chain_is_the_shortest_path_over_what_lacks_to_one() -> None:
    """From a to c it is .1 + .2 by b, and .4 at once."""
    assert LINE.chain("a", "d") == ("a", "b", "c", "d")
    assert LINE.chain("d", "a") == ("d", "c", "b", "a")
    assert [edge.score for edge in links(("a", "b", "c"), LINE.edges)] == [0.9, 0.8]
    assert LINE.chain("f", "e") == ("f", "e")
    assert LINE.chain("a", "a") == ("a",)
    assert LINE.chain("a", "e") is None
    with pytest.raises(ValueError, match="no event 'g'"):
        LINE.chain("a", "g")


def test_chains_are_no_longer_than_any_path_there_is() -> None:
    rng = np.random.default_rng(0)
    names = tuple("abcdef")
    edges = tuple(
        Edge(first, second, float(rng.uniform(0.6, 1.0)))
        for number, first in enumerate(names)
        for second in names[number + 1 :]
        if rng.random() < 0.5
    )
    known = {frozenset((edge.first, edge.second)): 1.0 - edge.score for edge in edges}
    found = BeliefGraph(names, edges, None).chain("a", "f")
    paths = [("a", *some, "f") for k in range(5) for some in permutations("bcde", k)]
    lengths = [
        sum(known[frozenset(pair)] for pair in pairwise(path))
        for path in paths
        if all(frozenset(pair) in known for pair in pairwise(path))
    ]
    assert found is not None
    assert sum(known[frozenset(pair)] for pair in pairwise(found)) == pytest.approx(min(lengths))


def test_edges_are_the_most_alike_markets_of_two_events() -> None:
    logits = logits_in_groups(np.random.default_rng(3), groups_of(12, 3))
    events = [f"e{number // 2}" for number in range(12)]
    beliefs = from_logits(logits, events=events, texts=["rain"] * 12)
    scores = scores_of(beliefs)
    expected = {
        (f"e{a}", f"e{b}"): scores[2 * a : 2 * a + 2, 2 * b : 2 * b + 2].max()
        for a in range(6)
        for b in range(a + 1, 6)
    }
    found = {(edge.first, edge.second): edge.score for edge in belief_graph(beliefs, filters=None, at_least=0.7).edges}
    assert found == {names: score for names, score in expected.items() if score >= 0.7}
    assert found


def test_events_that_were_never_open_together_have_no_edge() -> None:
    prices = (0.5 + 0.01 * np.random.default_rng(0).normal(size=30) + 0.3 * (np.arange(30) > 15)).tolist()
    apart = from_prices([prices, prices], first_days=[0, 30], texts=["rain", "rain"])
    assert belief_graph(apart, filters=None, at_least=0.1).edges == ()
    together = from_prices([prices, prices], texts=["rain", "rain"])
    assert [edge.score for edge in belief_graph(together, filters=None).edges] == [1.0]


def test_filters_leave_events_out() -> None:
    flat = 0.001 * np.random.default_rng(0).normal(size=(2, 60))
    found = belief_graph(from_logits(flat), filters=Filters())
    assert found.events == ()
    assert found.left_out is not None
    assert found.left_out.flat == 2
