"""The picture of the graph of beliefs: whole, harmless, and the same each time."""

from xml.etree import ElementTree

from predibot.reports.pictures.graph import MOST_DRAWN, graph_svg
from predibot.scoring.relatedness.graph import BeliefGraph, Edge

SPACE = "{http://www.w3.org/2000/svg}"
GRAPH = BeliefGraph(("a", "b", "c", "d"), (Edge("a", "b", 0.9), Edge("b", "c", 0.6)), None)
EVIL = '<script>alert(1)</script>\x1b[2J & "so" on'


def drawn(graph: BeliefGraph, titles: dict[str, str]) -> ElementTree.Element:
    return ElementTree.fromstring(graph_svg(graph, titles))


def test_every_event_of_a_group_has_a_circle_and_every_edge_a_line() -> None:
    root = drawn(GRAPH, dict.fromkeys("abcd", "Rain?"))
    assert len(root.findall(f"{SPACE}circle")) == 3
    lines = root.findall(f"{SPACE}line")
    assert len(lines) == 2
    widths = [float(line.attrib["stroke-width"]) for line in lines]
    assert widths[0] > widths[1]
    assert root.find(f"{SPACE}text").text == "1 group of related events; 1 event related to none"  # type: ignore[union-attr]
    assert root.attrib["role"] == "img"


def test_everything_lies_within_the_picture() -> None:
    names = [f"{number:03}" for number in range(120)]
    edges = tuple(Edge(names[10 * (n // 10)], names[n], 0.7) for n in range(120) if n % 10)
    root = drawn(BeliefGraph(tuple(names), edges, None), dict.fromkeys(names, "x"))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for circle in root.findall(f"{SPACE}circle"):
        assert 0.0 < float(circle.attrib["cx"]) < width
        assert 0.0 < float(circle.attrib["cy"]) < height


def test_titles_of_others_are_text_and_nothing_else() -> None:
    text = graph_svg(GRAPH, dict.fromkeys("abcd", EVIL))
    assert "<script" not in text
    assert "\x1b" not in text
    assert "&lt;script&gt;" in text
    assert drawn(GRAPH, dict.fromkeys("abcd", EVIL)) is not None


def test_the_same_graph_gives_the_same_bytes() -> None:
    titles = dict.fromkeys("abcd", "Rain?")
    assert graph_svg(GRAPH, titles) == graph_svg(GRAPH, titles)


def test_groups_that_are_too_many_to_read_are_counted() -> None:
    names = [f"{number:04}" for number in range(2 * MOST_DRAWN)]
    edges = tuple(Edge(first, second, 0.8) for first, second in zip(names[::2], names[1::2], strict=True))
    root = drawn(BeliefGraph(tuple(names), edges, None), dict.fromkeys(names, "x"))
    assert len(root.findall(f"{SPACE}circle")) == MOST_DRAWN
    assert f"{MOST_DRAWN // 2} groups not drawn" in str(root.find(f"{SPACE}text").text)  # type: ignore[union-attr]


def test_without_groups_it_says_so() -> None:
    root = drawn(BeliefGraph(("a",), (), None), {"a": "Rain?"})
    assert root.find(f"{SPACE}text").text == "0 groups of related events; 1 event related to none"  # type: ignore[union-attr]
