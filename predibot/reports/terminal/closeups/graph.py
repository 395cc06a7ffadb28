"""The graph of related events as tables and for JSON: groups, edges, a chain, and news."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from predibot.domain.clock import EPOCH, format_instant
from predibot.jobs.relatedness.graph import LabelledGraph
from predibot.related.news import TouchedEvent
from predibot.reports import figures
from predibot.reports.table import Column, Document, Table, document, table_of
from predibot.reports.terminal.terminal import plain, within

_ROWS = 20
_TITLE_CELLS = 60
_SITE_CELLS = 30
_SHOWN_EVENTS = 4


def graph_grids(found: LabelledGraph, *, every_row: bool = False) -> Iterator[Table]:
    """Yield the chain, the groups, the edges and the news, the largest and newest first."""
    graph = found.graph

    def title_of(event: str, cells: int = _TITLE_CELLS) -> str:
        return plain(found.known.titles.get(event, event), cells) or plain(event, cells)

    def chain_words(chain: Sequence[str]) -> str:
        return " – ".join(title_of(each, 40) for each in chain) or figures.MISSING

    event = Column("event", "first", title_of, kind="text")
    if found.chain:
        of = {frozenset((each.first, each.second)): f"{each.score:.2f}" for each in graph.edges}
        steps = [
            {"id": each, "score": of.get(frozenset((last, each)))}
            for last, each in zip((found.chain[0], *found.chain), found.chain, strict=False)
        ]
        of_step = (Column("id", "id", within(40), kind="key"), replace(event, of="id"), Column("S", "score"))
        yield table_of("Chain", of_step, steps)
    columns: tuple[Column, ...] = (
        Column("events", "events", lambda events: figures.count(len(events))),
        Column("ids", "events", _ids, kind="text"),
        Column("chain", "chain", chain_words, kind="text"),
    )
    yield from _first_rows("Connected groups", columns, graph.groups, every_row)
    columns = (_SCORE, event, Column("moves with", "second", title_of, kind="text"))
    yield from _first_rows("Edges", columns, graph.edges, every_row)
    columns = (*_NEWS, Column("touches", "touched", lambda touched: _touched_events(touched, title_of), kind="text"))
    yield from _first_rows("Dated news", columns, found.news, every_row)


def _first_rows(title: str, columns: Sequence[Column], rows: Sequence[object], every_row: bool) -> Iterator[Table]:
    shown = rows if every_row else rows[:_ROWS]
    more = f"The first {len(shown)} of {len(rows):,}; --all and --json have them all."
    if rows:
        yield table_of(title, columns, shown, [more] if len(shown) < len(rows) else ())


def _ids(events: Sequence[str]) -> str:
    more = f" and {len(events) - _SHOWN_EVENTS} more" if len(events) > _SHOWN_EVENTS else ""
    return ", ".join(plain(event, 40) for event in events[:_SHOWN_EVENTS]) + more


def _touched_events(touched: Sequence[TouchedEvent], title_of: Callable[[str, int], str]) -> str:
    return "; ".join(
        title_of(one.event_id, 40)
        + ("" if one.score is None else f" (S {one.score:.2f})")
        + ("" if one.jumped_on is None else f", jumped {_day(one.jumped_on)}")
        for one in touched[:_SHOWN_EVENTS]
    )


def _site(url: str) -> str:
    return plain(url.partition("://")[2].partition("/")[0], _SITE_CELLS) or figures.MISSING


_SCORE = Column("S", "score", lambda score: f"{score:.2f}")
_NEWS = (
    Column("date", "news.published_at", lambda at: format_instant(at)[:10], kind="key"),
    Column("news", "news.title", within(_TITLE_CELLS, figures.MISSING), kind="text"),
    Column("site", "news.url", _site, kind="text"),
)


def graph_document(found: LabelledGraph) -> Document:
    """Return everything as JSON has it, texts whole."""
    graph = found.graph
    edge = "first second first_market_id=first_market second_market_id=second_market score"
    return {
        "as_of": format_instant(found.known.as_of),
        "events": [{"event_id": each, "title": found.known.titles.get(each)} for each in graph.events],
        "edges": [document(each, edge) for each in graph.edges],
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
