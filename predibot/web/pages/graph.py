"""The graph of related events of a venue, and the events that move with one."""

from predibot.errors import UsageError
from predibot.related.graph import Edge
from predibot.reports.pictures.graph import graph_title, layout_graph, marks_note
from predibot.reports.terminal.closeups.graph import graph_grids
from predibot.scoring.records.part import Part
from predibot.web.cache import LedgerCache
from predibot.web.pages.page import WebPage


def graph_page(cache: LedgerCache, venue: str = "") -> WebPage:
    """Return the graph of the events of a venue as of now; empty if nothing was played."""
    try:
        found = cache.graph(Part(venue=venue))
    except UsageError:
        if venue:
            raise
        # The menu leads here, even if nothing was played.
        return WebPage(
            "graph", {"said": "Nothing was played yet.", "drawn": None, "marked": "", "listed": (), "grids": []}
        )
    drawn = layout_graph(found.graph, found.known.titles)
    grids = [grid for grid in graph_grids(found) if grid.rows]
    # Only the day, so that a page stays the same for a day.
    text = f"{graph_title(found.graph, f'{found.known.as_of:%Y-%m-%d}')}."
    marked = "" if drawn is None else marks_note(drawn, ())
    # An event that nobody decided on has no page.
    listed = cache.venues_of_events()
    shown = {"said": text, "drawn": drawn, "marked": marked, "listed": listed, "grids": grids}
    return WebPage("graph", shown)


def related_edges(cache: LedgerCache, id: str, run: str) -> tuple[tuple[str, str, Edge], ...]:
    """Return id, title and edge of each event that moves with one, the strongest first; `run` played it.

    The id is empty for an event without a page.
    """
    venue = next((each.venue for each in cache.runs_of(run) if not each.void), "")
    if not venue:
        return ()
    found = cache.graph(Part(venue=venue))
    listed = cache.venues_of_events()
    return tuple(
        (other if other in listed else "", found.known.titles[other], edge)
        for other, edge in found.graph.neighbours(id)
    )
