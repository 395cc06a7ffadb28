"""`predibot tables`: the tables of a paper, for the bots of a ledger."""

from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.command import Command, Group
from predibot.cli.ending import DONE

GROUP = typer.Typer(
    cls=Group, help="print the tables of a paper for the bots of a ledger", rich_markup_mode=None, no_args_is_help=False
)


@GROUP.callback()
def _of_group() -> None:
    """Keep the command of this group a word of its own, though it is the only one."""


@GROUP.command("stakebench", cls=Command, help="print what bots read out of comments, as StakeBench does")
def stakebench(
    run: Annotated[
        str | None, typer.Option("--run", metavar="KEY", help="of this run; left out: of the one made last")
    ] = None,
    pairs: Annotated[
        list[str] | None, typer.Option("--pairs", metavar="A:B", help="compare two bots; may be repeated")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FOLDER", help="write a CSV file a table instead of printing")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="also intervals, tests, audits and gaps")] = False,
    ledger: options.Ledger = None,
    json: options.Json = False,
) -> None:
    """Print the tables of a run of text tasks."""
    from predibot.jobs.comments.readings import run_tables
    from predibot.ledger.store import Store
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.reports.terminal.tables import print_tables, tables_document, write_tables

    output.set_up_logs(verbose=False)
    with Store.open_to_read(ledger or DEFAULT_LEDGER) as store:
        output.say(f"ledger: {store.address}")
        found = run_tables(store, run_key=run, pairs=pairs or ())
    if json:
        output.print_document(tables_document(found), exit_code=DONE)
    elif csv is not None:
        for path in write_tables(found, csv):
            output.report_console().print(str(path), soft_wrap=True, markup=False)
    else:
        print_tables(output.report_console(), found, full=full)
