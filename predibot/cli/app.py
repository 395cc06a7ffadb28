"""The program `predibot`: its commands, and the way into them."""

import gc
import os
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer
from typer.main import get_command

from predibot.cli import (
    account,
    bots,
    cohort,
    collect,
    decide,
    demo,
    doctor,
    evaluate,
    export,
    graph,
    imports,
    init,
    ledger,
    notify,
    record,
    relate,
    replay,
    report,
    runs,
    schedule,
    score,
    select,
    serve,
    status,
    tables,
    trace,
    track,
    verify,
)
from predibot.cli.command import Command, DecidingCommand, Group, StatusCommand
from predibot.cli.ending import FAILED, MISUSE, ended, ended_by_signals, leave_threads_behind
from predibot.version import __version__

app = typer.Typer(
    name="predibot",
    cls=Group,
    help="let bots bet on the future, and say honestly how good they are",
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "OMP_NUM_THREADS")
"""By which a user says on how many threads the libraries behind numpy compute, the last one to all of them."""
_COLLECT_AFTER = (10_000, 50, 100)
"""New objects before the youngest are collected, and collections of one generation before those of the next."""
_COMPLETION_ASKED = "_PREDIBOT_COMPLETE"
"""The variable in which a shell asks what may come next."""
_COMPLETION_HELP = {
    "install_completion": "let this shell complete commands and options",
    "show_completion": "show the script that does so",
}


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"predibot {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="show the version and exit")
    ] = False,
) -> None:
    """Let bots bet on the future, and say honestly how good they are."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(MISUSE)


_COMMANDS: Sequence[tuple[Callable[..., None], type[Command], str]] = (
    (decide.decide, DecidingCommand, "let every bot of a recipe decide on the top trending events"),
    (track.track, Command, "collect new prices and resolutions of the ledger's markets"),
    (evaluate.evaluate, Command, "rank the bots beside the price, with verdicts and intervals"),
    (status.status, StatusCommand, "say whether what runs by itself does"),
    (replay.replay, DecidingCommand, "decide at many past instants, and evaluate at the end"),
    (score.score, Command, "score anybody's forecasts, or an account, from a file"),
    (report.report, Command, "print the stored runs and scores, asking no venue"),
    (account.account, Command, "show what a bot's account holds, why, and what was booked"),
    (cohort.cohort, Command, "list weekly cohorts, or show the members and bets of one"),
    (relate.relate, Command, "show which events move with one, and why"),
    (graph.graph, Command, "show which events hang together, and draw it"),
    (trace.trace, Command, "show how an agent came to a decision, or what all of them used"),
    (select.select, Command, "show which events a run would play, and why not the others"),
    (verify.verify, Command, "compute a run's receipt anew, or publish the roots of all"),
    (serve.serve, Command, "show a ledger in a browser, read-only"),
    (record.record, Command, "write a venue's raw answers as an archive to replay later"),
    (export.export, Command, "write decisions, bets, prices and more for other programs"),
    (demo.demo, Command, "run the main job over a simulated world and print the report"),
    (init.init, Command, "write a recipe to start from"),
    (bots.bots, Command, "list the strategies, their arguments, and tools"),
    (notify.notify, Command, "show whom predibot tells of runs, and try it with --test"),
    (doctor.doctor, Command, "check python, ledger, folders, plug-ins, hosts and keys"),
)
for function, kind, words in _COMMANDS:
    app.command(function.__name__, cls=kind, help=words)(function)
_GROUPS = (
    ("runs", runs.GROUP),
    ("schedule", schedule.GROUP),
    ("import", imports.GROUP),
    ("collect", collect.GROUP),
    ("tables", tables.GROUP),
    ("ledger", ledger.GROUP),
)
for name, group in _GROUPS:
    app.add_typer(group, name=name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code, one of `predibot.cli.ending.EXIT_CODES`."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open as long as the program runs
    if sys.stdout is None:
        # The next file to be opened, perhaps the ledger, would be taken for it.
        typer.echo("error: stdout is closed, so nothing could be shown; write >/dev/null to discard it.", err=True)
        return FAILED
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that knows no dash gets a question mark, not a crash.
        sys.stdout.reconfigure(errors="replace")
    is_program = arguments is None
    if is_program:
        # Loading makes a million objects and drops none: a collection for every 700 takes a tenth of the start.
        gc.set_threshold(*_COLLECT_AFTER)
    with ended_by_signals(is_program=is_program):
        code = ended(lambda: _run(given), given)
        if is_program:
            leave_threads_behind(code)
        return code


def _compute_on_one_thread() -> None:
    """Have numpy compute on one thread where nobody said on how many: our matrices are small, and others wait.

    It reads this once, when it is imported.
    """
    environment = os.environ  # noqa: TID251 - a library of C reads it, not the settings
    if "numpy" not in sys.modules and not any(name in environment for name in _THREADS):
        environment.update(dict.fromkeys(_THREADS[:-1], "1"))


def _run(arguments: list[str]) -> int:
    _compute_on_one_thread()
    command = get_command(app)
    for option in command.params:
        if option.name in _COMPLETION_HELP:
            option.help = _COMPLETION_HELP[option.name]  # type: ignore[attr-defined] # every option has one
    if _COMPLETION_ASKED in os.environ:  # noqa: TID251 - the shell asks, long before there are settings
        command.main(arguments, prog_name="predibot")
    # Typer's own way in turns Ctrl-C and a closed pipe into exit codes without a word.
    try:
        with command.make_context("predibot", arguments) as context:
            command.invoke(context)
    except typer.Exit as exit_:
        return int(exit_.exit_code)
    return 0
