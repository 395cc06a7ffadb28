"""The graph as a picture: every event has a place of its own, and what others wrote stays text."""

from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

from predibot.related.graph import BeliefGraph, Edge, EventGroup
from predibot.reports.pictures.graph import graph_title, layout_graph, marks_note, svg_of

EVIL = "</title><script>alert(1)</script><a href='javascript:x'>&\x00\x1b[31m\u202e\ud800" + "A" * 5_000


def a_graph(*sizes: int) -> BeliefGraph:
    """Return a graph of rings of so many events."""
    edges, groups = list[Edge](), list[EventGroup]()
    for number, size in enumerate(sizes):
        names = [f"g{number}e{row:03}" for row in range(size)]
        pairs = zip(names, names[1:] + (names[:1] if size > 2 else []), strict=False)
        edges += [Edge(*sorted(pair), *sorted(pair), 0.6 + 0.4 * row / size) for row, pair in enumerate(pairs)]  # type: ignore[misc]
        groups.append(EventGroup(tuple(names), tuple(names[:2])))
    events = tuple(event for group in groups for event in group.events)
    return BeliefGraph(events, tuple(edges), tuple(groups), 0.6, len(events), None)


def test_each_event_has_a_place_within_the_picture_and_none_lies_on_another() -> None:
    drawn = layout_graph(a_graph(9, 5, 3, 2, 2), {})
    assert drawn is not None and len(drawn.nodes) == 21 and len(drawn.lines) == 9 + 5 + 3 + 1 + 1
    assert all(0.0 < each.x < drawn.width and 0.0 < each.y < drawn.height for each in drawn.nodes)
    for row, one in enumerate(drawn.nodes):
        for two in drawn.nodes[row + 1 :]:
            assert abs(one.x - two.x) > 30.0 or abs(one.y - two.y) > 30.0
    assert [each.kind for each in drawn.lines].count("chain") == 5


def test_the_same_graph_is_the_same_file() -> None:
    pictures = [layout_graph(a_graph(12, 4), {"g0e001": "One"}) for _ in range(2)]
    files = {svg_of(each, "Title") for each in pictures if each is not None}
    assert len(files) == 1


def test_titles_are_text_and_nothing_in_the_file_runs_or_leads_anywhere() -> None:
    graph = a_graph(3)
    drawn = layout_graph(graph, dict.fromkeys(graph.events, EVIL), graph.events[1:3])
    assert drawn is not None
    file = svg_of(drawn, EVIL)
    root = ElementTree.fromstring(file.encode())
    tags = {each.tag.partition("}")[2] for each in root.iter()}
    assert tags == {"svg", "title", "style", "line", "g", "circle", "text"}
    assert not [name for each in root.iter() for name in each.attrib if name.startswith("on") or "href" in name]
    assert len(file) < 20_000 and "prefers-color-scheme:dark" in file and "\x1b" not in file
    assert [each.kind for each in drawn.lines].count("chain") == 1


def test_groups_without_room_are_counted() -> None:
    drawn = layout_graph(a_graph(30, 8, 2), {}, most=12)
    assert drawn is not None and (len(drawn.nodes), drawn.not_drawn) == (12, 28)
    assert "28 more events" in marks_note(drawn, ())
    assert layout_graph(a_graph(), {}) is None
    dense = a_graph(26)
    edges = [
        replace(dense.edges[0], first=one, second=other, score=0.6 + number / 1000)
        for number, (one, other) in enumerate(combinations(dense.events, 2))
    ]
    drawn = layout_graph(replace(dense, edges=tuple(edges)), {})
    assert drawn is not None and (len(drawn.lines), drawn.edges_left_out) == (300, 25)
    assert "25 weaker ones are left out" in marks_note(drawn, ())
    assert (
        graph_title(a_graph(3), "now") == "Related events as of now: 3 edges of S 0.6 or more, 3 of 3 events in 1 group"
    )


def test_an_event_without_a_title_is_called_by_its_id() -> None:
    drawn = layout_graph(a_graph(2), {"g0e000": "\u202e"})
    assert drawn is not None and [each.label for each in drawn.nodes] == [("g0e000",), ("g0e001",)]
