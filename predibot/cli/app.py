"""The program `predibot`: its commands, and how every error of theirs is told."""

import json
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Annotated, Any

import typer

from predibot import __version__
from predibot.cli import (
    bots,
    decide,
    demo,
    doctor,
    evaluate,
    export,
    init,
    record,
    report,
    runs,
    select,
    track,
)
from predibot.errors import PredibotError

_NO_COMMAND, _INTERRUPTED, _TERMINATED = 2, 130, 143

_MISUSE: Any = typer.BadParameter.__base__
"""The error of a wrong command line; typer carries its own click and does not name this one."""

app = typer.Typer(
    name="predibot",
    help="let bots bet on the future, and say honestly how good they are",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


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
        typer.echo(context.get_help())
        raise typer.Exit(_NO_COMMAND)


for module in (decide, track, evaluate, report, select, runs, record, export, demo, init, bots, doctor):
    module.register(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code: 0 done, 1 an error told, 2 misuse, 130 interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    signal.signal(signal.SIGTERM, _terminated)
    try:
        code = app(given, prog_name="predibot", standalone_mode=False)
    except _MISUSE as error:
        typer.echo(f"error: {error.format_message()}", err=True)
        return int(error.exit_code)
    except PredibotError as error:
        _tell(error, as_json="--json" in given)
        return 1
    except _Terminated:
        typer.echo(_go_on(given, "terminated"), err=True)
        return _TERMINATED
    except (KeyboardInterrupt, typer.Abort):
        typer.echo(_go_on(given, "interrupted"), err=True)
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough, as `head` does.
        sys.stdout = None
        return 0
    return int(code or 0)


class _Terminated(KeyboardInterrupt):
    """The system asked the program to end; it ends as it does on Ctrl-C."""


def _terminated(_signal: int, _frame: FrameType | None) -> None:
    raise _Terminated


def _tell(error: PredibotError, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"error": {"kind": error.kind, "message": str(error)}}, ensure_ascii=False))
    else:
        typer.echo(f"error: {' '.join(str(error).split())}", err=True)


def _go_on(arguments: Sequence[str], what: str) -> str:
    return f"{what}: what is recorded is kept. To go on, run again: predibot {' '.join(arguments)}"
