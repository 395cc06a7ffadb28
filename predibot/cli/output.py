"""What commands say: one JSON document on stdout, or a report there; everything else on stderr."""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from predibot.contracts import Progress, ProgressListener


def say(text: str) -> None:
    """Print a line for the person at the terminal, on stderr."""
    typer.echo(text, err=True)


def print_document(document: Any) -> None:
    """Print one JSON document on stdout; NaN in it would be a mistake of ours and raises."""
    typer.echo(json.dumps(document, ensure_ascii=False, allow_nan=False))


def report_console() -> "Console":
    """Return the console that reports are printed on."""
    from predibot.reports.terminal import console_for

    return console_for(sys.stdout)


def set_up_logs(*, verbose: bool) -> None:
    """Send warnings to stderr, and with `verbose` also what is being done; secrets never get this far."""
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING,
        stream=sys.stderr,
        format="%(levelname)s %(name)s: %(message)s" if verbose else "%(message)s",
        force=True,
    )
    for chatty in ("httpx", "httpcore", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


@contextmanager
def progress(*, verbose: bool) -> "Iterator[ProgressListener]":
    """Yield a listener that shows a bar where stderr is a terminal, lines with `verbose`, else nothing."""
    if not sys.stderr.isatty():
        yield _log_lines if verbose else _nothing
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def listen(step: "Progress") -> None:
            if step.stage not in tasks:
                tasks[step.stage] = bar.add_task(step.stage, total=step.total)
            bar.update(tasks[step.stage], completed=step.done, total=step.total, description=step.text or step.stage)

        yield listen


def _log_lines(step: "Progress") -> None:
    of = f" of {step.total}" if step.total is not None else ""
    say(f"{step.stage}: {step.done}{of} {step.text}".rstrip())


def _nothing(step: "Progress") -> None:
    """Show nothing: nobody is looking."""
