"""`predibot report`: the runs and scores that are stored, without asking any venue."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from predibot.cli import closeups, options, output
from predibot.cli.ending import DONE

if TYPE_CHECKING:
    from predibot.api.evaluate import Evaluated
    from predibot.reports.terminal.evaluation_screen import Shown


def report(
    *,
    part: options.PartOptions,
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
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    tables: options.Tables,
    archived: options.Archived = False,
    clusters: options.Clusters = "event",
    how: options.Output,
    verbose: options.Verbose = False,
) -> None:
    """Print each bot's place on the leaderboard, and of how many runs."""
    from predibot.api.evaluate import report as report_part
    from predibot.scoring.evaluation.evaluation import Question

    caller = output.caller(verbose=verbose)
    how.check(tables.worst, clusters)
    asked = closeups.Closeup(bot=bot, event=event, figures=figures, tearsheet=tearsheet, out=out, html=html)
    beside = {
        "--csv": how.csv,
        "--full": tables.full,
        "--table": tables.table is not None,
        "--bots": part.bots is not None,
        "--worst": tables.worst is not None,
        "--archived": archived,
        "--clusters": clusters != "event",
        "--all": how.every,
        "--as-of": part.as_of is not None,
        "--since": part.since is not None,
        "--until": part.until is not None,
        "--category": part.category is not None,
        "--mode": part.mode is not None,
        "--with-traces": with_traces,
        "--url": bool(url),
    }
    if asked.anything(beside):
        named = part.read()
        if html is not None:
            closeups.write_html(html, named, caller, ledger=ledger, with_traces=with_traces, url=url, json=how.json)
            return
        if figures is not None or tearsheet is not None:
            from predibot.reports.pictures.canvas import require_matplotlib

            require_matplotlib()
        with caller.reading(ledger) as store:
            closeups.show(asked, store, named, caller.clock, archived=archived, most=tables.worst, how=how)
        return
    shown = tables.shown(every=how.every)
    question = Question(archived=archived, clusters=options.clusters(clusters))
    question = output.question_for(question, shown, json=how.json, csv=how.csv)
    with report_part(part.read(), question, caller, ledger=ledger, worst=tables.worst) as found:
        _show(found, shown=shown, json=how.json, csv=how.csv)


def _show(found: "Evaluated", *, shown: "Shown", json: bool, csv: bool) -> None:
    from predibot.reports.terminal.terminal import print_line, print_runs
    from predibot.reports.views.decide import run_document
    from predibot.reports.views.evaluation_json import evaluation_document

    rows, lost = found.runs, found.worst
    if json:
        document = {"runs": [*map(run_document, rows)], **evaluation_document(found.evaluation)}
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
