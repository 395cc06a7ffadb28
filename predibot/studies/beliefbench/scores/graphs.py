"""Graphs of labels: questions as nodes, and an edge where a bot's label, or S, is high enough for a relation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from predibot.related.clusters import RELATED
from predibot.related.graph import BeliefGraph, Edge, connected_groups
from predibot.scoring.study_table import Cell, StudyTable
from predibot.studies.beliefbench.pairs import LABELS
from predibot.studies.beliefbench.scores.scores import CENTRES, UNREAD
from predibot.studies.beliefbench.scores.tables import PairReadings


@dataclass(frozen=True, slots=True)
class LabelGraph:
    """The graph of a bot's labels, and that of S on the same pairs; pairs of one event are in neither."""

    bot: str
    graph: BeliefGraph
    """A graph of questions; an edge has the middle of its label's range."""
    of_score: BeliefGraph
    titles: Mapping[str, str]
    """By question."""
    labels: Mapping[frozenset[str], tuple[str, float]]
    """Label and S by both ends, of every pair that the bot labelled."""


def label_graphs(readings: PairReadings) -> tuple[LabelGraph, ...]:
    """Return the graph of S on all pairs, then that of each bot that labelled a pair.

    As in section 8 of BeliefBench, with edges above 0.6 and chains of them; the paper draws a bot's edges alone.
    """
    apart = {pair: fact for pair, fact in readings.facts.items() if len(set(fact.events)) == 2}
    titles = {name: title for fact in apart.values() for name, title in zip(fact.markets, fact.titles, strict=True)}
    true = {pair: fact.label for pair, fact in apart.items()}
    # A bot is there a second time where it put words around labels.
    own = {bot: labels for bot, labels in readings.answers.items() if not bot.endswith(" (strict)")}
    found = []
    for bot, labels in {"S": true, **own}.items():
        known = {pair: label for pair, label in labels.items() if pair in apart and label != UNREAD}
        scores = {pair: apart[pair].score for pair in known}
        of_bot = scores if bot == "S" else {pair: float(CENTRES[label]) for pair, label in known.items()}
        graph, of_score = (
            label_graph(_edge(*apart[pair].markets, score) for pair, score in each.items() if score >= RELATED)
            for each in (of_bot, scores)
        )
        words = {frozenset(apart[pair].markets): (LABELS[label], scores[pair]) for pair, label in known.items()}
        if known:
            found.append(LabelGraph(bot, graph, of_score, titles, words))
    return tuple(found)


def label_graph(edges: Iterable[Edge]) -> BeliefGraph:
    """Return the graph of edges between questions, the strongest first."""
    ordered = tuple(sorted(edges, key=lambda each: (-each.score, each.first, each.second)))
    nodes = tuple(sorted({name for each in ordered for name in (each.first, each.second)}))
    return BeliefGraph(nodes, ordered, tuple(connected_groups(nodes, ordered)), RELATED, len(nodes), None)


def _edge(one: str, other: str, score: float) -> Edge:
    first, second = sorted((one, other))
    return Edge(first, second, first, second, score)


def graph_table(graphs: Sequence[LabelGraph]) -> StudyTable:
    """Return how each graph compares with that of S, and its longest chain."""
    rows: list[tuple[Cell, ...]] = []
    for each in graphs:
        ours, theirs = ({(edge.first, edge.second) for edge in graph.edges} for graph in (each.graph, each.of_score))
        chain = max((group.chain for group in each.graph.groups), key=len, default=())
        words = " – ".join(each.titles[name] for name in chain)
        counts = len(ours), len(theirs), len(ours & theirs), len(each.graph.groups), len(chain)
        rows.append((each.bot, len(each.labels), *counts, words or None))
    note = (
        "Edges join questions of different events that are related by 0.6 or more, of the pairs that the bot labelled. "
        "The chain is the longest of the shortest paths over 1 - S, or over one minus the middle of the label."
    )
    columns = ("bot", "pairs", "edges", "edges of S", "both", "groups", "in chain", "chain")
    return StudyTable.of("graphs", "Graphs of labels beside that of S", columns, rows, note)
