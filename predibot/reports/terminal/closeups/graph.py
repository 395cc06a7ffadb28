"""The graph of beliefs as tables and as a document: its groups, its edges, a chain, and the news that touch it."""

from collections.abc import Iterator
from datetime import timedelta

from predibot.domain.clock import EPOCH, format_instant
from predibot.jobs.relatedness.graph import KnownGraph
from predibot.reports import figures
from predibot.reports.document import Document, document, number
from predibot.reports.terminal.grid import Column, Grid
from predibot.reports.terminal.text import plain

_ROWS = 20
_TITLE_CELLS = 60
_SITE_CELLS = 30
_TOUCHED = 4


def graph_grids(found: KnownGraph, *, every_row: bool = False) -> Iterator[Grid]:
    """Yield the groups, the edges, the chain that was asked for, and the news, the largest and newest first."""
    graph = found.graph

    def named(event: str, cells: int = _TITLE_CELLS) -> str:
        return plain(found.known.titles.get(event, event), cells) or plain(event, cells)

    if found.chain:
        of = {frozenset((each.first, each.second)): f"{each.score:.2f}" for each in graph.edges}
        before = (found.chain[0], *found.chain)
        rows = tuple(
            (plain(each, 40), named(each), of.get(frozenset((last, each)), figures.MISSING))
            for last, each in zip(before, found.chain, strict=False)
        )
        yield Grid("Chain", (Column("id", "key"), Column("event", "text"), Column("S")), rows)

    def cut(total: int) -> tuple[int, tuple[str, ...]]:
        shown = total if every_row else min(total, _ROWS)
        return shown, (f"The first {shown} of {total:,}; --all and --json have them all.",) if shown < total else ()

    shown, more = cut(len(graph.groups))
    rows = tuple(
        (
            figures.count(len(each.events)),
            ", ".join(plain(event, 40) for event in each.events[:_TOUCHED])
            + (f" and {len(each.events) - _TOUCHED} more" if len(each.events) > _TOUCHED else ""),
            " – ".join(named(event, 40) for event in each.chain) or figures.MISSING,
        )
        for each in graph.groups[:shown]
    )
    if rows:
        yield Grid("Connected groups", (Column("events"), Column("ids", "text"), Column("chain", "text")), rows, more)
    shown, more = cut(len(graph.edges))
    rows = tuple((f"{each.score:.2f}", named(each.first), named(each.second)) for each in graph.edges[:shown])
    if rows:
        yield Grid("Edges", (Column("S"), Column("event", "text"), Column("moves with", "text")), rows, more)
    shown, more = cut(len(found.news))
    if shown:
        news = tuple(
            (
                format_instant(each.news.published_at)[:10],
                plain(each.news.title, _TITLE_CELLS) or figures.MISSING,
                plain(each.news.url.partition("://")[2].partition("/")[0], _SITE_CELLS) or figures.MISSING,
                "; ".join(
                    named(one.event_id, 40)
                    + ("" if one.score is None else f" (S {one.score:.2f})")
                    + ("" if one.jumped_on is None else f", jumped {_day(one.jumped_on)}")
                    for one in each.touched[:_TOUCHED]
                ),
            )
            for each in found.news[:shown]
        )
        columns = (Column("date", "key"), Column("news", "text"), Column("site", "text"), Column("touches", "text"))
        yield Grid("Dated news", columns, news, more)


def graph_document(found: KnownGraph) -> Document:
    """Return everything as JSON has it, texts whole."""
    graph = found.graph
    return {
        "as_of": format_instant(found.known.as_of),
        "events": [{"event_id": each, "title": found.known.titles.get(each)} for each in graph.events],
        "edges": [
            {
                **document(each, "first second"),
                "first_market_id": each.first_market,
                "second_market_id": each.second_market,
                "score": number(each.score),
            }
            for each in graph.edges
        ],
        "groups": [list(each.events) for each in graph.groups],
        "chain": list(found.chain),
        "longest_chains": [list(each.chain) for each in graph.groups],
        **document(graph, "at_least markets"),
        "left_out": None if graph.left_out is None else document(graph.left_out, "little_traded flat"),
        "news": [
            {
                **document(each.news, "published_at title url"),
                "touches": [
                    {
                        **document(one, "event_id score"),
                        "jumped_on": None if one.jumped_on is None else _day(one.jumped_on),
                    }
                    for one in each.touched
                ],
            }
            for each in found.news
        ],
    }


def _day(day: int) -> str:
    return f"{EPOCH + timedelta(days=day):%Y-%m-%d}"
