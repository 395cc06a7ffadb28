"""The figures of BeliefBench, from its tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from predibot.related.graph import Edge
from predibot.reports.cells import CellPicture, Panel
from predibot.reports.pictures.graph import EdgeKind, GraphPicture
from predibot.scoring.study_table import Cell, StudyTable
from predibot.studies.beliefbench.scores.graphs import LabelGraph, label_graph

_METRICS = ("MSE", "MAE", "Acc", "F1", "QWK")
_ERRORS = ("MSE", "MAE")
_Record = Mapping[str, Cell]


def beliefbench_pictures(tables: Sequence[StudyTable]) -> tuple[CellPicture, ...]:
    """Return the figures that have something to show: the paper's 3, 4, 5 and 7."""
    records = {each.name: [dict(zip(each.columns, row, strict=True)) for row in each.rows] for each in tables}
    changes, kinds = records.get("changes", []), ("logical", "causal", "confounding", "narrative")
    change_note = "Part of the score before the cutoff; below zero the model is worse after it, errors included."
    found = (
        CellPicture(
            "domains",
            "How well each bot relates questions, by domain (Figure 3)",
            tuple(_normalised(records.get("domains", []))),
            "shade",
            "Each score from 0 for the worst to 1 for the best bot of the domain, errors turned round; best mean "
            "first.",
        ),
        CellPicture(
            "after_cutoff",
            "Change of MSE after the models' knowledge cutoff (Figure 4)",
            tuple(_panel(name, rows, "bot", ["MSE"]) for name, rows in _by(changes, "domain")),
            "bar",
            change_note,
        ),
        CellPicture(
            "reasons",
            "What reasons rest on, as a judge says (Figure 5)",
            tuple(_panel(name, rows, "domain", kinds) for name, rows in _by(records.get("reasons", []), "bot")),
            "shade",
            "Shares of a bot's reasons.",
        ),
        CellPicture(
            "after_cutoff_all",
            "Change of every score after the models' knowledge cutoff (Figure 7)",
            tuple(_panel(name, rows, "bot", _METRICS) for name, rows in _by(changes, "domain")),
            "bar",
            change_note,
        ),
    )
    return tuple(each for each in found if not each.is_empty)


def graph_pictures(graphs: Sequence[LabelGraph]) -> Iterator[GraphPicture]:
    """Yield a picture for each bot beside S, the paper's Figure 6; none where neither has an edge."""
    for each in graphs[1:]:
        scores = {_ends(edge): edge for edge in each.of_score.edges}
        edges = {_ends(edge): edge for edge in each.graph.edges}
        both = label_graph((scores | edges).values())
        if both.edges:
            compared: dict[frozenset[str], tuple[EdgeKind, str]] = {
                ends: (
                    "score" if ends not in edges else "edge" if ends in scores else "bot",
                    f"{each.bot} says {each.said[ends][0]}, S is {each.said[ends][1]:.2f}",
                )
                for ends in scores | edges
            }
            yield GraphPicture(
                f"graph_{each.bot}",
                f"Related questions as {each.bot} labels them, beside S (Figure 6)",
                "An edge joins two questions of different events that the bot or S finds related by 0.6 or more, of "
                "the pairs that it labelled. Grey: both; orange: the bot alone; blue and dashed: S alone.",
                both,
                each.titles,
                compared,
            )


def _ends(edge: Edge) -> frozenset[str]:
    return frozenset((edge.first, edge.second))


def _by(records: Iterable[_Record], column: str) -> Iterable[tuple[str, list[_Record]]]:
    found: dict[str, list[_Record]] = {}
    for each in records:
        found.setdefault(str(each[column]), []).append(each)
    return found.items()


def _panel(name: str, records: Sequence[_Record], row: str, columns: Sequence[str]) -> Panel:
    values = tuple(tuple(_number(each[column]) for column in columns) for each in records)
    return Panel(name, tuple(str(each[row]) for each in records), tuple(columns), values)


def _number(cell: Cell) -> float | None:
    return None if cell is None or isinstance(cell, str) else float(cell)


def _normalised(records: Sequence[_Record]) -> Iterable[Panel]:
    """Yield a panel for each domain with scores between those of the worst and the best bot."""
    panels = [_panel(name, rows, "bot", _METRICS) for name, rows in _by(records, "domain")]
    scaled = [
        Panel(p.name, p.rows, p.columns, tuple(zip(*map(_scaled, _METRICS, zip(*p.values, strict=True)), strict=True)))
        for p in panels
    ]
    sums: dict[str, list[float]] = {}
    for panel in scaled:
        for bot, values in zip(panel.rows, panel.values, strict=True):
            sums.setdefault(bot, []).extend(value for value in values if value is not None)
    for panel in scaled:
        order = sorted(zip(panel.rows, panel.values, strict=True), key=lambda each: (-_mean(sums[each[0]]), each[0]))
        yield Panel(panel.name, tuple(bot for bot, _ in order), panel.columns, tuple(values for _, values in order))


def _scaled(metric: str, values: Sequence[float | None]) -> tuple[float | None, ...]:
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if low == high:
        # Bots that are alike are neither best nor worst.
        return tuple(None if value is None else 0.5 for value in values)
    shares = (None if value is None else (value - low) / (high - low) for value in values)
    return tuple(None if each is None else 1.0 - each if metric in _ERRORS else each for each in shares)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
