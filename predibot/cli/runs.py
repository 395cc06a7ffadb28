"""`predibot runs`: what is in the ledger, and taking a run out of all scores."""

from dataclasses import dataclass
from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.command import Command, Group


@dataclass(frozen=True, slots=True)
class _Before:
    """The options that stood before the name of a command below `runs`."""

    ledger: str | None
    json: bool


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    group = typer.Typer(cls=Group, rich_markup_mode=None)
    group.callback(invoke_without_command=True, help="list the runs, or take one out of all scores")(runs)
    group.command("void", cls=Command, help="take a run out of all scores and free its slot; it stays on record")(void)
    app.add_typer(group, name="runs")


def runs(context: typer.Context, ledger: options.Ledger = None, json: options.Json = False) -> None:
    """List every run of the ledger, void ones too."""
    if context.invoked_subcommand is not None:
        # Options may stand before `void` as well as behind it.
        context.obj = _Before(ledger, json)
        return
    from predibot.ledger.store import Store
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.ledger.write.runs import list_runs
    from predibot.reports.terminal.terminal import print_runs
    from predibot.reports.views.from_jobs import run_row

    output.set_up_logs(verbose=False)
    with Store.open_to_read(ledger or DEFAULT_LEDGER) as store:
        output.say(f"ledger: {store.address}")
        with store.read() as connection:
            rows = [run_row(summary) for summary in list_runs(connection)]
    with store.rows_blamed():
        if json:
            output.print_document({"runs": [row.document() for row in rows]})
        else:
            print_runs(output.report_console(), rows)


def void(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="the run's key, as `predibot runs` shows it")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="why; it is kept with the run")],
    ledger: options.Ledger = None,
    json: options.Json = False,
) -> None:
    """Take a run out of all scores."""
    from predibot.ledger.store import Store
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.ledger.write.runs import void_run

    output.set_up_logs(verbose=False)
    before: _Before = context.obj
    with Store.open(ledger or before.ledger or DEFAULT_LEDGER, create=False) as store:
        output.say(f"ledger: {store.address}")
        with store.write() as connection:
            void_run(connection, key, reason=reason, at=options.wall_clock())
    if json or before.json:
        output.print_document({"voided": key, "reason": reason})
    else:
        output.report_console().print(f"{key} is void: no score counts it, and its slot is free", markup=False)
