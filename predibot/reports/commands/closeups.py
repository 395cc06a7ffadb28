"""One bot, one event or the graph of all, as a screen, a document, pictures or a tear sheet, in one call each."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from predibot.domain.clock import format_instant
from predibot.errors import UsageError
from predibot.jobs.commands.caller import Caller
from predibot.jobs.histories.bot import BotHistory, bot_history
from predibot.jobs.histories.event import EventHistory, event_history
from predibot.jobs.histories.ledger import ledger_history
from predibot.jobs.relatedness.graph import KnownGraph
from predibot.ledger.store import Store
from predibot.reports import figures
from predibot.reports.pictures.canvas import FORMATS, require_matplotlib, style, written
from predibot.reports.pictures.draw import drawn
from predibot.reports.pictures.graph import drawn_graph, graph_title, marked_words, svg_of
from predibot.reports.pictures.series import ledger_pictures
from predibot.reports.tearsheet import tearsheet
from predibot.whole_file import whole_file

Shown = TypeVar("Shown")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_NAME_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class AskedRuns:
    """Of which runs, and as of when, somebody wants to know something."""

    venue: str | None
    """Left out, that of the runs."""
    recipe: str | None
    """Only its runs; left out, all."""
    as_of: datetime | None
    bots: Sequence[str] = ()
    """Only these; empty for all."""
    archived: bool = False
    """Whether archived cohorts count too."""


def bot_as_asked(
    bot: str, asked: AskedRuns, caller: Caller, *, ledger: str, most: int, show: Callable[[BotHistory], Shown]
) -> Shown:
    """Show what is stored of a bot, with so many of its best and worst decisions, asking no venue.

    Raises:
        UsageError: As `bot_history`.
        LedgerError: If the ledger cannot be opened.
    """
    with Store.open_to_read(ledger) as store:
        caller.say(f"ledger: {store.address}")
        found = bot_history(
            store,
            bot,
            venue=asked.venue,
            recipe=asked.recipe,
            as_of=asked.as_of,
            archived=asked.archived,
            clock=caller.clock,
            most=most,
        )
    return show(found)


def event_as_asked(
    event_id: str, asked: AskedRuns, caller: Caller, *, ledger: str, show: Callable[[EventHistory], Shown]
) -> Shown:
    """Show what is stored of an event, asking no venue.

    Raises:
        UsageError: As `event_history`.
        LedgerError: If the ledger cannot be opened.
    """
    with Store.open_to_read(ledger) as store:
        caller.say(f"ledger: {store.address}")
        found = event_history(
            store,
            event_id,
            venue=asked.venue,
            recipe=asked.recipe,
            bots=asked.bots,
            as_of=asked.as_of,
            clock=caller.clock,
        )
    return show(found)


def figures_as_asked(folder: Path, asked: AskedRuns, caller: Caller, *, ledger: str) -> tuple[Path, ...]:
    """Draw the pictures of a ledger into a folder, which is made, and return the files; others there stay.

    Raises:
        UsageError: If there is nothing to draw with, or as `ledger_history`.
        LedgerError: If the ledger cannot be opened.
        OSError: If the folder cannot be written.
    """
    require_matplotlib()
    with Store.open_to_read(ledger) as store:
        caller.say(f"ledger: {store.address}")
        history = ledger_history(
            store,
            venue=asked.venue,
            recipe=asked.recipe,
            bots=asked.bots,
            as_of=asked.as_of,
            archived=asked.archived,
            clock=caller.clock,
        )
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    with figures.in_currency(history.evaluation.currency):
        for name, picture in ledger_pictures(history):
            with style():
                figure = drawn(picture)
                for form in FORMATS:
                    file = folder / f"{name}.{form}"
                    with whole_file(file) as stream:
                        stream.write(written(figure, form))
                    files.append(file)
    return tuple(files)


def tearsheet_as_asked(
    bot: str, file: Path | None, asked: AskedRuns, caller: Caller, *, ledger: str, most: int
) -> Path:
    """Write the tear sheet of a bot, with so many of its best and worst decisions, and return the file.

    Left out, it is `tearsheet-BOT.html` in `runs/out`, of the bot's name what a file's name can have.

    Raises:
        UsageError: If there is nothing to draw with, or as `bot_history`.
        LedgerError: If the ledger cannot be opened.
        OSError: If the file cannot be written.
    """
    require_matplotlib()

    def show(history: BotHistory) -> str:
        with figures.in_currency(history.evaluation.currency):
            return tearsheet(history)

    page = bot_as_asked(bot, asked, caller, ledger=ledger, most=most, show=show)
    if file is None:
        file = Path("runs/out") / f"tearsheet-{_UNSAFE.sub('_', bot)[:_NAME_CHARACTERS]}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as stream:
        stream.write(page.encode())
    return file


def written_graph(found: KnownGraph, file: Path | None) -> str:
    """Write the picture of a graph as SVG, if a file is named, and return in words what it is of and where it is.

    Where nothing is related, no file is written.

    Raises:
        UsageError: If the file cannot be written.
    """
    title = f"{graph_title(found.graph, format_instant(found.as_of.replace(microsecond=0)))}."
    if file is None:
        return title
    picture = drawn_graph(found.graph, found.known.titles, found.chain)
    if picture is None:
        return f"{title} There is nothing to draw."
    try:
        with whole_file(file) as stream:
            stream.write(svg_of(picture, f"{title} {marked_words(picture, found.chain)}").encode())
    except OSError as error:
        raise UsageError(f"{file} cannot be written ({error.strerror}); name another file") from None
    rest = f" without {picture.not_drawn:,} events for which there was no room" if picture.not_drawn else ""
    return f"{title} Drawn into {file}{rest}."
