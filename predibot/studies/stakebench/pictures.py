"""The pictures of StakeBench's Figure 2: the chain of tasks, families of models, and their sizes."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from predibot.reports.cells import CellPicture, Panel
from predibot.reports.pictures.series import Scatter, ScatterPanel
from predibot.scoring.study_table import Cell, StudyTable
from predibot.studies.stakebench.scores.chain import LINKS, Family, scores_by_bot
from predibot.studies.stakebench.scores.significance import rank_test

_SIGNIFICANT = 0.05
_STARS = f"Spearman's rank correlation over bots; an asterisk marks p < {_SIGNIFICANT:.2f}."


def figure_2(chain: StudyTable, families: StudyTable, scale: StudyTable) -> Iterator[CellPicture]:
    """Yield the parts of Figure 2 that have something to show, from `chain_tables`."""
    found = (
        CellPicture(
            "figure_2a", "How scores of the tasks go together (Figure 2a)", (_matrix(chain),), "bar", _STARS, 1.0
        ),
        CellPicture(
            "figure_2b",
            "Means of families of models (Figure 2b)",
            tuple(_columns("family", families.rows, ("Agg", *LINKS))),
            "shade",
            families.note,
        ),
        CellPicture(
            "figure_2c",
            "Size of models and scores (Figure 2c)",
            tuple(_ranks("billions of parameters", scale.rows)),
            "bar",
            _STARS,
            1.0,
        ),
    )
    return (each for each in found if not each.is_empty)


_Rows = Sequence[Sequence[Cell]]


def _matrix(chain: StudyTable) -> Panel:
    """Return the correlations as a triangle: each score below those of the tasks before it."""
    places = {pair: row for pair, row in zip(combinations(range(len(LINKS)), 2), chain.rows, strict=True)}
    size = range(len(LINKS) - 1)
    values = tuple(tuple(_number(places[c, r + 1][1]) if c <= r else None for c in size) for r in size)
    marked = frozenset((r - 1, c) for (c, r), row in places.items() if _is_significant(row[2]))
    return Panel("rank correlation", LINKS[1:], LINKS[:-1], values, marked)


def _columns(name: str, rows: _Rows, columns: tuple[str, ...]) -> Iterator[Panel]:
    if rows:
        values = tuple(tuple(_number(cell) for cell in row[1 : len(columns) + 1]) for row in rows)
        yield Panel(name, tuple(str(row[0]) for row in rows), columns, values)


def _ranks(name: str, rows: _Rows) -> Iterator[Panel]:
    """Yield the correlations of all scores side by side."""
    if rows:
        marked = frozenset((0, place) for place, row in enumerate(rows) if _is_significant(row[2]))
        values = (tuple(_number(row[1]) for row in rows),)
        yield Panel("rank correlation", (name,), tuple(str(row[0]) for row in rows), values, marked)


def _is_significant(p: Cell) -> bool:
    return isinstance(p, float) and p < _SIGNIFICANT


def _number(cell: Cell) -> float | None:
    return None if cell is None or isinstance(cell, str) else float(cell)


def scatter_pictures(main: StudyTable, families: Mapping[str, Family]) -> Iterator[tuple[str, Scatter]]:
    """Yield scores against G2 DA, and scores against sizes of models, with the names of their files."""
    bots = scores_by_bot(main)
    sides = {bot: scores["G2 DA"] for bot, scores in bots.items()}
    sizes = {bot: each.billions for bot, each in families.items() if each.billions is not None and bot in bots}
    for name, title, across, of in (
        ("chain", "Which side is revealed, against the other tasks", "G2 DA", sides),
        ("scale", "Size of models against scores", "billions of parameters", sizes),
    ):
        panels = []
        for score in (each for each in LINKS if each != across):
            points = {bot: (x, bots[bot][score]) for bot, x in of.items() if not math.isnan(x + bots[bot][score])}
            if len(points) > 1:
                rho, p, n = rank_test(*zip(*points.values(), strict=True))
                known = "" if math.isnan(rho) else f"rho {rho:.2f}, p = {p:.3f}, "
                panels.append(ScatterPanel(score, points, f"{known}{n} bots"))
        if panels:
            yield name, Scatter(title, across, tuple(panels), "Each point is a bot; rho: Spearman's rank correlation.")
