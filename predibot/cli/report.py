"""`predibot report`: the runs and scores that are stored, without asking any venue."""

from typing import TYPE_CHECKING

from predibot.cli import closeups, options, output
from predibot.cli.ending import DONE

if TYPE_CHECKING:
    from predibot.api.evaluate import Evaluated
    from predibot.reports.terminal.evaluation_screen import Shown


def report(
    *,
    part: options.PartOptions,
    asked: closeups.Closeup,
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
    }
    if asked.anything(beside):
        named = part.read()
        if asked.html is not None:
            closeups.write_html(asked, named, caller, ledger=ledger, json=how.json)
            return
        if asked.figures is not None or asked.tearsheet is not None:
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
