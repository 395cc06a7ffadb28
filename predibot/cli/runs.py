"""`predibot runs`: what is in the ledger, one run, and taking a run out of all scores."""

from pathlib import Path
from typing import Annotated, Any

import typer

from predibot.cli import options, output
from predibot.cli.command import Command, CommandGroup, Commands
from predibot.cli.options import argument, option


class _RunsGroup(CommandGroup):
    """A group whose command that shows a run may be called without its name."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named; what is no command is a run to show."""
        return super().resolve_command(ctx, args if args[0] in self.commands else ["show", *args])


GROUP = Commands(cls=_RunsGroup, rich_markup_mode=None)


@GROUP.callback(invoke_without_command=True, help="list the runs, show one, or take one out of all scores")
def runs(context: typer.Context, ledger: options.Ledger = options.DEFAULT_LEDGER, json: options.Json = False) -> None:
    """List every run of the ledger, void ones too."""
    if context.invoked_subcommand is not None:
        return
    from predibot.api.track import list_runs
    from predibot.reports.terminal.decisions import print_runs
    from predibot.reports.views.decide import run_document

    rows = list_runs(output.caller(), ledger=ledger)
    output.print_found(rows, lambda rows: {"runs": [*map(run_document, rows)]}, print_runs, json=json)


@GROUP.command("show", cls=Command, help="show a run: its bots and events; this word may be left out")
def show(
    context: typer.Context,
    run: Annotated[str, argument("RUN", "its number or key, as `predibot runs` shows it")],
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
) -> None:
    """Show one run."""
    from predibot.jobs.histories.run import run_history
    from predibot.reports.terminal.decisions import print_run, run_history_document

    before = context.parent.params if context.parent is not None else {}
    with output.caller().reading(before["ledger"] if ledger == options.DEFAULT_LEDGER else ledger) as store:
        found = run_history(store, run)
    output.print_found(found, run_history_document, print_run, json=json or before["json"])


@GROUP.command("void", cls=Command, help="take a run out of all scores, so that its time is decided again")
def void(
    context: typer.Context,
    key: Annotated[str, argument("KEY", "the run's key, as `predibot runs` shows it")],
    reason: Annotated[str, option("--reason", "TEXT", "why; it is kept with the run")],
    publish: Annotated[
        Path | None, option("--publish", "FILE", "append the void to this file of roots, which has the run's")
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
        output.report_console().print(f"{key} is void: no score counts it, and its time is free{text}", markup=False)
