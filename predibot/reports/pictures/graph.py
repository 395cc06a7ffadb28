"""The graph of related events as a picture: its layout, and an SVG file without any script."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap
from typing import ClassVar, Literal
from xml.sax.saxutils import escape

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from predibot.domain.untrusted_text import one_line, xml_text
from predibot.related.graph import BeliefGraph
from predibot.reports import figures
from predibot.scoring.arguments import Floats

MOST_EVENTS = 120
"""If there are more, the largest groups are drawn."""
_MOST_COMPARED = 60
_MOST_EDGES = 300
"""If there are more between events that are drawn, the strongest are drawn, and the marked ones."""
_WIDTH = 1200.0
_STEP = 120.0
_LABEL = 26
_LABEL_WIDTH, _LABEL_HEIGHT = 182.0, 58.0
_MARGIN = 100.0
_ROUNDS = 80
_TITLE_CHARACTERS = 240
_STYLE = (
    "svg{color-scheme:light dark;font:12px system-ui,sans-serif;background:#fff}"
    "text{fill:#1b1f24}.edge{stroke:#8c959f}.chain,.bot{stroke:#bc4c00}circle{fill:#0969da;stroke:#fff}"
    ".score{stroke:#0969da;stroke-dasharray:6 4}"
    ".halo{stroke:#fff;stroke-width:5;fill:none}"
    "@media(prefers-color-scheme:dark){svg{background:#0d1117}text{fill:#e6edf3}.edge{stroke:#6e7681}"
    ".chain,.bot{stroke:#f0883e}.score{stroke:#58a6ff}circle{fill:#58a6ff;stroke:#0d1117}.halo{stroke:#0d1117}}"
)


EdgeKind = Literal["edge", "chain", "bot", "score"]
"""An edge, one of a marked chain, or where a bot's labels are compared with S: one of the bot alone, or of S alone."""


@dataclass(frozen=True, slots=True)
class Node:
    """An event in the picture; its texts come from others."""

    event_id: str
    title: str
    label: tuple[str, ...]
    """The title in two lines at most, cut if it is too long."""
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class EdgeLine:
    """An edge in the picture."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    kind: EdgeKind
    said: str


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """Positions of events and edges, in a box whose upper left corner is at 0, 0."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    lines: tuple[EdgeLine, ...]
    not_drawn: int
    """Events of groups for which there was no room."""
    edges_left_out: int = 0
    """Edges between events that are drawn, weaker than those drawn."""


def layout_graph(
    graph: BeliefGraph,
    titles: Mapping[str, str],
    chain: Sequence[str] = (),
    most: int = MOST_EVENTS,
    compared: Mapping[frozenset[str], tuple[EdgeKind, str]] | None = None,
) -> GraphLayout | None:
    """Return the layout of the connected groups, the largest first; None without groups.

    Equal graphs have equal layouts.

    Args:
        chain: Events of a path to mark; left out, the longest chain of each group.
        most: Most events that are drawn; a group that does not fit is left out whole, unless it is the first.
        compared: By both ends of an edge, its kind and what is said of it; with it no chain is marked.
    """
    marked = {
        frozenset(pair) for each in ([chain] if chain else [g.chain for g in graph.groups]) for pair in pairwise(each)
    }
    place: dict[str, tuple[float, float]] = {}
    left, top, row_height, widest = 0.0, 0.0, 0.0, 0.0
    for group in graph.groups:
        events = group.events[:most] if not place else group.events
        if len(place) + len(events) > most:
            continue
        own = set(events)
        ends = [(each.first, each.second) for each in graph.edges if each.first in own and each.second in own]
        at = _layout(events, ends)
        width, height = float(at[:, 0].max()) + 2 * _MARGIN, float(at[:, 1].max()) + _MARGIN
        if left and left + width > _WIDTH:
            left, top, row_height = 0.0, top + row_height, 0.0
        for event, (x, y) in zip(events, at.tolist(), strict=True):
            place[event] = round(left + x + _MARGIN, 1), round(top + y + _MARGIN / 2, 1)
        left, row_height = left + width, max(row_height, height)
        widest = max(widest, left)
    if not place:
        return None
    names = {event: _xml_line(titles.get(event, event)) or event for event in place}
    nodes = tuple(
        Node(event, name, tuple(wrap(name, _LABEL, max_lines=2, placeholder="…")), *place[event])
        for event, name in names.items()
    )
    inside = [each for each in graph.edges if each.first in place and each.second in place]
    inside.sort(key=lambda each: (frozenset((each.first, each.second)) not in marked, -each.score))
    lines = tuple(
        EdgeLine(
            *place[each.first],
            *place[each.second],
            width=round(1.0 + 4.0 * (each.score - graph.at_least) / max(1e-9, 1.0 - graph.at_least), 1),
            kind=kind,
            said=f"{said}: {names[each.first]} – {names[each.second]}",
        )
        for each in (inside if compared else inside[:_MOST_EDGES])
        for ends in [frozenset((each.first, each.second))]
        for kind, said in [compared[ends] if compared else (_kind(ends in marked), f"S {each.score:.2f}")]
    )
    total = sum(len(group.events) for group in graph.groups)
    return GraphLayout(
        round(widest, 1), round(top + row_height, 1), nodes, lines, total - len(place), len(inside) - len(lines)
    )


def svg_of(drawn: GraphLayout, title: str) -> str:
    """Return the picture as an SVG file for light and dark, without script or link, texts of others as text."""
    width, height = max(drawn.width, 700.0), drawn.height + 16 * len(wrap(_xml_line(title), 110)) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img">',
        f"<title>{escape(_xml_line(title))}</title><style>{_STYLE}</style>",
        *_marks(drawn),
    ]
    for number, words in enumerate(wrap(_xml_line(title), 110)):
        parts.append(f'<text x="8" y="{drawn.height + 16 * (number + 1):g}">{escape(words)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _marks(drawn: GraphLayout) -> Iterator[str]:
    for line in drawn.lines:
        yield (
            f'<line class="{line.kind}" x1="{line.x1:g}" y1="{line.y1:g}" x2="{line.x2:g}" y2="{line.y2:g}" '
            f'stroke-width="{line.width:g}"><title>{escape(line.said)}</title></line>'
        )
    for node in drawn.nodes:
        texts = [
            f'x="{node.x:g}" y="{node.y + 20 + 14 * number:g}" text-anchor="middle">{escape(words)}</text>'
            for number, words in enumerate(node.label)
        ]
        yield (
            f'<g><title>{escape(node.title)}</title><circle cx="{node.x:g}" cy="{node.y:g}" r="6"/>'
            + "".join(f'<text class="halo" aria-hidden="true" {each}' for each in texts)
            + "".join(f"<text {each}" for each in texts)
            + "</g>"
        )


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """The graph of a bot's labels beside that of S, as a picture of a study."""

    name: str
    title: str
    note: str
    graph: BeliefGraph
    titles: Mapping[str, str]
    compared: Mapping[frozenset[str], tuple[EdgeKind, str]]
    folded: ClassVar = True

    def svg(self) -> str:
        """Return the drawing as an SVG element without style."""
        drawn = self._layout()
        size = f'viewBox="0 0 {drawn.width:g} {drawn.height:g}" width="{drawn.width:g}" height="{drawn.height:g}"'
        label = escape(_xml_line(self.title), {'"': "&quot;"})
        head = f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" {size} role="img" aria-label="{label}">'
        return "\n".join([head, *_marks(drawn), "</svg>"])

    def file(self) -> str:
        """Return the drawing as an SVG file for light and dark."""
        return svg_of(self._layout(), f"{self.title}. {self.note}")

    def _layout(self) -> GraphLayout:
        drawn = layout_graph(self.graph, self.titles, most=_MOST_COMPARED, compared=self.compared)
        return drawn or GraphLayout(0.0, 0.0, (), (), 0)


def graph_title(graph: BeliefGraph, as_of: str) -> str:
    """Return the title of the picture; `as_of` is the instant as it is written."""
    related = sum(len(group.events) for group in graph.groups)
    return (
        f"Related events as of {as_of}: {figures.things(len(graph.edges), 'edge')} of S {graph.at_least:g} or more, "
        f"{related:,} of {figures.things(len(graph.events), 'event')} in {figures.things(len(graph.groups), 'group')}"
    )


def marks_note(drawn: GraphLayout, chain: Sequence[str]) -> str:
    """Return which chains are marked, and how many events are not drawn."""
    text = "the chain that was asked for" if chain else "the longest chain of shortest paths in each group"
    rest = f" {drawn.not_drawn:,} more events are not drawn." if drawn.not_drawn else ""
    weaker = (
        f" The {len(drawn.lines):,} strongest edges are drawn; {drawn.edges_left_out:,} weaker ones are left out."
        if drawn.edges_left_out
        else ""
    )
    return f"Marked: {text}.{rest}{weaker}"


def _kind(is_marked: bool) -> EdgeKind:
    return "chain" if is_marked else "edge"


def _xml_line(text: str) -> str:
    return xml_text(one_line(text[: 4 * _TITLE_CHARACTERS]))[:_TITLE_CHARACTERS]


def _layout(events: Sequence[str], ends: Sequence[tuple[str, str]]) -> Floats:
    """Return positions of the events of a group, (k, 2), by stress majorisation of the steps between them.

    Source:
        Gansner, Koren and North (2005), Graph Drawing by Stress Majorization, with weights 1 / d^2.
    """
    k = len(events)
    row = {event: number for number, event in enumerate(events)}
    cells = np.array([(row[one], row[other]) for one, other in ends], dtype=np.int64).reshape(-1, 2).T
    linked = sparse.csr_array((np.ones(cells.shape[1]), (cells[0], cells[1])), shape=(k, k))
    steps = np.minimum(shortest_path(linked, directed=False, unweighted=True), k)
    np.fill_diagonal(steps, 1.0)
    angle = 2.0 * np.pi * np.arange(k) / k
    at = np.stack([np.cos(angle), np.sin(angle)], axis=1) * k / 3.0
    weight = 1.0 / steps**2
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    solve = np.linalg.pinv(laplacian)
    for _ in range(_ROUNDS):
        apart = at[:, None] - at[None]
        length = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-6)
        at = solve @ (weight[:, :, None] * steps[:, :, None] * apart / length[:, :, None]).sum(axis=1)
    at = at * np.array([1.6 * _STEP, _STEP])
    # Labels that would lie on each other are moved apart, up and down.
    order = np.lexsort((np.round(at[:, 0], 1), np.round(at[:, 1], 1)))
    for place, own in enumerate(order):
        for _ in range(k):
            above = order[:place]
            near = above[
                (np.abs(at[above, 0] - at[own, 0]) < _LABEL_WIDTH) & (np.abs(at[above, 1] - at[own, 1]) < _LABEL_HEIGHT)
            ]
            if not near.size:
                break
            at[own, 1] = at[near, 1].max() + _LABEL_HEIGHT
    placed: Floats = at - at.min(axis=0)
    return placed
