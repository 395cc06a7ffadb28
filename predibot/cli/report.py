"""`predibot report`: the runs and scores that are stored, without asking any venue."""

from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.command import Command
from predibot.cli.ending import DONE


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
    every: options.AllRows = False,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Print each bot's place on the leaderboard, then every run."""
    from predibot.jobs.evaluate import evaluate, spec_of_ledger
    from predibot.jobs.recipes import asked_about
    from predibot.jobs.venues import look_back_at, venue_name
    from predibot.ledger.runs import list_runs
    from predibot.ledger.store import Store
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.reports.decided import run_row
    from predibot.reports.evaluation import evaluation_document
    from predibot.reports.terminal import print_runs
    from predibot.scoring.evaluation import Question

    output.set_up_logs(verbose=verbose)
    bot_names = options.names(bots)
    shown = options.shown(full=full, table=table, every=every)
    asked = output.question_for(Question(), shown, json=json)
    with Store.open(ledger or DEFAULT_LEDGER, create=False) as store:
        output.say(f"ledger: {store.address}")
        spec = spec_of_ledger(store, venue)
        with store.read() as connection:
            runs = list_runs(connection)
        name = asked_about(recipe, bot_names, runs)
        rows = [run_row(summary) for summary in runs if name in (None, summary.run.recipe)]
        at = look_back_at(spec, as_of, options.wall_clock)
        evaluation = evaluate(
            store=store, venue_name=venue_name(spec), as_of=at, recipe=name, bots=bot_names, question=asked
        )
    if json:
        output.print_document(
            {"runs": [row.document() for row in rows], **evaluation_document(evaluation)}, exit_code=DONE
        )
        return
    output.print_evaluation(evaluation, json=False, shown=shown)
    if shown.table is None:
        console = output.report_console()
        console.print()
        print_runs(console, rows)
