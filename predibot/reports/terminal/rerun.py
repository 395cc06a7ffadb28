"""What became of a run that was decided again from its traces."""

from collections.abc import Sequence

from rich.console import Console

from predibot.jobs.replay.rerun import Rerun
from predibot.reports import figures
from predibot.reports.document import Document, document
from predibot.reports.table import Column, table_of
from predibot.reports.terminal.grid import print_grid
from predibot.reports.terminal.text import plain


def print_rerun(console: Console, run_key: str, found: Sequence[Rerun]) -> None:
    """Print how many decisions are the same again, and each that is not."""
    others = [each for each in found if not each.equal]
    same, of = figures.count(len(found) - len(others)), figures.count(len(found))
    console.print(f"{plain(run_key)}: {same} of {of} decisions are the same again, byte for byte")
    if not others:
        return
    print_grid(console, table_of("Not the same, or not rerun", _RERUN, others))


def rerun_document(run_key: str, found: Sequence[Rerun]) -> Document:
    """Return the same for programs; `equal` is null for what was not rerun."""
    rows = [document(each) for each in found]
    return {"run": run_key, "equal": all(each.equal is not False for each in found), "decisions": rows}


_RERUN = (
    Column("bot", "bot", kind="key"),
    Column("event", "event_id", kind="key"),
    Column("stored as", "status", kind="key"),
    Column("now", "difference", kind="text"),
)
