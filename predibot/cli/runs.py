"""`predibot runs`: what is in the ledger, and taking a run out of all scores."""

from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.command import Command, CommandGroup, Commands

GROUP = Commands(cls=CommandGroup, rich_markup_mode=None)


@GROUP.callback(invoke_without_command=True, help="list the runs, or take one out of all scores")
def runs(context: typer.Context, ledger: options.Ledger = options.DEFAULT_LEDGER, json: options.Json = False) -> None:
    """List every run of the ledger, void ones too."""
    if context.invoked_subcommand is not None:
        return
    from predibot.api.track import list_runs
    from predibot.reports.terminal.terminal import print_runs
    from predibot.reports.views.decide import run_document

    rows = list_runs(output.caller(), ledger=ledger)
    if json:
        output.print_document({"runs": [*map(run_document, rows)]})
    else:
        print_runs(output.report_console(), rows)


@GROUP.command("void", cls=Command, help="take a run out of all scores and free its slot; it stays on record")
def void(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="the run's key, as `predibot runs` shows it")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="why; it is kept with the run")],
    publish: Annotated[
        Path | None,
        typer.Option("--publish", metavar="FILE", help="append the void to this file of roots, which has the run's"),
    ] = None,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
) -> None:
    """Take a run out of all scores."""
    from predibot.api.track import void_run

    # Options may stand before `void` as well as behind it.
    before = context.parent.params if context.parent is not None else {}
    address = before["ledger"] if ledger == options.DEFAULT_LEDGER else ledger
    published = void_run(key, output.caller(), ledger=address, reason=reason, file=publish)
    if json or before["json"]:
        more = {} if publish is None else {"published": published}
        output.print_document({"voided": key, "reason": reason, **more})
    else:
        lines = f"{published} line{'s' * (published != 1)} appended to {publish}"
        text = "" if publish is None else f"; {lines}" if published else f"; {publish} has no root of it without that"
        output.report_console().print(f"{key} is void: no score counts it, and its slot is free{text}", markup=False)
