"""Closer looks at labels: case studies of pairs, graphs of labels, and votes for the reasons of a pair."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from predibot.domain.untrusted_text import shorten
from predibot.related.graph import RELATED, BeliefGraph, Edge, connected_groups
from predibot.rows import grouped
from predibot.scoring.metrics.calibration import wilson_interval
from predibot.scoring.study_table import Cell, StudyTable
from predibot.studies.beliefbench.pairs import LABELS
from predibot.studies.beliefbench.scores.scores import CENTRES, UNREAD
from predibot.studies.beliefbench.scores.tables import PairReadings

CASES = 5
"""Most pairs of a bot and a number of hops."""
REASONS = 300
"""Most characters of reasons in the table; the page of the pair has all."""
HOPS = {"logical": "1+", "causal": "1+", "confounding": "0", "narrative": "0"}
"""By the kind of a bot's reasons: hops from one event to the other, 0 where both only share a subject."""
_NOT_JUDGED = "not judged"


def case_tables(readings: PairReadings) -> tuple[StudyTable, StudyTable]:
    """Return how labels with reasons compare with those without, by hops, and the pairs on which they differ most.

    BeliefBench, section 8 and appendix C, does not say how it counts hops; here the kind of the reasons decides, as a
    judge labels it.
    """
    compared: list[tuple[Cell, ...]] = []
    cases: list[tuple[Cell, ...]] = []
    for bot, other in _twins(readings):
        one, two, why = readings.answers[bot], readings.answers[other], readings.reasons[bot]
        # Of a label without a word there is nothing to compare.
        known = why.keys() & one.keys() & two.keys()
        both = sorted(pair for pair in known if UNREAD not in (one[pair], two[pair]))
        kinds = next((each for (_, judged), each in readings.judged.items() if judged == bot), {})
        by_hops = grouped((HOPS.get(kinds.get(pair, ""), _NOT_JUDGED), pair) for pair in both)
        for hops, pairs in (("(all)", both), *sorted(by_hops.items())):
            if pairs:
                compared.append((bot, other, hops, *_comparison(readings, pairs, one, two)))
        for hops, pairs in sorted(by_hops.items()):
            differ = sorted((-abs(one[pair] - two[pair]), pair) for pair in pairs if one[pair] != two[pair])
            for _, pair in differ[:CASES]:
                fact = readings.facts[pair]
                values = (LABELS[each] for each in (fact.label, two[pair], one[pair]))
                events = " / ".join(fact.titles)
                cases.append((bot, hops, *values, fact.score, kinds.get(pair), events, shorten(why[pair], REASONS)))
    columns = ("bot", "against", "hops", "pairs", "Acc", "Acc against", "MAE", "MAE against", "nearer", "further")
    note = (
        "hops: 0 where a judge says that reasons are confounding or narrative, 1+ where they are logical or causal. "
        "nearer and further count the pairs whose label with reasons is nearer to the true one, or further."
    )
    wanted = ("bot", "hops", "true", "without", "with", "S", "kind", "events", "reasons")
    title = "Pairs on which labels with and without reasons differ most"
    return (
        StudyTable.of("hops", "Labels with reasons against those of the same model without", columns, compared, note),
        StudyTable.of("cases", title, wanted, cases),
    )


def _twins(readings: PairReadings) -> Iterator[tuple[str, str]]:
    """Yield each bot that gives reasons, and the first of the same model that gives none."""
    for bot, model in readings.models.items():
        if readings.reasons.get(bot):
            others = (name for name, its in readings.models.items() if its == model and not readings.reasons.get(name))
            yield from ((bot, other) for other in [*others][:1])


def _comparison(
    readings: PairReadings, pairs: Collection[str], one: Mapping[str, int], two: Mapping[str, int]
) -> tuple[Cell, ...]:
    true, ours, theirs = (
        np.array([values[pair] for pair in pairs])
        for values in ({pair: readings.facts[pair].label for pair in pairs}, one, two)
    )
    off, off_theirs = (np.abs(CENTRES[each] - CENTRES[true]) for each in (ours, theirs))
    right, right_theirs = (float((each == true).mean()) for each in (ours, theirs))
    closer = np.abs(ours - true) - np.abs(theirs - true)
    errors = float(off.mean()), float(off_theirs.mean())
    return len(pairs), right, right_theirs, *errors, int((closer < 0).sum()), int((closer > 0).sum())


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


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text with reasons for a label, and the bots that wrote it."""

    text: str
    bots: tuple[str, ...]


Votes = Mapping[str, Mapping[str, Collection[str]]]
"""By rater and pair: the ids of the candidates that the rater chose, at least one."""


def candidates_of(readings: PairReadings) -> dict[str, dict[str, Candidate]]:
    """Return the candidate reasons by pair and id, of pairs that have two and more.

    Ids and order depend on the pair and the text alone, so that neither reveals who wrote it.
    """
    found: dict[str, dict[str, Candidate]] = {}
    for bot, reasons in readings.reasons.items():
        for pair, text in reasons.items():
            # A spreadsheet would take digits alone, or with an e among them, for a number.
            id_ = "r" + hashlib.sha256(f"{pair}\0{text}".encode()).hexdigest()[:10]
            known = found.setdefault(pair, {}).get(id_, Candidate(text, ()))
            found[pair][id_] = Candidate(text, (*known.bots, bot))
    return {pair: dict(sorted(texts.items())) for pair, texts in sorted(found.items()) if len(texts) > 1}


def vote_table(candidates: Mapping[str, Mapping[str, Candidate]], votes: Votes) -> StudyTable:
    """Return the share of votes for each bot's reasons, with Wilson's 95 % interval over pairs.

    A rater has one vote a pair, split evenly where several candidates were chosen; a pair without a
    choice is left out. A text of several bots counts for each of them.
    """
    shares: dict[str, list[tuple[str, str, float, float]]] = {}
    for rater, of_pair in votes.items():
        for pair, chosen in of_pair.items():
            shown = candidates[pair]
            for id_, candidate in shown.items():
                part = (id_ in chosen) / len(chosen)
                for bot in candidate.bots:
                    shares.setdefault(bot, []).append((rater, pair, part, 1.0 / len(shown)))
    rows: list[tuple[Cell, ...]] = []
    for bot, found in shares.items():
        raters, pairs, won, chance = zip(*found, strict=True)
        share = sum(won) / len(won)
        # Raters of one pair may agree by its ease alone, so they count as one.
        ((low,), (high,)) = wilson_interval([share], [len(set(pairs))])
        counts = len(set(raters)), len(set(pairs)), len(found)
        rows.append((bot, *counts, share, float(low), float(high), sum(chance) / len(chance)))
    rows.sort(key=lambda row: (-float(row[4] or 0.0), str(row[0])))
    note = (
        "share: of the votes on pairs where the bot's reasons were among the candidates, those for them; low and high "
        "are the ends of its 95 % interval, all raters of a pair as one; by chance: what blind choices would give."
    )
    columns = ("bot", "raters", "pairs", "votes", "share", "low", "high", "by chance")
    return StudyTable.of("votes", "Whose reasons people prefer", columns, rows, note)
