"""The program `predibot`: its commands, and the way into them."""

import gc
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from predibot.cli.command import Command, CommandGroup, Commands, ReportCommand
from predibot.cli.ending import FAILED, MISUSE, end_on_signals, leave_threads_behind, run_command
from predibot.cli.place import place_of
from predibot.environment import SAFE_PATH
from predibot.reports.terminal.hints import USUAL, in_place
from predibot.version import __version__

_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "OMP_NUM_THREADS")
"""Variables that set how many threads the libraries behind numpy use; the last one holds for all of them."""
_COLLECT_AFTER = (10_000, 50, 100)
"""Thresholds of the garbage collector, as `gc.set_threshold` takes them."""
_COMPLETION_VARIABLE = "_PREDIBOT_COMPLETE"
"""A shell that completes a command line sets this variable."""
_COMPLETION_HELP = {
    "install_completion": "let this shell complete commands and options",
    "show_completion": "show the script that does so",
}


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"predibot {__version__}")
        raise typer.Exit


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


_COMMANDS = {
    "decide": "let every bot of a recipe decide on the top trending events",
    "track": "collect new prices and resolutions of the ledger's markets",
    "evaluate": "rank the bots beside the price, with verdicts and intervals",
    "status": "say whether what runs by itself does",
    "replay": "decide at many past instants, and evaluate at the end",
    "score": "score anybody's forecasts, or an account, from a file",
    "skill": "say whether forecasts beat the price, in any of the usual ways",
    "report": "print the stored runs and scores, asking no venue",
    "account": "show what a bot's account holds, why, and what was booked",
    "cohort": "list weekly cohorts, or show the members and bets of one",
    "relate": "show which events move with one, and why",
    "graph": "draw the events that move together",
    "trace": "show how an agent came to a decision, or what all of them used",
    "select": "show which events a run would play, and why not the others",
    "verify": "compute receipts anew, or with --rows all that must hold",
    "serve": "show a ledger in a browser, read-only",
    "publish": "write the pages of a ledger as a site of files",
    "record": "write a venue's raw answers as an archive to replay later",
    "export": "write decisions, bets, prices and more for other programs",
    "demo": "run the main job over a simulated world and print the report",
    "init": "write a recipe to start from",
    "new-strategy": "write a strategy to start from, with its test",
    "new-tool": "write a tool to start from, with its test",
    "bots": "list strategies, their arguments and tools, or show one bot",
    "studies": "list the papers that can be repeated, and the command of each",
    "prompts": "list the prompts and their fields, or print one to begin from",
    "trust": "let a folder's settings and recipes do what only you may allow",
    "config": "show what a recipe comes to, and where each setting comes from",
    "notify": "show whom predibot tells of runs, and try it with --test",
    "doctor": "check python, ledger, folders, plug-ins, hosts and keys",
}
"""Each command is a function in the module of its name, except those of `_MODULES`."""
_MODULES = {"import": "imports", "new-strategy": "new_plugin", "new-tool": "new_plugin"}
_GROUPS = ("runs", "schedule", "import", "collect", "tables", "study", "ledger")
"""Each group is the `GROUP` of the module of its name, except those of studies."""
_OF_STUDIES = ("collect", "tables", "study")
_PURPOSES = {
    "Play": ("demo", "init", "decide", "replay", "select", "schedule"),
    "Score": ("track", "evaluate", "report", "score", "skill"),
    "Look": ("status", "serve", "publish", "trace", "runs", "account", "cohort", "relate", "graph"),
    "Studies": ("studies", "collect", "tables", "study"),
    "Keep": ("verify", "record", "export", "import", "ledger"),
    "Set up": ("doctor", "bots", "new-strategy", "new-tool", "config", "prompts", "notify", "trust"),
}
"""Every command by what it is for, as the help lists them: a newcomer's twelve come first."""


class _Program(CommandGroup):
    """The program itself, whose help has its commands by what they are for."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for purpose, names in _PURPOSES.items():
            with formatter.section(purpose):
                formatter.write_dl([(f"{name:<8}", self.commands[name].get_short_help_str(80)) for name in names])


def program(names: Iterable[str] = (*_COMMANDS, *_GROUPS)) -> typer.Typer:
    """Return the program with these commands; others are not loaded, as all of them take a tenth of a second."""
    app = Commands(
        name="predibot",
        cls=_Program,
        help="let bots bet on the future, and say honestly how good they are",
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_options)
    for name in names:
        if name in _OF_STUDIES:
            app.add_typer(import_module("predibot.cli.study").group(name), name=name)
            continue
        module = import_module(f"predibot.cli.{_MODULES.get(name, name)}")
        if name in _GROUPS:
            app.add_typer(module.GROUP, name=name)
        else:
            kind = ReportCommand if name == "report" else Command
            app.command(name, cls=kind, help=_COMMANDS[name])(getattr(module, name.replace("-", "_")))
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code, one of `predibot.cli.ending.EXIT_CODES`."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open as long as the program runs
    if sys.stdout is None:
        # The next file that is opened, perhaps the ledger, would get the number of stdout.
        typer.echo("error: stdout is closed, so nothing could be shown; write >/dev/null to discard it.", err=True)
        return FAILED
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that knows no dash gets a question mark, not a crash.
        sys.stdout.reconfigure(errors="replace")
    is_program = arguments is None
    if is_program:
        # Loading makes a million objects and drops none: a collection for every 700 takes a tenth of the start.
        gc.set_threshold(*_COLLECT_AFTER)
        # Processes that multiprocessing starts would import a `multiprocessing.py` of the current folder.
        os.environ.setdefault(SAFE_PATH, "1")  # noqa: TID251 - the interpreter reads it, not the settings
    with in_place(place_of(given) if is_program else USUAL), end_on_signals(is_program=is_program):
        code = run_command(lambda: _run(given), given)
        if is_program:
            leave_threads_behind(code)
        return code


def _run(arguments: list[str]) -> int:
    # Make numpy use one thread, unless it is loaded or the user set a number: our matrices are small.
    environment = os.environ  # noqa: TID251 - a library of C reads it, not the settings
    if "numpy" not in sys.modules and not any(name in environment for name in _THREADS):
        environment.update(dict.fromkeys(_THREADS[:-1], "1"))
    named = arguments[:1]
    command = get_command(program(named) if {*named} & {*_COMMANDS, *_GROUPS} else program())
    for option in command.params:
        if option.name in _COMPLETION_HELP:
            option.help = _COMPLETION_HELP[option.name]  # type: ignore[attr-defined] # every option has one
    if _COMPLETION_VARIABLE in os.environ:  # noqa: TID251 - the shell asks, long before there are settings
        command.main(arguments, prog_name="predibot")
    # Typer itself would turn Ctrl-C and a closed pipe into exit codes without a message.
    try:
        with command.make_context("predibot", arguments) as context:
            return int(command.invoke(context) or 0)
    except typer.Exit as exit_:
        return int(exit_.exit_code)
