"""What became of decisions that were made again without the future."""

from rich.console import Console

from predibot.jobs.replay.look_ahead_check import LookAhead
from predibot.reports import figures
from predibot.reports.document import Document, document
from predibot.reports.table import Column, table_of
from predibot.reports.terminal.grid import print_grid
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
    print_grid(console, table_of("Not the same", _DIFFERENCES, found.differences[:_SHOWN]))
    if len(found.differences) > _SHOWN:
        console.print(f"note: {figures.count(len(found.differences) - _SHOWN)} more; --json has them all")


def look_ahead_document(found: LookAhead) -> Document:
    """Return the same for programs."""
    return document(found, "decisions checked differing differences skipped")


def _value(value: object) -> str:
    return plain(str(value), _VALUE_CELLS)


_DIFFERENCES = (
    Column("run", "run", kind="key"),
    Column("bot", "bot", kind="key"),
    Column("event", "event_id", kind="key"),
    Column("what", "what", kind="text"),
    Column("stored", "stored", _value, kind="text"),
    Column("without the future", "without_future", _value, kind="text"),
    Column("with it", "with_future", _value, kind="text"),
)
