"""`predibot report`: the runs and scores that are stored, without asking any venue."""

from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from predibot.cli import options, output
from predibot.cli.ending import DONE
from predibot.cli.options import option

if TYPE_CHECKING:
    from predibot.jobs.open_venue import Clock
    from predibot.jobs.score_files.outside import OutsideScores
    from predibot.ledger.store import Store
    from predibot.scoring.records.part import Part

_BEST_AND_WORST = 5
_COMBINABLE = {
    "--bot": ("--worst", "--archived", "--as-of"),
    "--event": ("--bots", "--all", "--as-of"),
    "--figures": ("--bots", "--archived", "--as-of", "--outside"),
    "--tearsheet": ("--worst", "--archived", "--as-of"),
}
"""Options of the report that may be combined with each closeup."""


def _name_publish(folder: str | None) -> None:
    if folder is not None:
        raise typer.BadParameter(f"pages are written by `predibot publish {quote(folder)}`")


@dataclass(frozen=True, slots=True)
class CloseupOptions:
    """Options that show something else in place of the leaderboard, one at a time."""

    bot: Annotated[str | None, option("--bot", "NAME", "tell everything of one bot")] = None
    event: Annotated[
        str | None, option("--event", "[ID]", "tell all of an event, by id or number; without: list the latest")
    ] = None
    figures: Annotated[Path | None, option("--figures", "DIR", "draw pictures into a folder, as SVG and PNG")] = None
    tearsheet: Annotated[str | None, option("--tearsheet", "BOT", "write one HTML file about a bot")] = None
    out: Annotated[Path | None, option("--out", "FILE", "where --tearsheet writes; left out: runs/out")] = None
    html: Annotated[
        str | None, typer.Option("--html", hidden=True, callback=_name_publish, help="an older name of publish")
    ] = None

    def is_given(self, beside: dict[str, bool]) -> bool:
        """Return whether one is given; BadParameter for several, or for an option beside it that changes nothing."""
        named = {"--bot": self.bot, "--event": self.event, "--figures": self.figures, "--tearsheet": self.tearsheet}
        asked = [option for option, value in named.items() if value is not None]
        if self.out is not None and self.tearsheet is None:
            raise typer.BadParameter("--out says where --tearsheet BOT writes; give both")
        if len(asked) > 1:
            raise typer.BadParameter(f"{' and '.join(asked)} are several reports; ask for one")
        for chosen in asked:
            if unfit := [other for other, given in beside.items() if given and other not in _COMBINABLE[chosen]]:
                raise typer.BadParameter(f"{' and '.join(unfit)} would change nothing of {chosen}; leave it out")
        return bool(asked)


def _show_closeup(
    asked: CloseupOptions,
    store: "Store",
    part: "Part",
    clock: "Clock",
    *,
    archived: bool,
    most: int | None,
    scores: "OutsideScores | None",
    how: options.Output,
) -> None:
    """Print a closeup; `most` is the number of best and of worst decisions of a bot, five if left out."""
    from predibot.jobs.histories.bot import bot_history
    from predibot.reports import figures

    most = _BEST_AND_WORST if most is None else most
    if asked.bot is not None:
        from predibot.reports.terminal.closeups.bot import bot_document, print_bot

        of_bot = bot_history(store, asked.bot, part, archived=archived, clock=clock, most=most)
        with figures.in_currency(of_bot.evaluation.currency):
            output.print_found(of_bot, bot_document, print_bot, json=how.json, exit_code=DONE)
    elif asked.event is not None:
        from predibot.jobs.histories.event import event_history, latest_events
        from predibot.reports.terminal.closeups.event import event_document, latest_document, print_event
        from predibot.reports.terminal.decisions import print_latest_events

        if not asked.event:
            latest = latest_events(store)
            output.print_found(latest, latest_document, print_latest_events, json=how.json, exit_code=DONE)
            return
        of_event = event_history(store, asked.event, part, clock=clock)
        with figures.in_currency(of_event.currency):
            output.print_found(
                of_event, event_document, print_event, json=how.json, exit_code=DONE, every_row=how.every
            )
    else:
        from predibot.reports.pictures.files import write_pictures
        from predibot.reports.tearsheet import write_tearsheet

        if asked.tearsheet is not None:
            of_bot = bot_history(store, asked.tearsheet, part, archived=archived, clock=clock, most=most)
            files = [write_tearsheet(of_bot, asked.out)]
        else:
            from predibot.jobs.histories.ledger import ledger_history
            from predibot.scoring.evaluation.comparison import compare

            history = ledger_history(store, part, archived=archived, clock=clock)
            outside = None if scores is None else (scores.name, scores.by_bot)
            agreements = compare([("bots", history.evaluation)], outside).agreements
            files = write_pictures(history, asked.figures or Path(), agreements)
        output.print_files(files, json=how.json, nothing="nothing to draw yet: no decision has a price or has paid")


def report(
    *,
    part: options.PartOptions,
    asked: CloseupOptions,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    tables: options.Tables,
    archived: options.Archived = False,
    clusters: options.Clusters = "event",
    how: options.Output,
    verbose: options.Verbose = False,
) -> None:
    """Print the leaderboard and the number of runs, or a closeup."""
    from predibot.ledger.url import prepare_url

    caller = output.caller(verbose=verbose)
    how.check(tables.worst, clusters)
    beside = {
        "--csv": how.csv,
        "--full": tables.full,
        "--explain": tables.explain,
        "--table": tables.table is not None,
        "--bots": part.bots is not None,
        "--worst": tables.worst is not None,
        "--archived": archived,
        "--clusters": clusters != "event",
        "--all": how.every,
        "--as-of": part.as_of is not None,
        "--since": part.since is not None,
        "--until": part.until is not None,
        "--with": bool(tables.beside),
        "--outside": tables.outside is not None,
        "--category": part.category is not None,
        "--mode": part.mode is not None,
    }
    is_closeup = asked.is_given(beside)
    if not is_closeup and not any(beside.values()) and part == options.PartOptions():
        # What shows a ledger takes longer to load than to say that there is none; other options are checked first.
        prepare_url(ledger, create=False)
    scores = output.read_outside(tables)
    if is_closeup:
        named = part.read()
        if asked.figures is not None or asked.tearsheet is not None:
            from predibot.reports.pictures.canvas import require_matplotlib

            require_matplotlib()
        with caller.reading(ledger) as store:
            _show_closeup(
                asked, store, named, caller.clock, archived=archived, most=tables.worst, scores=scores, how=how
            )
        return
    from predibot.api.evaluate import report as report_part
    from predibot.scoring.evaluation.evaluation import Question

    shown = tables.screen_options(every=how.every)
    question = Question(archived=archived, clusters=options.parse_clusters(clusters))
    question = output.question_for(question, shown, how)
    others = tables.beside or ()
    with report_part(part.read(), question, caller, ledger=ledger, others=others, worst=tables.worst) as found:
        rows = list(dict.fromkeys(row for each in found for row in each.runs or ()))
        count = f"Runs: {len(rows):,}, which --full lists with every table."
        next_step = f"{count} `predibot report --explain` says what figures mean."
        output.print_reports(found, how, replace(shown, next_steps=(next_step,)), scores)
        if shown.full and not how.csv and not how.json:
            from predibot.reports.terminal.decisions import print_runs

            output.print_lines("")
            print_runs(output.report_console(), rows)
