"""One run, for a screen and for JSON: its bots and its events, with the numbers that show more."""

from collections.abc import Mapping
from functools import partial

from rich.console import Console

from predibot.domain.decision import STATUSES, Status
from predibot.jobs.histories.run import RunHistory
from predibot.reports import figures
from predibot.reports.table import Column, Document, document, table_of
from predibot.reports.terminal.terminal import plain, print_grid, print_line, print_notes, within
from predibot.reports.views.decide import run_document

_SHOWN = 20


def _count_of(status: Status, counts: Mapping[Status, int]) -> str:
    return figures.count(counts.get(status, 0))


_TITLE_CELLS = 60
_BOTS = (
    Column("bot", "bot", kind="name"),
    *(Column(status, "statuses", partial(_count_of, status), place) for place, status in enumerate(STATUSES)),
    Column("cost", "", lambda bot: figures.cost_usd(bot.cost_known_usd) + "+?" * bool(bot.cost_unknown), 0),
)
_EVENTS = (
    Column("#", "number", str),
    Column("event", "event_id", kind="key"),
    Column("title", "title", within(_TITLE_CELLS), kind="text"),
)


def print_run(console: Console, history: RunHistory) -> None:
    """Print a run, its bots, and its first twenty events."""
    run = history.run
    void = "" if run.void_reason is None else f", void: {run.void_reason}"
    print_line(console, plain(f"Run {run.number}: {run.run}{void}"), style="bold")
    print_line(console, plain(f"{run.game} on {run.venue}, as of {figures.instant(run.as_of)}"))
    print_grid(console, table_of("", _BOTS, history.bots))
    if history.events:
        console.print()
        below = [f"{len(history.events):,} in all; --json lists them."] if len(history.events) > _SHOWN else []
        print_grid(console, table_of("Events", _EVENTS, history.events[:_SHOWN], below))
    print_notes(console, run.notes)
    number = next((each.number for each in history.events if each.number is not None), None)
    event = "" if number is None else f"`predibot report --event {number}` shows the first event, "
    print_line(console, f"{event}`predibot trace` the latest decisions of agents.")


def run_history_document(history: RunHistory) -> Document:
    """Return all of it as JSON has it, texts whole."""
    bots = [document(each, "bot statuses cost_known_usd cost_unknown") for each in history.bots]
    events = [document(each, "number event_id title") for each in history.events]
    return {"run": run_document(history.run), "bots": bots, "events_decided": events}
