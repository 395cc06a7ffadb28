"""The graph of beliefs as a picture: its groups beside each other, the events of each in a circle; plain SVG."""

import math
from collections.abc import Mapping
from html import escape

from predibot.reports import figures
from predibot.reports.pictures.canvas import BLUE, GREY
from predibot.reports.terminal.text import plain
from predibot.scoring.relatedness.graph import BeliefGraph

MOST_DRAWN = 300
"""Events; of more nobody could read the names."""
_WIDTH = 1_280.0
_LABEL_CELLS = 30
_LABEL_ROOM, _ROW = 170.0, 16.0
_HEAD = 44.0


def graph_svg(graph: BeliefGraph, titles: Mapping[str, str]) -> str:
    """Return the graph as an SVG document; the same graph gives the same bytes.

    The largest groups are drawn, up to `MOST_DRAWN` events in all; wider lines are of higher S.

    Args:
        graph: What is drawn.
        titles: What each event is called, texts of others.
    """
    drawn: list[tuple[str, ...]] = []
    for group in graph.groups:
        if sum(map(len, drawn)) + len(group) <= MOST_DRAWN:
            drawn.append(group)
    place, height = _places(drawn)
    said = f"{figures.things(len(graph.groups), 'group')} of related events"
    left = len(graph.groups) - len(drawn)
    more = f"; {figures.things(left, 'group')} not drawn" if left else ""
    alone = len(graph.events) - sum(map(len, graph.groups))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {height:.0f}" role="img" '
        f'aria-label="{said}" font-family="sans-serif" font-size="11">',
        f'<rect width="{_WIDTH:g}" height="{height:.0f}" fill="#ffffff"/>',
        f'<text x="16" y="26" font-size="15">{said}{more}; {figures.things(alone, "event")} related to none</text>',
    ]
    for edge in graph.edges:
        if edge.first in place and edge.second in place:
            (x1, y1, _), (x2, y2, _) = place[edge.first], place[edge.second]
            names = f"{_title(titles, edge.first, 200)} – {_title(titles, edge.second, 200)}"
            ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
            pen = f'stroke="{GREY}" stroke-opacity="0.6" stroke-width="{1.0 + 8.0 * max(edge.score - 0.6, 0.0):.2f}"'
            parts.append(f"<line {ends} {pen}><title>S {edge.score:.2f}: {names}</title></line>")
    for name, (x, y, is_right) in place.items():
        beside, anchor = (x + 8.0, "start") if is_right else (x - 8.0, "end")
        label = f'<text x="{beside:.1f}" y="{y + 4.0:.1f}" text-anchor="{anchor}">'
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{BLUE}">')
        parts.append(f"<title>{_title(titles, name, 200)}</title></circle>")
        parts.append(f"{label}{_title(titles, name, _LABEL_CELLS)}</text>")
    return "\n".join([*parts, "</svg>\n"])


def _places(groups: list[tuple[str, ...]]) -> tuple[dict[str, tuple[float, float, bool]], float]:
    """Return where each event is, and whether its name stands to its right; and how high the picture is."""
    place: dict[str, tuple[float, float, bool]] = {}
    left, top, row_height = 0.0, _HEAD, 0.0
    for group in groups:
        # Names to each side stand under each other.
        radius = max(28.0, _ROW * len(group) / math.pi)
        width, height = 2.0 * (radius + _LABEL_ROOM + 12.0), 2.0 * radius + 56.0
        if left and left + width > _WIDTH:
            left, top, row_height = 0.0, top + row_height, 0.0
        for number, name in enumerate(group):
            angle = 2.0 * math.pi * (number + 0.5) / len(group)
            x, y = math.sin(angle), -math.cos(angle)
            place[name] = (left + width / 2.0 + radius * x, top + height / 2.0 + radius * y, x >= 0.0)
        left, row_height = left + width, max(row_height, height)
    return place, top + row_height + 8.0


def _title(titles: Mapping[str, str], name: str, cells: int) -> str:
    return escape(plain(titles[name], cells) or plain(name, cells))
