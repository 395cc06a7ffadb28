"""Related events, for a screen and for JSON: those that move with one and why, and the graph of all."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from rich.console import Console

from predibot.domain.clock import EPOCH, format_instant
from predibot.jobs.relatedness.graph import LabelledGraph, Relations
from predibot.related.features import FEATURES
from predibot.related.graph import TouchedEvent
from predibot.related.neighbours import Neighbour
from predibot.reports import figures
from predibot.reports.table import Column, Document, Table, document, number, table_of
from predibot.reports.terminal.terminal import plain, print_grids, print_line, within

_SHOWN = 10
_TITLE_CELLS = 240
_SHOWN_DATES = 6


def print_relations(console: Console, relations: Relations, *, every_row: bool) -> None:
    """Print the ten most related events, or all, each with its reasons."""
    found, known = relations.found, relations.known
    title = plain(known.titles[found.event_id], _TITLE_CELLS) or figures.MISSING
    print_line(console, f"{title} ({plain(found.event_id, 60)})", "bold")
    print_line(
        console,
        f"As of {figures.instant(relations.known.as_of)}: {figures.things(found.markets, 'market')}, "
        f"{figures.count(found.own_markets)} of this event compared; "
        f"texts by {plain(relations.text_port, 60)}",
    )
    if (left_out := found.left_out) is not None:
        print_line(
            console,
            f"Left out: {left_out.little_traded:,} of the quarter that traded least in their category, "
            f"{left_out.flat:,} that hardly moved; {left_out.volume_unknown:,} state no volume, which leaves none out. "
            "--no-filters compares all.",
        )
        if not found.own_markets:
            print_line(console, "All markets of this event were left out.")
    shown = found.neighbours if every_row else found.neighbours[:_SHOWN]
    if not shown:
        if found.own_markets:
            print_line(console, "No other event that is compared was open on the same days.")
        return
    columns = (
        _SCORE,
        Column("class", "relevance", kind="key"),
        Column("event", "event_id", within(40), 1, kind="key"),
        Column("title", "event_id", lambda event: plain(known.titles[event], 60) or figures.MISSING, 0, kind="text"),
        _JUMPS,
        Column("tags", "tags", _list_labels, 3, kind="text"),
        Column("words", "words", _list_labels, 2, kind="text"),
    )
    more = f"The first {len(shown)} of {len(found.neighbours):,}; --all or --json has them all."
    print_grids(console, [table_of("", columns, shown, [more] if len(shown) < len(found.neighbours) else ())])


def _list_labels(labels: Sequence[str]) -> str:
    return plain(", ".join(labels), 60) or figures.MISSING


def relations_document(relations: Relations) -> Document:
    """Return everything as JSON has it, texts whole."""
    found, known = relations.found, relations.known
    return {
        "event_id": found.event_id,
        "title": known.titles[found.event_id],
        **document(known, "as_of"),
        "text_port": relations.text_port,
        **document(found, "markets own_markets"),
        "left_out": found.left_out and document(found.left_out, "little_traded flat volume_unknown"),
        "neighbours": [
            {
                "event_id": each.event_id,
                "title": known.titles[each.event_id],
                **document(each, "score class=relevance market_id"),
                "question": known.questions[each.market_id],
                "own_market_id": each.own_market_id,
                "own_question": known.questions[each.own_market_id],
                **{name: number(value) for name, value in zip(FEATURES, each.features, strict=True)},
                "shared_jumps": [[_date(day), _date(other)] for day, other in each.shared_jumps],
                **document(each, "shared_tags=tags shared_words=words common_days"),
            }
            for each in found.neighbours
        ],
    }


def _dates(each: Neighbour) -> str:
    """Return the dates of the event's own jumps that the neighbour shares, the newest first."""
    days = sorted({own for own, _ in each.shared_jumps}, reverse=True)
    more = f" and {len(days) - _SHOWN_DATES} more" if len(days) > _SHOWN_DATES else ""
    return (", ".join(map(_date, days[:_SHOWN_DATES])) + more) or figures.MISSING


def _date(day: int) -> str:
    return (EPOCH + timedelta(days=day)).strftime("%Y-%m-%d")


_SCORE = Column("S", "score", lambda score: f"{score:.2f}", 0).means(
    "how related the two most alike markets of both are, from 0 to 1"
)
_JUMPS = Column("jumps", "", _dates, 0, kind="text").means(
    "days on which both moved as they rarely do, less than two days apart"
)


_ROWS = 20
_EVENT_CELLS = 60
_SITE_CELLS = 30
_SHOWN_EVENTS = 4


def graph_grids(found: LabelledGraph, *, every_row: bool = False) -> Iterator[Table]:
    """Yield the chain, the groups, the edges and the news, the largest and newest first."""
    graph = found.graph

    def title_of(event: str, cells: int = _EVENT_CELLS) -> str:
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
    columns = (_EDGE_SCORE, event, Column("moves with", "second", title_of, kind="text"))
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


_EDGE_SCORE = Column("S", "score", lambda score: f"{score:.2f}")
_NEWS = (
    Column("date", "news.published_at", lambda at: format_instant(at)[:10], kind="key"),
    Column("news", "news.title", within(_EVENT_CELLS, figures.MISSING), kind="text"),
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
