"""`predibot tables`: the tables of a paper, for the bots of a ledger."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from predibot.cli import options, output
from predibot.cli.command import Command, CommandGroup, Commands
from predibot.cli.ending import DONE

if TYPE_CHECKING:
    from predibot.studies.stakebench.readings import RunTables

_Run = Annotated[str | None, typer.Option("--run", metavar="KEY", help="of this run; left out: of the one made last")]
_Csv = Annotated[
    Path | None, typer.Option("--csv", metavar="FOLDER", help="write a CSV file a table instead of printing")
]
GROUP = Commands(
    cls=CommandGroup,
    help="print the tables of a paper for the bots of a ledger",
    rich_markup_mode=None,
    no_args_is_help=False,
)


@GROUP.command("stakebench", cls=Command, help="print what bots read out of comments, as StakeBench does")
def stakebench(
    run: _Run = None,
    pairs: Annotated[
        list[str] | None, typer.Option("--pairs", metavar="A:B", help="compare two bots; may be repeated")
    ] = None,
    csv: _Csv = None,
    full: Annotated[bool, options.whole("also intervals, tests, audits and gaps")] = False,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
) -> None:
    """Print the tables of a run of text tasks."""
    from predibot.studies.stakebench.readings import run_tables

    with output.caller().reading(ledger) as store:
        found = run_tables(store, run_key=run, pairs=pairs or ())
    _show(found, csv=csv, full=full, json=json)


@GROUP.command("beliefbench", cls=Command, help="print how bots relate questions, as BeliefBench does")
def beliefbench(
    run: _Run = None,
    people: Annotated[
        Path | None, typer.Option("--people", metavar="FILE", help="people's labels: a CSV of pair, rater and label")
    ] = None,
    sheet: Annotated[
        Path | None, typer.Option("--sheet", metavar="FILE", help="write a CSV for people to label instead of printing")
    ] = None,
    csv: _Csv = None,
    full: Annotated[bool, options.whole("also domains, cutoffs, and which labels were given")] = False,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
) -> None:
    """Print the tables of a run over pairs of questions."""
    from predibot.studies.beliefbench.readings import pair_tables, write_sheet

    if sheet is not None and (people is not None or csv is not None):
        raise typer.BadParameter("--sheet writes a sheet instead of tables; ask for --people and --csv without it")
    with output.caller().reading(ledger) as store:
        if sheet is not None:
            pairs = write_sheet(store, sheet, run_key=run)
            if json:
                output.print_document({"sheet": str(sheet), "pairs": pairs}, exit_code=DONE)
            else:
                output.report_console().print(f"{sheet}: {pairs} pairs", soft_wrap=True, markup=False)
            return
        found = pair_tables(store, run_key=run, people=people)
    _show(found, csv=csv, full=full, json=json)


def _show(found: "RunTables", *, csv: Path | None, full: bool, json: bool) -> None:
    from predibot.reports.terminal.tables import print_tables, tables_document, write_tables

    if json:
        output.print_document(tables_document(found), exit_code=DONE)
    elif csv is not None:
        for path in write_tables(found, csv):
            output.report_console().print(str(path), soft_wrap=True, markup=False)
    else:
        print_tables(output.report_console(), found, full=full)
