"""The events that move with one, for a screen and for JSON: how related each is, and why."""

from collections.abc import Sequence
from datetime import timedelta

from rich.console import Console

from predibot.domain.clock import EPOCH
from predibot.jobs.relatedness.graph import Relations
from predibot.related.features import FEATURES
from predibot.related.neighbours import Neighbour
from predibot.reports import figures
from predibot.reports.table import Column, Document, document, number, table_of
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
