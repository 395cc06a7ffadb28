"""What became of a run that was decided again from its traces."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from predibot.jobs.replay.rerun import Rerun
from predibot.reports import figures
from predibot.reports.terminal.grid import Column, Grid, print_grid
from predibot.reports.terminal.text import plain


def print_rerun(console: Console, run_key: str, found: Sequence[Rerun]) -> None:
    """Print how many decisions are the same again, and each that is not."""
    others = [each for each in found if not each.equal]
    same, of = figures.count(len(found) - len(others)), figures.count(len(found))
    console.print(f"{plain(run_key)}: {same} of {of} decisions are the same again, byte for byte")
    if not others:
        return
    columns = (Column("bot", "key"), Column("event", "key"), Column("stored as", "key"), Column("now", "text"))
    rows = tuple((plain(each.bot), plain(each.event_id), each.status, plain(each.difference)) for each in others)
    print_grid(console, Grid("Not the same, or not rerun", columns, rows))


def rerun_document(run_key: str, found: Sequence[Rerun]) -> dict[str, Any]:
    """Return the same for programs; `equal` is null for what was not rerun."""
    rows = [{name: getattr(each, name) for name in Rerun.__slots__} for each in found]
    return {"run": run_key, "equal": all(each.equal is not False for each in found), "decisions": rows}
