"""What commands print: one JSON document or one report on stdout, everything else on stderr."""

import json
import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from predibot.cli.ending import DONE, environment_secrets, mask_passwords

if TYPE_CHECKING:
    from rich.console import Console

    from predibot.api.evaluate import EvaluationReport
    from predibot.cli import options
    from predibot.config import Settings
    from predibot.contracts import Progress, ProgressListener
    from predibot.jobs.caller import Caller
    from predibot.jobs.deciding.activity import Activity, Watch
    from predibot.jobs.score_files.outside import OutsideScores
    from predibot.jobs.worst_decisions import WorstDecision
    from predibot.recipe.recipe import Recipe
    from predibot.reports.table import Kind
    from predibot.reports.terminal.evaluation_screen import ScreenOptions
    from predibot.scoring.evaluation.evaluation import Evaluation, Question


_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_BAR_TEXT_CELLS, _BAR_CELLS = 32, 20
_NAMED_BOTS = 5
_Found = TypeVar("_Found")


def say(text: str) -> None:
    """Print a line for the person at the terminal, on stderr, without any key."""
    from predibot.reports.terminal.hints import runnable

    # Not by click, which would write past the bar that stands in for stderr, into the middle of its line.
    print(environment_secrets().mask(runnable(text)), file=sys.stderr, flush=True)


def print_document(document: Any, *, exit_code: int | None = None) -> None:
    """Print one JSON document on stdout, with the exit code if it is given; NaN in it is a bug and raises.

    It is ASCII: no title can control the screen, and every terminal and pipe can take it.
    """
    ended = {} if exit_code is None else {"exit_code": exit_code}
    typer.echo(json.dumps(environment_secrets().mask_json({**document, **ended}), allow_nan=False))


def report_console() -> "Console":
    """Return the console that reports are printed on."""
    from predibot.reports.terminal.terminal import console_for

    return console_for(sys.stdout)


def print_found(
    found: _Found,
    document: Callable[[_Found], Any],
    draw: "Callable[..., None]",
    *,
    json: bool,
    exit_code: int | None = None,
    **how: Any,
) -> None:
    """Print what a command found: its document as JSON, or as `draw(console, found, **how)` draws it for a person."""
    if json:
        print_document(document(found), exit_code=exit_code)
    else:
        draw(report_console(), found, **how)


def print_cells(title: str, columns: "Mapping[str, Kind]", rows: Iterable[Sequence[str]], *below: str) -> None:
    """Print a table of texts, also of others; `columns` are the kinds by header."""
    from predibot.reports.table import Column, Table
    from predibot.reports.terminal.terminal import plain, print_grid

    described = tuple(Column(header, kind=kind) for header, kind in columns.items())
    print_grid(report_console(), Table(title, described, tuple(tuple(map(plain, row)) for row in rows), below))


def print_files(files: Sequence[Path], *, json: bool, nothing: str) -> None:
    """Print the paths of files that were drawn, or say that there was `nothing` to draw."""
    if json:
        print_document({"files": [file.as_posix() for file in files]}, exit_code=DONE)
        return
    for file in files:
        print(file.as_posix())
    if not files:
        say(nothing)


def print_either(document: Any, *lines: str, json: bool) -> None:
    """Print a JSON document, or else lines as `print_lines` does."""
    if json:
        print_document(document)
    else:
        print_lines(*lines)


def print_lines(said: str, *beside: str) -> None:
    """Print a line of ours, then lines that may hold texts of others."""
    from predibot.reports.terminal.terminal import plain, print_line

    console = report_console()
    print_line(console, said)
    for each in beside:
        print_line(console, plain(each))


def question_for(question: "Question", shown: "ScreenOptions", how: "options.Output") -> "Question":
    """Return the question reduced to what a screen shows; a document and CSV get everything."""

    from predibot.reports.terminal.evaluation_screen import required_parts

    return question if how.json or how.csv else replace(question, wanted=required_parts(shown, question.grouping))


def caller(log: "options.Log | None" = None, *, verbose: bool = False) -> "Caller":
    """Set up the logs, and return the caller at a terminal; `verbose` counts only without `log`."""
    from functools import partial

    from predibot.jobs.caller import Caller, wall_clock

    verbose = verbose if log is None else log.verbose
    set_up_logs(verbose=verbose)
    if log is not None:
        _add_log(log, _settings())
    return Caller(_settings, wall_clock, say, partial(progress, verbose=verbose))


def _settings() -> "Settings":
    # Imported here: commands that only read a ledger need no settings.
    from predibot.config import load_settings

    return load_settings()


def _add_log(asked: "options.Log", settings: "Settings") -> None:
    """Add the log that options or settings ask for: a file, or JSON on stderr in place of plain lines."""
    named = Path(settings.log_file) if settings.log_file else None
    file, as_json = asked.log_file or named, asked.log_json or settings.log_json
    if file is None and not as_json:
        return
    from predibot.jobs.logs.log_file import LineFormatter, LogFile, is_logged

    root, hidden = logging.getLogger(), environment_secrets().mask
    handler: logging.Handler = _Stderr()
    if file is not None:
        handler = LogFile(file, say, most_bytes=settings.log_file_bytes, backups=settings.log_backups)
    handler.setFormatter(LineFormatter(lambda text: hidden(mask_passwords(text)), as_json=as_json))
    handler.addFilter(is_logged)
    others = [] if file is None else root.handlers
    for other in others:
        other.setLevel(root.level)
    root.handlers = [*others, handler]
    root.setLevel(logging.INFO)


def read_outside(tables: "options.Tables") -> "OutsideScores | None":
    """Return the scores of `--outside`; None without one."""
    if tables.outside is None:
        return None
    from predibot.jobs.score_files.outside import read_outside_scores

    return read_outside_scores(tables.outside, sys.stdin)


def print_reports(
    found: "Sequence[EvaluationReport]",
    how: "options.Output",
    shown: "ScreenOptions",
    scores: "OutsideScores | None" = None,
) -> None:
    """Print evaluations on stdout, several of them side by side, and how far they and scores from outside agree."""

    from predibot.domain.spelling import first_of
    from predibot.reports.table import words
    from predibot.reports.views.comparison import (
        agreement_rows,
        comparison_document,
        comparison_tables,
        side_by_side_rows,
    )
    from predibot.scoring.evaluation.comparison import compare

    named = None if scores is None else (scores.name, scores.by_bot)
    comparison = compare([(each.label(among=found), each.evaluation) for each in found], named)
    is_one = len(found) == 1
    if scores is not None and (missing := [bot for bot in scores.by_bot if bot not in comparison.bots]):
        say(f"no board has a figure of: {words(first_of(missing, _NAMED_BOTS))}")
    if how.json:
        documents = [_report_document(each) for each in found]
        boards = [{"venue": it.venue, "ledger": it.ledger, **each} for it, each in zip(found, documents, strict=True)]
        said = {} if is_one and scores is None else comparison_document(comparison)
        print_document({**(documents[0] if is_one else {"boards": boards}), **said}, exit_code=DONE)
    elif how.csv and shown.table is None and (scores is not None or not is_one):
        from predibot.reports.views.evaluation import csv_of

        beside, agreed = side_by_side_rows(comparison.boards), agreement_rows(comparison.agreements)
        typer.echo(csv_of(beside if scores is None else agreed), nl=False)
    elif how.csv and not is_one:
        raise typer.BadParameter(f"--csv is one table, and there are {len(found)} boards; say which --venue is meant")
    else:
        from predibot.plugins.venues import venue_or_defaults

        for board, each in zip(comparison.boards, found, strict=True):
            if not is_one:
                print_lines("", f"=== {board.name}")
            simulated = venue_or_defaults(each.venue.partition(":")[0]).invented
            last = shown.next_steps if each is found[-1] else ()
            print_evaluation(each.evaluation, how, replace(shown, simulated=simulated, next_steps=last), each.worst)
        if not how.csv and shown.table is None:
            from predibot.reports.terminal.terminal import print_grid

            for table in comparison_tables(comparison):
                print_lines("")
                print_grid(report_console(), table)


def _report_document(found: "EvaluationReport") -> dict[str, Any]:
    from predibot.reports.terminal.closeups.rows import worst_documents
    from predibot.reports.views.decide import run_document
    from predibot.reports.views.evaluation import evaluation_document

    worst = {} if found.worst is None else {"worst": worst_documents(found.worst)}
    runs = {} if found.runs is None else {"runs": [*map(run_document, found.runs)]}
    return {**runs, **evaluation_document(found.evaluation), **worst}


def print_evaluation(
    evaluation: "Evaluation",
    how: "options.Output",
    shown: "ScreenOptions | None" = None,
    worst: "tuple[WorstDecision, ...] | None" = None,
) -> None:
    """Print an evaluation on stdout: as JSON, as CSV, or for a person, who gets the summary if `shown` is left out."""
    if how.csv:
        from predibot.reports.views.evaluation import evaluation_csv

        typer.echo(evaluation_csv(evaluation, None if shown is None else shown.table), nl=False)
    else:
        from predibot.reports import figures
        from predibot.reports.terminal import evaluation_screen

        console = report_console()
        with figures.in_currency(evaluation.currency):
            evaluation_screen.print_evaluation(console, evaluation, shown)
            if worst is not None:
                from predibot.reports.terminal.closeups.rows import print_worst

                print_worst(console, worst)


def set_up_logs(*, verbose: bool) -> None:
    """Send warnings to stderr, and with `verbose` also what is being done."""
    handler = _Stderr()
    handler.setFormatter(_LogLine(verbose=verbose))
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, handlers=[handler], force=True)
    for chatty in ("httpx", "httpcore", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


class _Stderr(logging.Handler):
    """Prints on the stderr of the moment: a progress bar replaces it for a while."""

    def emit(self, record: logging.LogRecord) -> None:
        say(self.format(record))


class _LogLine(logging.Formatter):
    """Formats a record without control characters; without `verbose` an exception gives its last line only."""

    def __init__(self, *, verbose: bool) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s" if verbose else "%(message)s")
        self._verbose = verbose

    def format(self, record: logging.LogRecord) -> str:
        return _CONTROL.sub("\ufffd", super().format(record))

    def formatException(self, ei: Any) -> str:
        whole = super().formatException(ei)
        return whole if self._verbose else f"{whole.splitlines()[-1]} (add -v to see where)"


@contextmanager
def progress(*, verbose: bool) -> "Iterator[ProgressListener]":
    """Yield a listener that shows a bar where stderr is a terminal, lines with `verbose`, else nothing.

    There is one bar, of the stage that goes on: where the next one begins it starts again.
    What plug-ins print meanwhile goes to stderr too: stdout is for the result.
    """
    if not sys.stderr.isatty():
        from predibot.jobs.deciding.activity import ignore_progress

        with redirect_stdout(sys.stderr):
            yield _log_lines if verbose else ignore_progress
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    from predibot.reports.terminal.terminal import console_for, plain

    description, of_bar = TextColumn("{task.description}", markup=False), BarColumn(_BAR_CELLS)
    columns = (description, of_bar, MofNCompleteColumn(), TimeElapsedColumn())
    with redirect_stdout(sys.stderr), Bar(*columns, console=console_for(sys.stderr), transient=True) as bar:
        task = bar.add_task("", visible=False)
        stages: list[str] = []

        def listen(step: "Progress") -> None:
            if stages[-1:] != [step.stage]:
                stages[:] = [step.stage]
                bar.reset(task)
            text = plain(step.text or step.stage, _BAR_TEXT_CELLS)
            bar.update(task, completed=step.done, total=step.total, description=text, visible=True)

        yield listen


@contextmanager
def watch_bots(recipe: "Recipe", *, verbose: bool) -> "Iterator[tuple[ProgressListener, Watch]]":
    """Yield listeners that show what every bot is doing: a live table on a terminal, lines with `verbose`.

    What plug-ins print meanwhile goes to stderr, as in `progress`.
    """
    from predibot.jobs.deciding.activity import ignore_progress

    if not sys.stderr.isatty():
        with redirect_stdout(sys.stderr):
            yield (_log_lines, _log_activity) if verbose else (ignore_progress, ignore_progress)
        return
    from predibot.reports.terminal.live import live_board

    with redirect_stdout(sys.stderr), live_board([bot.name for bot in recipe.bots], sys.stderr) as board:
        yield board.progress, board.activity


def _log_activity(activity: "Activity") -> None:
    if not activity.text:
        return
    from predibot.reports.terminal.terminal import plain

    say(plain(f"{activity.bot} on {activity.event_id}: step {activity.step}, {activity.text}"))


def _log_lines(step: "Progress") -> None:
    of = f" of {step.total}" if step.total is not None else ""
    say(f"{step.stage}: {step.done}{of} {step.text}".rstrip())
