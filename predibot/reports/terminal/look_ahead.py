"""What became of decisions that were made again without the future."""

from rich.console import Console

from predibot.jobs.replay.look_ahead_check import Difference, LookAhead
from predibot.reports import figures
from predibot.reports.document import Document, document
from predibot.reports.terminal.grid import Column, Grid, print_grid
from predibot.reports.terminal.terminal import print_line
from predibot.reports.terminal.text import plain

_SHOWN = 20
_VALUE_CELLS = 40


def print_look_ahead(console: Console, found: LookAhead) -> None:
    """Print how many decisions are the same without the future, what differs in the others, and who was left out."""
    console.print()
    same, checked = figures.count(found.checked - found.differing), figures.count(found.checked)
    print_line(
        console,
        f"look-ahead: {same} of {checked} decisions, drawn from {figures.count(found.decisions)}, "
        "are the same with everything after their instant removed",
    )
    for bot, why in found.skipped.items():
        print_line(console, f"note: {plain(bot)} was left out: {plain(why)}")
    if not found.differences:
        return
    headers = ("run", "bot", "event"), ("what", "stored", "without the future", "with it")
    columns = (*(Column(name, "key") for name in headers[0]), *(Column(name, "text") for name in headers[1]))
    rows = tuple(_cells(each) for each in found.differences[:_SHOWN])
    print_grid(console, Grid("Not the same", columns, rows))
    if len(found.differences) > _SHOWN:
        console.print(f"note: {figures.count(len(found.differences) - _SHOWN)} more; --json has them all")


def look_ahead_document(found: LookAhead) -> Document:
    """Return the same for programs."""
    return document(found, "decisions checked differing differences skipped")


def _cells(each: Difference) -> tuple[str, ...]:
    values = (each.stored, each.without_future, each.with_future)
    return (
        plain(each.run),
        plain(each.bot),
        plain(each.event_id),
        plain(each.what),
        *(figures.MISSING if value is None else plain(str(value), _VALUE_CELLS) for value in values),
    )
