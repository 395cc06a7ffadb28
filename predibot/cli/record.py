"""`predibot record`: write an archive from a live venue."""

from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output


def record(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="the archive; made where it does not exist")],
    venue: Annotated[
        str | None,
        typer.Option("--venue", metavar="VENUE", help="a venue: {venues}; left out: that of a recipe that names none"),
    ] = None,
    as_of: options.AsOf = None,
    events: Annotated[
        int, typer.Option("--events", metavar="N", min=0, help="how many, most traded first; 0 for all")
    ] = 100,
    days: Annotated[
        float, typer.Option("--days", metavar="DAYS", min=0.0, help="of price history, for markets that are new")
    ] = 30.0,
    json: options.Json = False,
    verbose: options.Verbose = False,
    log_file: options.LogFile = None,
    log_json: options.LogJson = False,
) -> None:
    """Add a snapshot, later prices and resolutions to an archive."""
    from predibot.jobs.commands.record import record_as_asked
    from predibot.reports.figures import things
    from predibot.reports.terminal.terminal import print_line
    from predibot.reports.terminal.text import plain

    caller = output.caller(verbose=verbose, log=options.Log(log_file, log_json))
    report = record_as_asked(folder, caller, venue=venue, as_of=as_of, events=events, days=days)
    if json:
        output.print_document(
            {
                "snapshot": str(report.snapshot),
                "events": report.events,
                "markets": report.markets,
                "new_points": report.points,
                "new_resolutions": report.resolutions,
                "notes": list(report.notes),
            }
        )
        return
    console = output.report_console()
    print_line(
        console,
        f"{report.snapshot}: {things(report.events, 'event')}; {things(report.markets, 'market')} in the archive, "
        f"{things(report.points, 'new price')}, {things(report.resolutions, 'new resolution')}",
    )
    for note in report.notes:
        print_line(console, f"note: {plain(note)}")
