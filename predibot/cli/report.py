"""`predibot report`: the runs and scores that are stored, without asking any venue."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from predibot.cli import closeups, options, output
from predibot.cli.ending import DONE

if TYPE_CHECKING:
    from predibot.reports.commands.evaluate import Evaluated
    from predibot.reports.terminal.evaluation_screen import Shown


def report(
    recipe: Annotated[
        str | None, typer.Argument(metavar="RECIPE", help="only runs of this recipe; left out: all runs")
    ] = None,
    venue: options.LookBackVenue = None,
    as_of: options.AsOf = None,
    since: options.Since = None,
    until: options.Until = None,
    category: options.Category = None,
    mode: options.Mode = None,
    bots: options.Bots = None,
    bot: Annotated[str | None, typer.Option("--bot", metavar="NAME", help="tell everything of one bot")] = None,
    event: Annotated[
        str | None, typer.Option("--event", metavar="ID", help="tell everything of one event: prices, all forecasts")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", metavar="DIR", help="draw pictures into a folder, as SVG and PNG")
    ] = None,
    tearsheet: Annotated[
        str | None, typer.Option("--tearsheet", metavar="BOT", help="write one HTML file about a bot")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="where --tearsheet writes; left out: runs/out")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="DIR", help="write pages into a folder: decisions --since, or of 30 days"),
    ] = None,
    with_traces: Annotated[
        bool, typer.Option("--with-traces", help="show in --html what agents did, and what the pages they read said")
    ] = False,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="where --html will be found, for the links of its feed")
    ] = "",
    ledger: options.Ledger = None,
    full: options.Full = False,
    table: options.Table = None,
    worst: options.Worst = None,
    archived: options.Archived = False,
    clusters: options.Clusters = "event",
    every: options.AllRows = False,
    json: options.Json = False,
    csv: options.Csv = False,
    verbose: options.Verbose = False,
) -> None:
    """Print each bot's place on the leaderboard, and of how many runs."""
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.reports.commands.evaluate import Asking, report_as_asked
    from predibot.scoring.evaluation.evaluation import Question
    from predibot.scoring.records.narrowing import Narrowing

    caller = output.caller(verbose=verbose)
    output.one_format(json=json, csv=csv, worst=worst, clusters=clusters)
    bot_names = options.names(bots)
    asked = closeups.Asked(bot=bot, event=event, figures=figures, tearsheet=tearsheet, out=out, html=html)
    beside = {
        "--csv": csv,
        "--full": full,
        "--table": table is not None,
        "--bots": bots is not None,
        "--worst": worst is not None,
        "--archived": archived,
        "--clusters": clusters != "event",
        "--all": every,
        "--as-of": as_of is not None,
        "--since": since is not None,
        "--until": until is not None,
        "--category": category is not None,
        "--mode": mode is not None,
        "--with-traces": with_traces,
        "--url": bool(url),
    }
    if asked.anything(beside):
        where = closeups.Where(venue, recipe, as_of, bot_names, ledger or DEFAULT_LEDGER, archived)
        if html is not None:
            closeups.write_html(html, where, caller, since=since, with_traces=with_traces, url=url, json=json)
            return
        closeups.show(asked, where, caller, most=worst, every_row=every, json=json)
        return
    shown = options.shown(full=full, table=table, every=every)
    question = output.question_for(
        Question(archived=archived, clusters=options.clusters(clusters)), shown, json=json, csv=csv
    )
    asking = Asking(venue, recipe, bot_names, as_of, question, worst, Narrowing(since, until, category, mode))
    show = partial(_show, shown=shown, json=json, csv=csv)
    report_as_asked(asking, caller, ledger=ledger or DEFAULT_LEDGER, show=show)


def _show(found: "Evaluated", *, shown: "Shown", json: bool, csv: bool) -> None:
    from predibot.reports.terminal.terminal import print_line, print_runs
    from predibot.reports.views.evaluation_json import evaluation_document

    rows, lost = found.runs, found.worst
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
