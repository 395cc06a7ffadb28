"""The graph of beliefs on a screen and as a document: groups of related events, and a chain between two."""

from datetime import datetime

from rich.console import Console

from predibot.domain.clock import format_instant
from predibot.jobs.relatedness.neighbours import KnownAt
from predibot.reports import figures
from predibot.reports.terminal.closeups.rows import to_the_second
from predibot.reports.terminal.grid import Column, Grid, print_grid
from predibot.reports.terminal.terminal import print_line
from predibot.reports.terminal.text import plain
from predibot.reports.views.decide import Document, number
from predibot.scoring.relatedness.graph import BeliefGraph, links

_SHOWN = 20
_NAMED = 4
_TITLE_CELLS = 60


def print_graph(
    console: Console, graph: BeliefGraph, at: KnownAt, chain: tuple[str, ...] | None, *, every_row: bool
) -> None:
    """Print the groups, the largest twenty or all, and a chain where one was asked for and found."""
    titles = at.known.titles
    print_line(console, _head(graph, at.as_of), "bold")
    groups = graph.groups
    shown = groups if every_row else groups[:_SHOWN]
    rows = tuple(
        (
            figures.count(len(group)),
            "; ".join(plain(titles[name], _TITLE_CELLS) for name in group[:_NAMED])
            + (f"; {len(group) - _NAMED} more" if len(group) > _NAMED else ""),
        )
        for group in shown
    )
    left = len(groups) - len(shown)
    more = (f"The largest {len(shown)} of {len(groups):,}; --all or --json has them all.",) if left else ()
    if rows:
        console.print()
        print_grid(console, Grid("Groups", (Column("events"), Column("which", "text")), rows, more))
    if chain is not None:
        steps = [(figures.MISSING, chain[0])] + [
            (f"{edge.score:.2f}", name) for edge, name in zip(links(chain, graph.edges), chain[1:], strict=True)
        ]
        cells = tuple((score, plain(name, 40), plain(titles[name], _TITLE_CELLS)) for score, name in steps)
        console.print()
        print_grid(console, Grid("Chain", (Column("S"), Column("event", "key"), Column("title", "text")), cells))


def graph_document(graph: BeliefGraph, at: KnownAt, chain: tuple[str, ...] | None) -> Document:
    """Return everything as JSON has it; `chain` is null where none was asked for or there is none."""
    return {
        "as_of": format_instant(at.as_of),
        "events": [{"event_id": name, "title": at.known.titles[name]} for name in graph.events],
        "edges": [{"first": edge.first, "second": edge.second, "score": number(edge.score)} for edge in graph.edges],
        "groups": [list(group) for group in graph.groups],
        "chain": None if chain is None else list(chain),
    }


def _head(graph: BeliefGraph, as_of: datetime) -> str:
    return (
        f"As of {to_the_second(as_of)}: {figures.things(len(graph.events), 'event')} compared, "
        f"{figures.things(len(graph.edges), 'edge')}, {figures.things(len(graph.groups), 'group')}"
    )
