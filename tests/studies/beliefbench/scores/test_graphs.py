"""Graphs of labels: edges of different events, what the bot and S have in common, and the longest chain."""

from xml.etree import ElementTree

from predibot.reports.pictures.graph import GraphPicture
from predibot.studies.beliefbench.readings import graph_pictures
from predibot.studies.beliefbench.scores.cases import graph_table, label_graphs
from predibot.studies.beliefbench.scores.scores import UNREAD
from predibot.studies.beliefbench.scores.tables import PairFact, PairReadings
from tests.studies.table_rows import rows_of


def fact(first: str, second: str, score: float, event: str = "") -> PairFact:
    events = (event or first, event or second)
    label = min(4, int(score * 5))
    return PairFact("x", label, score, events, "2025-01-01", titles=(f"<{first}>", second), markets=(first, second))


FACTS = {
    "ab": fact("a", "b", 0.7),
    "bc": fact("c", "b", 0.2),
    "cd": fact("c", "d", 0.9),
    # Both are of one event.
    "ef": fact("e", "f", 0.9, "one"),
    "gh": fact("g", "h", 0.6),
}
READINGS = PairReadings(
    FACTS,
    {
        "bot": {"ab": 3, "bc": 4, "cd": 1, "ef": 4, "gh": UNREAD},
        "bot (strict)": {"ab": 3},
        "silent": {},
    },
)


def test_a_bots_edges_are_set_beside_those_of_S_on_the_pairs_that_it_labelled() -> None:
    table = graph_table(label_graphs(READINGS))
    of_score, bot = rows_of(table)
    assert (of_score["bot"], of_score["pairs"], of_score["edges"], of_score["groups"]) == ("S", 4, 3, 3)
    # The unreadable answer is in neither graph, and c-d is an edge of S alone.
    assert (bot["pairs"], bot["edges"], bot["edges of S"], bot["both"]) == (3, 2, 2, 1)
    assert (bot["in chain"], bot["chain"]) == (3, "<a> – b – <c>")


def test_the_picture_tells_what_both_say_from_what_one_says_and_names_of_others_are_text() -> None:
    (picture,) = graph_pictures(label_graphs(READINGS))
    assert isinstance(picture, GraphPicture)
    for text in (picture.svg(), picture.file()):
        root = ElementTree.fromstring(text)
        lines = [each for each in root.iter() if each.tag.endswith("line")]
        kinds = {str(each[0].text): each.get("class") for each in lines}
        assert kinds == {
            "bot says 0.6-0.8, S is 0.70: <a> – b": "edge",
            "bot says 0.8-1.0, S is 0.20: b – <c>": "bot",
            "bot says 0.2-0.4, S is 0.90: <c> – d": "score",
        }
    assert picture.name == "graph_bot"


def test_without_an_edge_there_is_no_picture() -> None:
    quiet = PairReadings({"bc": FACTS["bc"]}, {"bot": {"bc": 0}})
    assert [*graph_pictures(label_graphs(quiet))] == []
    assert graph_table(label_graphs(quiet)).rows[1][-1] is None
