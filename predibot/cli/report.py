"""`predibot report`: the runs and scores that are stored, without asking any venue."""

from typing import TYPE_CHECKING, Annotated

import typer

from predibot.cli import options, output
from predibot.cli.command import Command
from predibot.cli.ending import DONE

if TYPE_CHECKING:
    from predibot.jobs.evaluate import Stored
    from predibot.jobs.worst import WorstDecision
    from predibot.reports.terminal.evaluation_screen import Shown


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("report", cls=Command, help="print the stored runs and scores, asking no venue")(report)


def report(
    recipe: Annotated[
        str | None, typer.Argument(metavar="RECIPE", help="only runs of this recipe; left out: all runs")
    ] = None,
    venue: options.LookBackVenue = None,
    as_of: options.AsOf = None,
    bots: options.Bots = None,
    ledger: options.Ledger = None,
    full: options.Full = False,
    table: options.Table = None,
    worst: options.Worst = None,
    every: options.AllRows = False,
    json: options.Json = False,
    csv: options.Csv = False,
    verbose: options.Verbose = False,
) -> None:
    """Print each bot's place on the leaderboard, and of how many runs."""
    from predibot.jobs.evaluate import evaluate_stored
    from predibot.ledger.store import Store
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.scoring.evaluation.evaluation import Question

    output.set_up_logs(verbose=verbose)
    output.one_format(json=json, csv=csv, worst=worst)
    bot_names = options.names(bots)
    shown = options.shown(full=full, table=table, every=every)
    asked = output.question_for(Question(), shown, json=json, csv=csv)
    with Store.open_to_read(ledger or DEFAULT_LEDGER) as store:
        output.say(f"ledger: {store.address}")
        found = evaluate_stored(
            store, venue=venue, recipe=recipe, bots=bot_names, as_of=as_of, question=asked, clock=options.wall_clock
        )
        lost = output.worst_of(found.evaluation, store, found.venue_name, worst, recipe=found.recipe, bots=bot_names)
    with store.rows_blamed():
        _show(found, lost, shown, json=json, csv=csv)


def _show(found: "Stored", lost: "tuple[WorstDecision, ...] | None", shown: "Shown", *, json: bool, csv: bool) -> None:
    from predibot.reports.terminal.terminal import print_line, print_runs
    from predibot.reports.views.evaluation_json import evaluation_document
    from predibot.reports.views.from_jobs import run_row

    rows = [run_row(summary) for summary in found.runs]
    if json:
        document = {"runs": [row.document() for row in rows], **evaluation_document(found.evaluation)}
        output.print_document({**document, **output.worst_document(lost)}, exit_code=DONE)
        return
    output.print_evaluation(found.evaluation, json=False, csv=csv, shown=shown, worst=lost)
    if shown.table is None and not csv:
        console = output.report_console()
        console.print()
        if shown.full:
            print_runs(console, rows)
        else:
            print_line(console, f"Runs: {len(rows):,}; --full lists them.")
