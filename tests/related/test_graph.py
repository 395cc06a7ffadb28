"""The graph of beliefs: which events are related, what belongs together by it, and the chains between two of them."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from predibot.related.beliefs import Beliefs
from predibot.related.features import TUNED
from predibot.related.filters import Filters
from predibot.related.graph import BeliefGraph, Edge, EventGroup, TouchedEvent, events_of_page, graph_of, jumps_of
from tests.related.made import FIRST_DAY, from_logits, from_prices, groups_of, logits_in_groups, scores_of

FLAT = [0.5, 0.52, 0.5, 0.52, 0.5, 0.52, 0.5, 0.52]
"""Without any change point."""


def a_graph(**scores: float) -> BeliefGraph:
    """Return a graph of events with names of one letter, by its edges, such as `ab=0.9`."""
    edges = tuple(Edge(name[0], name[1], name[0], name[1], score) for name, score in scores.items())
    return BeliefGraph(tuple("abcdefg"), edges, (), 0.6, 7, None)


def test_an_edge_is_the_largest_score_of_two_markets() -> None:
    beliefs = from_prices(
        [FLAT] * 4, texts=["rain", "snow", "rain", "wind"], tags=[["x"]] * 4, events=["b", "b", "a", "a"]
    )
    # Without jumps S is what tags and words could make it.
    (edge,) = graph_of(beliefs).edges
    assert edge == Edge("a", "b", "m0002", "m0000", pytest.approx(float(scores_of(beliefs, TUNED)[0, 2])))
    assert edge.score == pytest.approx(0.25 + 0.525)


def test_the_graph_is_that_of_a_loop_over_all_pairs_in_any_order() -> None:
    rng = np.random.default_rng(3)
    group = groups_of(12, 3)
    beliefs = from_logits(
        logits_in_groups(rng, group),
        texts=[f"the {('rain', 'snow', 'wind')[name]} of town {row}" for row, name in enumerate(group.tolist())],
        tags=[[str(name)] for name in group.tolist()],
    )
    scores = scores_of(beliefs, TUNED)
    by_loop = {
        (beliefs.event_ids[i], beliefs.event_ids[j]): round(float(scores[i, j]), 6)
        for i in range(12)
        for j in range(i + 1, 12)
        if scores[i, j] >= 0.6
    }
    found = graph_of(beliefs)
    assert {(each.first, each.second): round(each.score, 6) for each in found.edges} == by_loop
    assert [each.score for each in found.edges] == sorted((each.score for each in found.edges), reverse=True)
    shuffled = beliefs.only(rng.permutation(12).tolist())
    assert graph_of(shuffled) == found
    assert {len(each.events) for each in found.groups} == {4}


def test_events_that_were_never_open_together_have_no_edge() -> None:
    texts, tags = ["rain in March"] * 2, [["weather"]] * 2
    together = from_prices([FLAT] * 2, texts=texts, tags=tags)
    apart = from_prices([FLAT] * 2, texts=texts, tags=tags, first_days=[0, 50])
    assert len(graph_of(together, at_least=0.5).edges) == 1 and graph_of(apart, at_least=0.5).edges == ()


def test_without_markets_there_is_an_empty_graph_and_filters_say_what_they_did() -> None:
    empty: Beliefs = from_prices([FLAT]).only([])
    assert graph_of(empty).edges == graph_of(empty).groups == ()
    found = graph_of(from_prices([[0.5] * 20] * 2, texts=["rain"] * 2, tags=[["x"]] * 2), filters=Filters())
    assert found.edges == () and found.left_out is not None and found.left_out.flat == 2


def test_a_chain_is_the_shortest_of_all_paths() -> None:
    graph = a_graph(ab=0.9, bc=0.9, ac=0.7, cd=0.6, ad=0.61, ef=1.0)
    far = {(e.first, e.second): 1 - e.score for e in graph.edges}
    far |= {(b, a): d for (a, b), d in far.items()}

    def by_loop(start: str, end: str) -> float:
        paths = [(start, *middle, end) for n in range(3) for middle in permutations(set("abcd") - {start, end}, n)]
        return min(sum(far.get(pair, 9.0) for pair in pairwise(path)) for path in paths)

    for start, end in permutations("abcd", 2):
        path = graph.chain(start, end)
        assert sum(far[pair] for pair in pairwise(path)) == pytest.approx(by_loop(start, end))
        assert (path[0], path[-1]) == (start, end)
    assert graph.chain("a", "c") == ("a", "b", "c") and graph.chain("f", "e") == ("f", "e")
    assert graph.chain("a", "e") == () and graph.chain("a", "a") == ("a",)


def test_a_group_names_the_chain_between_those_furthest_apart() -> None:
    texts = ["one two three four", "three four five six", "five six seven eight"]
    found = graph_of(from_prices([FLAT] * 3, texts=texts, tags=[["x"]] * 3), at_least=0.26)
    # The first and the last share no word, and have no edge.
    assert found.groups == (EventGroup(("e0000", "e0001", "e0002"), ("e0000", "e0001", "e0002")),)
    assert len(found.edges) == 2
    assert graph_of(from_prices([FLAT] * 2, texts=["a", "b"])).groups == ()


def test_neighbours_are_told_strongest_first() -> None:
    graph = a_graph(ab=0.9, ca=0.7)
    assert [name for name, _ in graph.neighbours("a")] == ["b", "c"]
    assert [name for name, _ in graph.neighbours("c")] == ["a"] and graph.neighbours("z") == ()


def test_a_page_touches_what_it_was_read_for_and_its_neighbours() -> None:
    graph = a_graph(ab=0.9, ca=0.7, bd=0.8, bc=0.65)
    jumps = {"a": (10, 20), "c": (18, 21, 22), "b": (30,)}
    assert events_of_page(20, ["a"], graph, jumps) == (
        TouchedEvent("a", None, 20),
        TouchedEvent("b", 0.9, None),
        TouchedEvent("c", 0.7, 21),
    )
    assert [each.event_id for each in events_of_page(20, ["a", "b"], graph, jumps)] == ["a", "b", "d", "c"]
    assert events_of_page(0, ["z"], graph, {}) == (TouchedEvent("z", None, None),)


def test_jumps_are_the_change_points_of_an_events_markets() -> None:
    jump = [0.5, 0.51, 0.5, 0.51, 0.5, 0.51, 0.5, 0.51, 0.5, 0.8, 0.81, 0.8]
    found = jumps_of(from_prices([jump, FLAT, jump], events=["a", "b", "a"]))
    assert found == {"a": (FIRST_DAY + 9,)}
